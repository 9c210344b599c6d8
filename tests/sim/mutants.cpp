#include "tests/sim/mutants.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace kv {
namespace {

constexpr const char* kNames[] = {"",
#define KV_MUTANT(name, meaning) #name,
                                  KV_MUTANTS(KV_MUTANT)
#undef KV_MUTANT
};

Mutant chosen() {
    const char* name = std::getenv("MILLRACE_MUTANT");
    if (name && std::strcmp(name, "?") == 0) {
        for (std::size_t i = 1; i < std::size(kNames); ++i)
            std::printf("%s\n", kNames[i]);
        std::exit(0);
    }
    for (std::size_t i = 0; name && i < std::size(kNames); ++i)
        if (std::strcmp(name, kNames[i]) == 0)
            return static_cast<Mutant>(i);
    if (name) {
        std::fprintf(stderr, "MILLRACE_MUTANT: there is no mutant '%s'\n", name);
        std::exit(2);
    }
    return Mutant::None;
}

const Mutant kChosen = chosen();

} // namespace

bool planted(Mutant mutant) {
    return mutant == kChosen;
}

} // namespace kv
