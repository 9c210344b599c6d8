#include "flow/loop/step_watch.h"

namespace flow::detail {

StepWatches::~StepWatches() {
    for (auto const& mark : marks_)
        if (mark->waiter.link.isLinked())
            mark->waiter.link.unlink();
}

void StepWatches::answers(Waiter* waiter) noexcept {
    forEach([&](Entry const& each) {
        if (each.steps != 0)
            each.watch->answers(waiter);
    });
}

void StepWatches::sleeps() noexcept {
    forEach([](Entry const& each) { each.watch->sleeps(); });
}

void StepWatches::wakes() noexcept {
    forEach([](Entry const& each) { each.watch->wakes(); });
}

Link& StepWatches::findMark(int level) {
    for (auto const& mark : marks_)
        if (mark->level == level) {
            last_ = mark.get();
            return last_->waiter.link;
        }
    last_ = marks_.emplace_back(std::make_unique<Mark>(level)).get();
    return last_->waiter.link;
}

void StepWatches::wokenOfSeveral(WokenBy by) noexcept {
    ready_.forEachList([&](Link& list, int level) { wokenOf(list, level, by); });
}

} // namespace flow::detail
