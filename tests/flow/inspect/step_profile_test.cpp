#include "flow/inspect/detail/step_profile.h"

#include "flow/core/future.h"
#include "flow/coro/coroutine.h"
#include "flow/file/async_file.h"
#include "flow/loop/real_loop.h"
#include "flow/threads/run_blocking.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace flow;

namespace {

Future<Void> profiledInner(int steps) {
    for (int i = 0; i < steps; ++i)
        co_await delay(0, TaskPriority::DefaultYield);
}
Future<Void> profiledOuter() {
    co_await profiledInner(10);
}
Future<Void> allocatingActor() {
    co_await delay(0);
    for (int i = 0; i < 50; ++i)
        (void)Promise<int>().getFuture();
}
Future<Void> answeredActor() {
    co_await runBlocking([] {});
    (void)co_await files().exists("/");
}
Future<Void> askingActor() {
    co_await answeredActor();
}

std::string withoutScopes(std::string text) {
    for (std::string_view scope : {"(anonymous namespace)::"})
        for (std::size_t at; (at = text.find(scope)) != text.npos;)
            text.erase(at, scope.size());
    return text;
}

} // namespace

TEST_CASE("step profile: time by actor with those that await it, and delays by priority") {
    RealLoop loop;
    StepProfile profile(loop);
    loop.run(profiledOuter());
    std::string json = withoutScopes(profile.json());
    CHECK_MESSAGE(json.find("\"frames\":[\"profiledOuter\",\"profiledInner\"],\"steps\":10,") != json.npos, json);
    CHECK_MESSAGE(json.find("\"steps\":10,\"seconds\":") != json.npos, json);
    CHECK(json.find("{\"priority\":7000,\"steps\":10,") != json.npos);
    CHECK(json.find("\"countsAllocations\":false") != json.npos);
}

TEST_CASE("step profile: allocations count for the actor that runs") {
    RealLoop loop;
    std::string json;
    {
        StepProfile profile(loop, true);
        loop.run(allocatingActor());
        json = withoutScopes(profile.json());
    }
    std::size_t at = json.find("allocatingActor\"],\"steps\":1,");
    REQUIRE_MESSAGE(at != json.npos, json);
    std::size_t number = json.find("\"allocations\":", at) + 14;
    CHECK(std::atoi(json.c_str() + number) >= 50);
}

TEST_CASE("step profile: a step that brings an answer counts for the actor that gets it") {
    RealLoop loop;
    StepProfile profile(loop);
    loop.run(askingActor());
    std::string json = withoutScopes(profile.json());
    CHECK_MESSAGE(json.find("\"frames\":[\"askingActor\",\"answeredActor\"],\"steps\":2,") != json.npos, json);
    CHECK_MESSAGE(json.find("prepare") == json.npos, json); // the code that brings answers
}

TEST_CASE("step profile: a step that runs the loop counts without what it runs") {
    RealLoop loop;
    StepProfile profile(loop);
    loop.post([&] { loop.run(profiledOuter()); });
    loop.run();
    CHECK(withoutScopes(profile.json()).find("\"profiledInner\"],\"steps\":10,") != std::string::npos);
}
