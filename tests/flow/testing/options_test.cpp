#include "flow/testing/detail/options.h"

#include <doctest/doctest.h>

using namespace flow;

namespace {

TestOptions parse(std::vector<char const*> words) {
    words.insert(words.begin(), "./tests");
    return parseTestOptions(static_cast<int>(words.size()), words.data());
}

/// What is said against a command line; "" if nothing.
std::string complaint(std::vector<char const*> words) {
    try {
        parse(std::move(words));
    } catch (TestUsage& usage) {
        return usage.what();
    }
    return "";
}

} // namespace

TEST_CASE("test options: nothing given") {
    TestOptions options = parse({});
    CHECK(options.program == "./tests");
    CHECK_FALSE(options.list);
    CHECK_FALSE(options.help);
    CHECK_FALSE(options.realLoop);
    CHECK_FALSE(options.twice);
    CHECK_FALSE(options.seed.present());
    CHECK_FALSE(options.timeout.present());
    CHECK(options.limit == 300);
    CHECK(options.filters.empty());
    CHECK(options.rerun.empty());
}

TEST_CASE("test options: everything given, in both forms") {
    TestOptions options = parse({"--filter", "/a/", "--filter=b*", "--seed=18446744073709551615", "--real", "--param",
                                 "size=10", "--param=text=a=b", "--data-dir", "/tmp", "--timeout", "1.5", "--limit=7",
                                 "--twice", "--list", "--help"});
    CHECK(options.filters == std::vector<std::string>{"/a/", "b*"});
    CHECK(options.seed.get() == ~std::uint64_t{0});
    CHECK(options.realLoop);
    CHECK(options.parameters.getInt("size").get() == 10);
    CHECK(options.parameters.get("text").get() == "a=b");
    CHECK(options.parameters.getDataDir() == "/tmp");
    CHECK(options.timeout.get() == 1.5);
    CHECK(options.limit == 7);
    CHECK(options.twice);
    CHECK(options.list);
    CHECK(options.help);
    // What a test needs to run alike; the seed and the filter are given anew.
    CHECK(options.rerun == std::vector<std::string>{"--real", "--param", "size=10", "--param", "text=a=b", "--data-dir",
                                                    "/tmp", "--timeout", "1.5", "--limit", "7", "--twice"});
    CHECK_FALSE(parse({"--real", "--sim"}).realLoop);
}

TEST_CASE("test options: mistakes are named, with a hint") {
    CHECK(complaint({"--sed", "4"}) == "unknown option --sed\nhint: did you mean --seed?");
    CHECK(complaint({"--fliter=x"}) == "unknown option --fliter\nhint: did you mean --filter?");
    CHECK(complaint({"--colour-of-the-sky"}) == "unknown option --colour-of-the-sky\nhint: --help lists the options");
    CHECK(complaint({"/queue"}) == "unknown option /queue\nhint: to choose tests, write --filter /queue");
    CHECK(complaint({"--seed"}) == "--seed needs a value: --seed N");
    CHECK(complaint({"--seed", "x"}) == "--seed takes a number, not 'x'");
    CHECK(complaint({"--seed", "-1"}) == "--seed takes a number, not '-1'");
    CHECK(complaint({"--seed=5x"}) == "--seed takes a number, not '5x'");
    CHECK(complaint({"--timeout=nan"}) == "--timeout takes seconds, not 'nan'");
    CHECK(complaint({"--limit=0"}) == "--limit takes whole seconds, not '0'");
    CHECK(complaint({"--param", "novalue"}) == "--param takes NAME=VALUE, not 'novalue'");
    CHECK(complaint({"--param", "=1"}) == "--param takes NAME=VALUE, not '=1'");
    CHECK(complaint({"--list=yes"}) == "--list takes no value");
    CHECK(complaint({""}).substr(0, 15) == "unknown option ");
}

TEST_CASE("test options: the usage names every option") {
    for (char const* option : {"--help", "--list", "--filter TEXT", "--seed N", "--sim", "--real", "--param NAME=VALUE",
                               "--data-dir PATH", "--timeout SECONDS", "--limit SECONDS", "--twice", "Exit code"})
        CHECK(testUsage().find(option) != std::string::npos);
}

TEST_CASE("test options: filters") {
    CHECK(filterMatches("queue", "/a/queue/b"));
    CHECK_FALSE(filterMatches("quue", "/a/queue/b"));
    CHECK(filterMatches("", "anything"));
    CHECK(filterMatches("/a/*", "/a/queue/b"));
    CHECK(filterMatches("*b", "/a/queue/b"));
    CHECK(filterMatches("*/qu?ue/*", "/a/queue/b"));
    CHECK_FALSE(filterMatches("a/*", "/a/queue/b"));
    CHECK_FALSE(filterMatches("/a/queue?b?", "/a/queue/b"));
    CHECK(filterMatches("**", ""));
    CHECK_FALSE(filterMatches("?", ""));
    CHECK(anyFilterMatches({}, "x"));
    CHECK(anyFilterMatches({"y", "x"}, "x"));
    CHECK_FALSE(anyFilterMatches({"y", "z"}, "x"));
}
