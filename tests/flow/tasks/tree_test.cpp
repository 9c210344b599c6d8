#include "flow/tasks/detail/tree.h"

#include "flow/base/random.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <utility>
#include <vector>

namespace {
using namespace flow;

constexpr double kNever = std::numeric_limits<double>::infinity();

/// A program: what a node does, and what the nodes below it do. Forks start in order, at once; then the node sleeps,
/// and awaits some of its children in order; the others are left to its end. No two things happen at the same time.
struct Program {
    int id = 0;
    double sleeps = 0;
    bool fails = false;
    bool isTask = false;  // begins when its parent awaits it
    bool catches = false; // the errors of children that it awaits
    bool isAwaited = false;
    std::vector<Program> children;
};

Program generate(DeterministicRandom& random, int depth, int& ids) {
    Program program;
    program.id = ids++;
    program.sleeps = 0.01 + random.random01();
    program.fails = random.randomInt(0, 8) == 0;
    program.catches = random.randomInt(0, 2) == 0;
    program.isTask = random.randomInt(0, 4) == 0;
    program.isAwaited = program.isTask || random.randomInt(0, 3) != 0;
    int count = depth == 0 ? 0 : random.randomInt(0, 4);
    for (int i = 0; i < count; ++i)
        program.children.push_back(generate(random, depth - 1, ids));
    return program;
}

/// How a node ended, and when. A node that did not begin has no time.
struct End {
    double time = -1;
    int code = 0;
};

/// What must happen, by equations: the end of a node follows from when it begins and when it is cancelled.
struct Model {
    std::vector<End> ends;

    End run(Program const& p, double begin, double cancelledAt) {
        forget(p);
        End end{begin + p.sleeps, p.fails ? error_code_timed_out : 0};
        for (Program const& child : p.children)
            if (!child.isTask)
                run(child, begin, cancelledAt);
        if (end.time > cancelledAt)
            end.code = error_code_actor_cancelled;
        for (Program const& child : p.children) {
            if (end.time > cancelledAt)
                break;
            if (!child.isAwaited)
                continue;
            End awaited = child.isTask ? run(child, end.time, cancelledAt) : of(child);
            end.time = std::max(end.time, awaited.time);
            if (end.time >= cancelledAt) {
                end.code = error_code_actor_cancelled;
                break;
            } else if (awaited.code != 0 && !p.catches) {
                end.code = awaited.code;
                break;
            }
        }
        end.time = std::min(end.time, cancelledAt);
        double bodyEnd = end.time;
        for (Program const& child : p.children) {
            if (end.code != 0 && !child.isTask && of(child).time > bodyEnd)
                run(child, begin, bodyEnd);
            end.time = std::max(end.time, of(child).time);
        }
        return of(p) = end;
    }

private:
    End& of(Program const& p) { return ends[static_cast<std::size_t>(p.id)]; }
    void forget(Program const& p) {
        of(p) = {};
        for (Program const& child : p.children)
            forget(child);
    }
};

/// Parameters go when the children have ended: so the end of this one is the node's.
struct Recorder {
    Recorder(std::vector<End>* e, int i) : ends(e), id(i) {}
    Recorder(Recorder&& other) noexcept : ends(std::exchange(other.ends, nullptr)), id(other.id) {}
    ~Recorder() {
        if (ends && hasBegun)
            end().time = now();
    }
    End& end() const { return (*ends)[static_cast<std::size_t>(id)]; }

    std::vector<End>* ends;
    int id;
    bool hasBegun = false;
};

Task<> runTask(Context, Program const* program, Recorder recorder);

template <class Handle>
Handle runNode(Context, Program const* program, Recorder recorder);

Fork<> runFork(Context here, Program const* program, std::vector<End>* ends) {
    return runNode<Fork<>>(here, program, Recorder(ends, program->id));
}

template <class Handle>
Handle runNode(Context, Program const* program, Recorder recorder) {
    recorder.hasBegun = true;
    try {
        Context here = co_await context();
        std::vector<Fork<>> forks;
        for (Program const& child : program->children)
            if (!child.isTask)
                forks.push_back(runFork(here, &child, recorder.ends));
        co_await delay(program->sleeps);
        auto fork = forks.begin();
        for (Program const& child : program->children) {
            auto mine = child.isTask ? forks.end() : fork++;
            try {
                if (child.isTask)
                    co_await runTask(here, &child, Recorder(recorder.ends, child.id));
                else if (child.isAwaited)
                    co_await *mine;
            } catch (Error const& error) {
                if (!program->catches || error == actor_cancelled())
                    throw;
            }
        }
        if (program->fails)
            throw timed_out();
    } catch (Error const& error) {
        recorder.end().code = error.code();
        throw;
    }
}

Task<> runTask(Context here, Program const* program, Recorder recorder) {
    return runNode<Task<>>(here, program, std::move(recorder));
}

std::vector<End> execute(Program const& program, int nodes, double cancelAt) {
    SimLoop loop;
    std::vector<End> ends(static_cast<std::size_t>(nodes));
    Future<Void> running = start(runTask(Environment(), &program, Recorder(&ends, program.id)));
    if (cancelAt == kNever) {
        try {
            loop.run(running);
        } catch (Error const&) {
        }
    } else {
        loop.run(delay(cancelAt));
        running.cancel();
    }
    CHECK(running.isReady());
    CHECK(!loop.hasWork());
    return ends;
}

TEST_CASE("generated trees of tasks and forks end as a model says") {
    DroppedErrorHandler before = setDroppedErrorHandler([](const char*, Error) {});
    for (std::uint32_t seed = 0; seed < 400; ++seed) {
        CAPTURE(seed);
        DeterministicRandom random(seed);
        int nodes = 0;
        Program program = generate(random, 4, nodes);
        for (int round = 0; round < 4; ++round) {
            double cancelAt = round == 0 ? kNever : 3 * random.random01();
            CAPTURE(cancelAt);
            Model model{std::vector<End>(static_cast<std::size_t>(nodes))};
            model.run(program, 0, cancelAt);
            test::Balance balance;
            std::vector<End> ends = execute(program, nodes, cancelAt);
            int different = 0;
            for (std::size_t i = 0; i < ends.size(); ++i)
                different += std::abs(ends[i].time - model.ends[i].time) > 1e-9 || ends[i].code != model.ends[i].code;
            CHECK(different == 0);
        }
    }
    setDroppedErrorHandler(before);
}

} // namespace
