#include "flow/loop/turn.h"

#include "flow/sim/sim_loop.h"

#include <doctest/doctest.h>

#include <memory>

using namespace flow;

namespace {

struct Counting : Turn {
    int runs = 0;
    Counting() : Turn([](Turn& self) { ++static_cast<Counting&>(self).runs; }) {}
};

struct Ending : Turn {
    bool& ended;
    explicit Ending(bool& flag) : Turn([](Turn& self) { delete &static_cast<Ending&>(self); }), ended(flag) {}
    ~Ending() { ended = true; }
};

} // namespace

TEST_CASE("turn: runs once for each request that was made while it was not queued") {
    SimLoop loop;
    Counting turn;
    turn.ask(TaskPriority::Default);
    turn.ask(TaskPriority::High);
    CHECK(turn.isAsked());
    loop.run();
    CHECK(turn.runs == 1);
    CHECK_FALSE(turn.isAsked());
    turn.ask(TaskPriority::Default);
    loop.run();
    CHECK(turn.runs == 2);
}

TEST_CASE("turn: at a time, and taken back") {
    SimLoop loop;
    Counting turn;
    turn.askAt(3, TaskPriority::Default);
    loop.run();
    CHECK(turn.runs == 1);
    CHECK(loop.now() == 3);
    turn.askAt(5, TaskPriority::Default);
    turn.takeBack();
    turn.takeBack();
    CHECK_FALSE(turn.isAsked());
    {
        Counting dropped;
        dropped.ask(TaskPriority::Default);
    }
    loop.run();
    CHECK(turn.runs == 1);
    CHECK(loop.now() == 3);
}

TEST_CASE("turn: may destroy itself") {
    SimLoop loop;
    bool ended = false;
    auto* turn = new Ending(ended);
    turn->ask(TaskPriority::Default);
    loop.run();
    CHECK(ended);
}
