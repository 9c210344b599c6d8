// Generated networks of tasks, forks, channels and generators. Each channel has one sender and one receiver, so that
// the result does not depend on the order of execution: the model computes it with lists.
#include "flow/base/random.h"
#include "flow/sim/sim_loop.h"
#include "flow/sim/world.h"
#include "flow/sync/channel.h"
#include "flow/tasks/generator.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {
using namespace flow;

using Values = std::vector<int>;

/// Reads from up to two channels and writes to one: what it makes of a value, and what it joins them by.
struct Stage {
    enum class Kind { Source, Generator, Add, Drop, Twice, Alternate };

    Kind kind = Kind::Source;
    std::size_t first = 0; // the stages that it reads from; each is read by one other
    std::size_t second = 0;
    int count = 0; // of a source; to add; which values to drop
    std::size_t capacity = 0;
    double sleeps = 0;   // after each value
    bool isTask = false; // awaited by a fork of its own, instead of being one
};
using Network = std::vector<Stage>; // the last is the sink's

Network generateNetwork(DeterministicRandom& random) {
    Network network;
    std::vector<std::size_t> open; // that nobody reads yet
    int more = random.randomInt(2, 12);
    while (more > 0 || open.size() > 1) {
        Stage stage;
        int kind = random.randomInt(0, more > 0 ? 6 : 1);
        stage.count = random.randomInt(1, 20);
        stage.capacity = static_cast<std::size_t>(random.randomInt(0, 4));
        stage.sleeps = random.randomInt(0, 3) == 0 ? 0 : random.random01();
        stage.isTask = random.coinflip();
        auto take = [&] {
            std::size_t i = static_cast<std::size_t>(random.randomInt(0, static_cast<int>(open.size())));
            std::size_t taken = open[i];
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
            return taken;
        };
        if (open.size() > 1 && (kind == 0 || kind == 5)) {
            stage.kind = Stage::Kind::Alternate;
            stage.first = take();
            stage.second = take();
        } else if (!open.empty() && kind >= 2) {
            stage.kind = kind == 2 ? Stage::Kind::Add : kind == 3 ? Stage::Kind::Drop : Stage::Kind::Twice;
            stage.first = take();
        } else {
            stage.kind = random.coinflip() ? Stage::Kind::Source : Stage::Kind::Generator;
        }
        open.push_back(network.size());
        network.push_back(stage);
        --more;
    }
    return network;
}

/// What a stage makes of the values that it reads.
Values modelOf(Network const& network, std::size_t at) {
    Stage const& stage = network[at];
    Values made;
    if (stage.kind == Stage::Kind::Source || stage.kind == Stage::Kind::Generator) {
        for (int i = 0; i < stage.count; ++i)
            made.push_back(static_cast<int>(100 * at) + i);
        return made;
    }
    Values read = modelOf(network, stage.first);
    if (stage.kind == Stage::Kind::Alternate) {
        Values other = modelOf(network, stage.second);
        for (std::size_t i = 0; i < std::max(read.size(), other.size()); ++i) {
            if (i < read.size())
                made.push_back(read[i]);
            if (i < other.size())
                made.push_back(other[i]);
        }
        return made;
    }
    for (std::size_t i = 0; i < read.size(); ++i) {
        if (stage.kind == Stage::Kind::Drop && (static_cast<int>(i) + 1) % (stage.count + 1) == 0)
            continue;
        made.push_back(read[i] + (stage.kind == Stage::Kind::Add ? stage.count : 0));
        if (stage.kind == Stage::Kind::Twice)
            made.push_back(read[i]);
    }
    return made;
}

using Channels = std::vector<std::unique_ptr<Channel<int>>>;

/// The next value, if the channel is not at its end.
Task<std::optional<int>> nextOf(Context, Channel<int>* channel) {
    try {
        int value = co_await channel->receive();
        co_return std::optional<int>(value);
    } catch (Error const& error) {
        if (error != end_of_stream())
            throw;
    }
    co_return std::nullopt;
}

AsyncGenerator<int> numbersOf(Context, Stage const* stage, std::size_t at) {
    for (int i = 0; i < stage->count; ++i) {
        co_await delay(stage->sleeps);
        co_yield static_cast<int>(100 * at) + i;
    }
}

Task<> runSource(Context, Stage const* stage, std::size_t at, Channel<int>* to) {
    if (stage->kind == Stage::Kind::Generator) {
        AsyncGenerator<int> all = numbersOf(co_await context(), stage, at);
        for (;;) {
            std::optional<int> value = co_await all.next();
            if (!value)
                break;
            co_await to->send(*value);
        }
        co_return;
    }
    for (int i = 0; i < stage->count; ++i) {
        int value = static_cast<int>(100 * at) + i;
        co_await to->send(value);
        co_await delay(stage->sleeps);
    }
}

Task<> runAlternate(Context, Channel<int>* first, Channel<int>* second, Channel<int>* to) {
    Context here = co_await context();
    Channel<int>* from[2] = {first, second};
    bool ended[2] = {false, false};
    for (int turn = 0; !ended[0] || !ended[1]; turn = 1 - turn) {
        if (ended[turn])
            continue;
        std::optional<int> value = co_await nextOf(here, from[turn]);
        ended[turn] = !value;
        if (value)
            co_await to->send(*value);
    }
}

Task<> runMap(Context, Stage const* stage, Channel<int>* from, Channel<int>* to) {
    Context here = co_await context();
    for (int i = 0;; ++i) {
        std::optional<int> value = co_await nextOf(here, from);
        if (!value)
            co_return;
        if (stage->kind == Stage::Kind::Drop && (i + 1) % (stage->count + 1) == 0)
            continue;
        int made = *value + (stage->kind == Stage::Kind::Add ? stage->count : 0);
        co_await to->send(made);
        if (stage->kind == Stage::Kind::Twice)
            co_await to->send(*value);
        co_await delay(stage->sleeps);
    }
}

Fork<> runStage(Context, Network const* network, std::size_t at, Channels const* channels) {
    Context here = co_await context();
    Stage const* stage = &(*network)[at];
    Channel<int>* to = (*channels)[at].get();
    Channel<int>* first = (*channels)[stage->first].get();
    Channel<int>* second = (*channels)[stage->second].get();
    if (stage->kind == Stage::Kind::Source || stage->kind == Stage::Kind::Generator)
        co_await runSource(here, stage, at, to);
    else if (stage->kind == Stage::Kind::Alternate)
        co_await runAlternate(here, first, second, to);
    else
        co_await runMap(here, stage, first, to);
    to->close();
}

Task<> runNetwork(Context, Network const* network, Values* got) {
    Context here = co_await context();
    Channels channels;
    for (Stage const& stage : *network)
        channels.push_back(std::make_unique<Channel<int>>(stage.capacity, here.memory()));
    for (std::size_t at = 0; at < network->size(); ++at)
        (void)runStage(here, network, at, &channels);
    for (;;) {
        std::optional<int> value = co_await nextOf(here, channels.back().get());
        if (!value)
            break;
        got->push_back(*value);
    }
    co_await destroyForks(); // while the channels exist: children that are left use them
}

TEST_CASE("generated networks of channels and generators give what a model says") {
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        DeterministicRandom random(seed);
        Network network = generateNetwork(random);
        Values expected = modelOf(network, network.size() - 1);
        SimLoop loop;
        test::Balance balance;
        Values got;
        loop.run(start(runNetwork(Environment(), &network, &got)));
        CHECK(got == expected);
        CHECK(!loop.hasWork());
    }
}

TEST_CASE("of a network that is cancelled, what has come out is what a model says comes first") {
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        DeterministicRandom random(seed);
        Network network = generateNetwork(random);
        Values expected = modelOf(network, network.size() - 1);
        SimLoop loop;
        test::Balance balance;
        Values got;
        Future<Void> running = start(runNetwork(Environment(), &network, &got));
        loop.run(delay(10 * random.random01()));
        running.cancel();
        CHECK(running.isReady());
        REQUIRE(got.size() <= expected.size());
        CHECK(std::equal(got.begin(), got.end(), expected.begin()));
        CHECK(!loop.hasWork());
    }
}

/// A process that runs networks: the order of all that happens, as a number.
std::uint64_t digestOf(std::uint64_t seed) {
    World world(seed);
    for (int i = 0; i < 3; ++i)
        world.start({.name = "p" + std::to_string(i), .main = []() -> Future<Void> {
                         for (;;) {
                             DeterministicRandom random(
                                 static_cast<std::uint32_t>(deterministicRandom()->randomInt(0, 1000)));
                             Network network = generateNetwork(random);
                             Values got;
                             co_await start(runNetwork(Environment(), &network, &got));
                             FLOW_ASSERT(got == modelOf(network, network.size() - 1), "a network went wrong");
                         }
                     }});
    world.run(delay(50));
    CHECK(world.events() > 500);
    return world.digest();
}

TEST_CASE("two runs of a simulated program of tasks have one digest, and other seeds others") {
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
        CHECK(digestOf(seed) == digestOf(seed));
    CHECK(digestOf(1) != digestOf(2));
}

} // namespace
