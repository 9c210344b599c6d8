#pragma once
// Environment and Context: the memory of a tree of tasks, and the place of a new task in the tree.
//
//     std::pmr::monotonic_buffer_resource memory(buffer, sizeof buffer);
//     Environment environment(memory);
//     int total = loop.run(start(sum(environment, 7)));
//
//     Task<int> sum(Context, int n) {                       // flow/tasks/task.h
//         Fork<int> half = part(co_await context(), n / 2); // flow/tasks/fork.h: a child of this task
//         int other = co_await part(co_await context(), n - n / 2);
//         co_return other + co_await half;
//     }
//
// The first parameter of a task or a fork is its Context. An Environment is a Context without a parent: a task that is
// made with it is the root of a tree. `co_await context()` gives the Context of the running task, for its children.
// A Context is two words, which are copied; nothing is looked up. Frames and results come from the memory resource, and
// go back to it one by one; the resource must outlive them. If the resource throws, the call of the function throws,
// and nothing has been started.
//
// Data that all of a tree shares, such as its executors, is a struct of the program, which `with()` adds:
//
//     struct Executors { WorkPool& pool; Loop& storage; };
//     Executors executors{pool, storageLoop};
//     Task<Row> read(ContextWith<Executors>, Key key) {
//         auto here = co_await context();                   // a ContextWith<Executors> again, for the children
//         co_return co_await runOn(here, here->storage, [key](Context there) { return readThere(there, key); });
//     }
//     Future<Row> row = start(read(environment.with(executors), key));
//
// The compiler finds the struct by its type. A task that takes a Context can be given a ContextWith, and then the task
// and its children have only a Context.
//
// A Context is valid until the body of its task has ended. In children that got it, it is valid until they end. All
// nodes of a tree belong to one thread: the thread of its loop.

#include "flow/memory/fast_resource.h"
#include "flow/tasks/detail/tree.h"

#include <memory_resource>
#include <type_traits>

namespace flow {

template <class Shared>
class ContextWith;

namespace tasks {
template <class T>
concept IsShared = !std::is_base_of_v<std::pmr::memory_resource, T>;
} // namespace tasks

/// The place of a child: its memory, and its parent.
class Context {
public:
    Context(std::pmr::memory_resource& memory, tasks::Node* parent) : memory_(&memory), parent_(parent) {}

    std::pmr::memory_resource& memory() const { return *memory_; }
    /// Returns the parent of the new node; null for the root of a tree.
    tasks::Node* parent() const { return parent_; }
    /// Returns a Context with the same parent, for children with memory from another resource.
    Context with(std::pmr::memory_resource& memory) const { return {memory, parent_}; }
    /// Returns a Context at the same place, with a struct that the children share. The Context refers to the struct,
    /// which must outlive the tree.
    template <tasks::IsShared Shared>
    ContextWith<Shared> with(Shared& shared) const {
        return {*this, shared};
    }
    /// Returns an allocator for containers: `std::pmr::vector<int> numbers(context.allocator())`.
    std::pmr::polymorphic_allocator<> allocator() const { return memory_; }

private:
    std::pmr::memory_resource* memory_;
    tasks::Node* parent_;
};

/// A Context with a struct of the program that the tree shares.
template <class Shared>
class ContextWith : public Context {
public:
    ContextWith(Context place, Shared& shared) : Context(place), shared_(&shared) {}

    Shared& operator*() const { return *shared_; }
    Shared* operator->() const { return shared_; }
    ContextWith with(std::pmr::memory_resource& memory) const { return {Context::with(memory), *shared_}; }
    template <tasks::IsShared Other>
    ContextWith<Other> with(Other& other) const {
        return {*this, other};
    }

private:
    Shared* shared_;
};

/// The memory of a new tree. It converts to the Context of the root.
class Environment {
public:
    Environment() : Environment(fastMemory()) {}
    explicit Environment(std::pmr::memory_resource& memory) : memory_(&memory) {}

    std::pmr::memory_resource& memory() const { return *memory_; }
    operator Context() const { return {*memory_, nullptr}; }
    template <class Shared>
    ContextWith<Shared> with(Shared& shared) const {
        return {*this, shared};
    }

private:
    std::pmr::memory_resource* memory_;
};

namespace tasks {
struct GetContext {};
struct JoinForks {};
struct CancelForks {};
} // namespace tasks

/// Gives a task or fork its own Context: `co_await context()`. Does not suspend.
[[nodiscard]] inline tasks::GetContext context() {
    return {};
}
/// Waits until all children of the task or fork have ended: `co_await destroyForks()`. The frames of the children are
/// destroyed then; results remain in the handles that are left. Does not suspend if there is no child. After a cancel
/// it throws actor_cancelled, when the children have ended.
[[nodiscard]] inline tasks::JoinForks destroyForks() {
    return {};
}
/// Cancels the present children: `co_await cancelForks()`. Does not suspend. When it returns, the children have ended,
/// or are about to end.
[[nodiscard]] inline tasks::CancelForks cancelForks() {
    return {};
}

} // namespace flow
