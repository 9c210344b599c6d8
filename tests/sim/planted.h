#ifndef MILLRACE_PLANTED // no `#pragma once`: copies of this file may meet
#define MILLRACE_PLANTED
// Faults that are planted in copies of sources, to see that tests find them. They are in tools/mutantslib and in
// tests/sim/plant.py.
//
//     if (!planted::isOn("ForgottenSync"))
//         co_await file->sync();
//
// MILLRACE_MUTANT in the environment names the one that is on for the whole run of a program.

#include <cstdint>
#include <cstdlib>

namespace planted {

constexpr std::uint64_t numberOf(char const* name) {
    std::uint64_t number = 0xCBF29CE484222325u;
    for (; *name; ++name)
        number = (number ^ static_cast<unsigned char>(*name)) * 0x100000001B3u;
    return number;
}

struct Name {
    consteval Name(char const* name) : number(numberOf(name)) {}
    std::uint64_t number;
};

struct Chosen {
    Chosen() noexcept {
        if (char const* name = std::getenv("MILLRACE_MUTANT"))
            number = numberOf(name);
    }
    std::uint64_t number = 0;
};
/// Made before all objects that have no priority: their constructors may run planted code.
[[gnu::init_priority(101)]] inline Chosen const chosen;

/// Whether it is the one that is on. None is when the program is compiled.
constexpr bool isOn(Name mutant) {
    return !__builtin_is_constant_evaluated() && mutant.number == chosen.number;
}

} // namespace planted

#endif
