#include "flow/inspect/detail/signal_sampler.h"

#include "flow/base/error.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <unistd.h>

using namespace flow;

TEST_CASE("signal sampler: writes stacks while the program uses the processor, and where its code lies") {
    std::string path = "/tmp/millrace_sampler_test." + std::to_string(::getpid());
    auto firstWord = [&] {
        std::uint64_t word = 0;
        std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&word), sizeof word);
        return word;
    };
    {
        SignalSampler sampler(path);
        CHECK_THROWS_AS(SignalSampler(path + "2"), Error);
        std::clock_t started = std::clock(); // of processor time
        while (firstWord() == 0 && std::clock() - started < 60 * CLOCKS_PER_SEC) {
        }
    }
    CHECK(firstWord() >= 1);
    CHECK(firstWord() <= 64);
    std::ifstream maps(path + ".maps");
    std::string text((std::istreambuf_iterator<char>(maps)), {});
    CHECK(text.find(" r-xp ") != text.npos);
    std::remove(path.c_str());
    std::remove((path + ".maps").c_str());
    std::string said;
    try {
        SignalSampler sampler("/nowhere/at/all");
    } catch (Error const& error) {
        said = error.what();
    }
    CHECK(said == "write \"/nowhere/at/all\": No such file or directory");
}
