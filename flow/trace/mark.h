#pragma once
// trace::mark: puts a text into the trace that this thread records.
//
//     trace::mark("cache is full");         // a literal: only its address is kept
//
// Without a recorder, mark() costs a load and a branch.

namespace flow::trace {

class MarkTarget {
public:
    virtual void mark(char const* text) noexcept = 0;

    MarkTarget* next = nullptr;

protected:
    ~MarkTarget() = default;
};

/// The newest target of this thread; null while nothing is recorded.
inline constinit thread_local MarkTarget* markTargets = nullptr;

void addMarkTarget(MarkTarget& target) noexcept;
/// Removes a target. Targets may be removed in any order.
void removeMarkTarget(MarkTarget& target) noexcept;

inline void mark(char const* text) noexcept {
    for (MarkTarget* each = markTargets; each; each = each->next) [[unlikely]]
        each->mark(text);
}

} // namespace flow::trace
