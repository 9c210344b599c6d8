#pragma once
// ReadyOrder<T>: stores data about each ready waiter until it runs, such as the time at which it became ready.
//
//     order.push(waiter, priority, now);                       // in woken()
//     std::optional<double> since = order.take(step, priority);   // in begins()
//
// Waiters of equal priority run in the order of their wake-ups. So take() drops all older entries (cancelled waiters).

#include "flow/base/inline.h"
#include "flow/core/in_place.h"
#include "flow/loop/priority.h"

#include <optional>
#include <vector>

namespace flow::trace {

template <class T>
class ReadyOrder {
public:
    /// Keeps at most `most` entries of each priority. push() drops further entries.
    explicit ReadyOrder(std::size_t most) : most_(most) {}

    /// Stores `what` for a waiter. Returns false if there was no room. Throws std::bad_alloc.
    FLOW_INLINE bool push(WaiterNode* waiter, TaskPriority priority, T what) {
        Level& level = levelOf(priority);
        if (level.woken.size() - level.first >= most_)
            return false;
        level.woken.push_back({waiter, what});
        return true;
    }
    FLOW_INLINE std::optional<T> take(WaiterNode* step, TaskPriority priority) {
        Level& level = levelOf(priority);
        std::optional<T> found;
        while (level.first < level.woken.size() && !found) {
            Woken const& each = level.woken[level.first++];
            if (each.waiter == step)
                found = each.what;
        }
        if (level.first == level.woken.size()) {
            level.woken.clear();
            level.first = 0;
        } else if (level.first >= most_) {
            level.woken.erase(level.woken.begin(), level.woken.begin() + static_cast<std::ptrdiff_t>(level.first));
            level.first = 0;
        }
        return found;
    }
    void clear() { levels_.clear(); }

private:
    struct Woken {
        WaiterNode* waiter;
        T what;
    };
    struct Level {
        TaskPriority priority;
        std::size_t first = 0;
        std::vector<Woken> woken = {};
    };

    FLOW_INLINE Level& levelOf(TaskPriority priority) {
        for (Level& each : levels_) // there are few levels
            if (each.priority == priority)
                return each;
        return levels_.emplace_back(Level{priority});
    }

    std::size_t most_;
    std::vector<Level> levels_;
};

} // namespace flow::trace
