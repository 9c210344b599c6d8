#pragma once
// Environment and Context: where a tree of tasks takes its memory, and where in the tree a new one belongs.
//
//     std::pmr::monotonic_buffer_resource memory(buffer, sizeof buffer);
//     Environment environment(memory);
//     int total = loop.run(start(sum(environment, 7)));
//
//     Task<int> sum(Context, int n) {                       // flow/structured/task.h
//         Fork<int> half = part(co_await context(), n / 2); // flow/structured/fork.h: a child of this task
//         int other = co_await part(co_await context(), n - n / 2);
//         co_return other + co_await half;
//     }
//
// The first parameter of a task or a fork is its Context. An Environment is one without a parent: what is made with it
// is the root of a tree. `co_await context()` gives that of the running task, for its children. Both are
// two words, which are copied; nothing is looked up. Frames and results come from the memory resource, and go back to
// it one by one; it must outlive them. If it throws, the call of the function throws, and nothing has been started.
//
// A Context is valid until the body of its task has ended, and, in children that got it, until they end. Everything in
// a tree belongs to one thread: that of its loop.

#include "flow/memory/fast_resource.h"
#include "flow/structured/tree.h"

#include <memory_resource>

namespace flow {

/// Where a child belongs: its memory, and its parent.
class Context {
public:
    Context(std::pmr::memory_resource& memory, structured::Node* parent) : memory_(&memory), parent_(parent) {}

    std::pmr::memory_resource& memory() const { return *memory_; }
    /// Null for what is to be the root of a tree.
    structured::Node* parent() const { return parent_; }
    /// The same place, for children with memory from somewhere else.
    Context with(std::pmr::memory_resource& memory) const { return {memory, parent_}; }
    /// For containers: `std::pmr::vector<int> numbers(context.allocator())`.
    std::pmr::polymorphic_allocator<> allocator() const { return memory_; }

private:
    std::pmr::memory_resource* memory_;
    structured::Node* parent_;
};

/// The root's.
class Environment {
public:
    Environment() : Environment(fastMemory()) {}
    explicit Environment(std::pmr::memory_resource& memory) : memory_(&memory) {}

    std::pmr::memory_resource& memory() const { return *memory_; }
    operator Context() const { return {*memory_, nullptr}; }

private:
    std::pmr::memory_resource* memory_;
};

namespace structured {
struct GetContext {};
struct JoinForks {};
struct CancelForks {};
} // namespace structured

/// `co_await context()` in a task or fork: its own. Does not suspend.
[[nodiscard]] inline structured::GetContext context() {
    return {};
}
/// `co_await destroyForks()` in a task or fork: waits until all its children have ended. Their frames are gone then;
/// results remain in the handles that are left. Does not suspend if there is none. After a cancel it throws
/// actor_cancelled, when they have ended.
[[nodiscard]] inline structured::JoinForks destroyForks() {
    return {};
}
/// `co_await cancelForks()`: cancels the children that there are now, and does not suspend. They have ended when it
/// returns, or are about to.
[[nodiscard]] inline structured::CancelForks cancelForks() {
    return {};
}

} // namespace flow
