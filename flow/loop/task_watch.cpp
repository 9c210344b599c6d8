#include "flow/loop/task_watch.h"

namespace flow::detail {

TaskWatches::~TaskWatches() {
    for (auto const& mark : marks_)
        if (mark->waiter.link.isLinked())
            mark->waiter.link.unlink();
}

// A watch may add and remove watches.
template <class Call>
void TaskWatches::forEach(Call&& call) noexcept {
    for (std::size_t i = 0; i < all_.size(); ++i)
        call(all_[i]);
}

void TaskWatches::turnBegins() noexcept {
    ++turns_;
    forEach([](Entry const& each) { each.watch->turnBegins(); });
}

void TaskWatches::turnEnds() noexcept {
    --turns_;
    forEach([](Entry const& each) { each.watch->turnEnds(); });
}

void TaskWatches::begins(Waiter* task, TaskPriority priority) noexcept {
    forEach([&](Entry& each) {
        ++each.tasks;
        each.watch->begins(task, priority);
    });
}

void TaskWatches::ended() noexcept {
    forEach([](Entry& each) {
        if (each.tasks == 0) // it began before the watch was added
            return;
        --each.tasks;
        each.watch->ended();
    });
}

void TaskWatches::sleeps() noexcept {
    forEach([](Entry const& each) { each.watch->sleeps(); });
}

void TaskWatches::wakes() noexcept {
    forEach([](Entry const& each) { each.watch->wakes(); });
}

Link& TaskWatches::markOf(int level) {
    for (auto const& mark : marks_)
        if (mark->level == level)
            return mark->waiter.link;
    return marks_.emplace_back(std::make_unique<Mark>(level))->waiter.link;
}

void TaskWatches::woken(WokenBy by) noexcept {
    ready_.forEachList([&](Link& list, int level) {
        Link& mark = markOf(level);
        Link* last = list.prev;
        if (last == &mark) {
            if (list.next == &mark)
                mark.unlink();
            return;
        }
        Link* first = mark.isLinked() ? mark.next : list.next;
        for (Link* link = first; link != &list; link = link->next)
            forEach(
                [&](Entry const& each) { each.watch->woken(Waiter::of(link), static_cast<TaskPriority>(level), by); });
        if (mark.isLinked())
            mark.unlink();
        if (!list.isEmpty())
            pushBack(list, mark);
    });
}

} // namespace flow::detail
