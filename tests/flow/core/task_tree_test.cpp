#include "flow/core/detail/task_tree.h"

#include "flow/inspect/detail/frames.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>
#include <vector>

using namespace flow;

namespace {

Fork<> leaf(Context, double seconds) {
    co_await delay(seconds);
}
Task<> parent(Context) {
    Context here = co_await context();
    Fork<> first = leaf(here, 1);
    Fork<> second = leaf(here, 2);
    co_await second;
    co_await first;
}

std::vector<detail::Waiter*> childrenOf(detail::Waiter* task, detail::Children which) {
    std::vector<detail::Waiter*> found;
    detail::forEachChild(task, which, [&](detail::Waiter* child) { found.push_back(child); });
    return found;
}

} // namespace

TEST_CASE("task tree: the children of a task, the one that it awaits, and the way up") {
    SimLoop loop;
    Future<Void> done = start(parent(Environment()));
    detail::Waiter* root = nullptr;
    for (inspect::Frame const& frame : inspect::Frames::ofThread())
        if (inspect::isTask(frame.waiter) && !detail::parentOfTask(frame.waiter))
            root = frame.waiter;
    REQUIRE(root);
    std::vector<detail::Waiter*> all = childrenOf(root, detail::Children::All);
    std::vector<detail::Waiter*> awaited = childrenOf(root, detail::Children::Awaited);
    REQUIRE(all.size() == 2);
    REQUIRE(awaited.size() == 1);
    CHECK((awaited[0] == all[0] || awaited[0] == all[1]));
    for (detail::Waiter* child : all) {
        CHECK(detail::parentOfTask(child) == root);
        CHECK(childrenOf(child, detail::Children::All).empty());
    }
    loop.run();
    CHECK(done.isReady());
}
