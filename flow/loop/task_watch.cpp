#include "flow/loop/task_watch.h"

namespace flow::detail {

TaskWatches::~TaskWatches() {
    for (auto const& mark : marks_)
        if (mark->waiter.link.isLinked())
            mark->waiter.link.unlink();
}

void TaskWatches::sleeps() noexcept {
    forEach([](Entry const& each) { each.watch->sleeps(); });
}

void TaskWatches::wakes() noexcept {
    forEach([](Entry const& each) { each.watch->wakes(); });
}

Link& TaskWatches::findMark(int level) {
    for (auto const& mark : marks_)
        if (mark->level == level) {
            last_ = mark.get();
            return last_->waiter.link;
        }
    last_ = marks_.emplace_back(std::make_unique<Mark>(level)).get();
    return last_->waiter.link;
}

void TaskWatches::wokenOfSeveral(WokenBy by) noexcept {
    ready_.forEachList([&](Link& list, int level) { wokenOf(list, level, by); });
}

} // namespace flow::detail
