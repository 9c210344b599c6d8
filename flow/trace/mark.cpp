#include "flow/trace/mark.h"

namespace flow::trace {

void addMarkTarget(MarkTarget& target) noexcept {
    target.next = markTargets;
    markTargets = &target;
}

void removeMarkTarget(MarkTarget& target) noexcept {
    for (MarkTarget** place = &markTargets; *place; place = &(*place)->next)
        if (*place == &target) {
            *place = target.next;
            return;
        }
}

} // namespace flow::trace
