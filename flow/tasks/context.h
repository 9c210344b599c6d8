#pragma once
// Environment and Context: the memory of a tree of tasks, and the place of a new task in it.
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
// The first parameter of a task or a fork is its Context. An Environment is a Context without a parent: a task made
// with it is the root of a tree. `co_await context()` gives the Context for children of the running task. A Context is
// two pointers, passed by copy. The frame and the result of a task are one block of the memory resource, which is freed
// when the task has ended and no handle or future is left. The resource must outlive all blocks. If the resource
// throws, the call of the task's function throws, and nothing has been started.
//
// with() adds a struct of the program that all tasks of a tree share, for example executors:
//
//     struct Executors { WorkPool& pool; Loop& storage; };
//     Executors executors{pool, storageLoop};
//     Task<Row> read(ContextWith<Executors>, Key key) {
//         auto here = co_await context();                   // a ContextWith<Executors> again, for the children
//         co_return co_await runOn(here, here->storage, [key](Context there) { return readThere(there, key); });
//     }
//     Future<Row> row = start(read(environment.with(executors), key));
//
// The struct is found by its type, at compile time. If a task with a parameter Context is called with a ContextWith,
// `co_await context()` in this task gives a Context without the struct.
//
// A Context may be used until the body of its task has ended, and by a child that got it until the child ends. All
// nodes of a tree belong to one thread, the thread of their loop.

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

/// The memory resource and the parent of a new child.
class Context {
public:
    Context(std::pmr::memory_resource& memory, tasks::Node* parent) : memory_(&memory), parent_(parent) {}

    std::pmr::memory_resource& memory() const { return *memory_; }
    tasks::Node* parent() const { return parent_; }
    /// Returns a Context with the same parent, for children with memory from another resource.
    Context with(std::pmr::memory_resource& memory) const { return {memory, parent_}; }
    /// Returns a Context at the same place, with a struct that the children share. The struct must outlive the tree.
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

/// The memory resource of a new tree. Converts to the Context of the tree's root.
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

/// `co_await context()` gives the Context for children of the running task or fork. Does not suspend.
[[nodiscard]] inline tasks::GetContext context() {
    return {};
}
/// `co_await destroyForks()` waits until all children of the running task or fork have ended. The results remain in the
/// handles. If there are none, does not suspend. After the wait, throws actor_cancelled if the task is cancelled.
[[nodiscard]] inline tasks::JoinForks destroyForks() {
    return {};
}
/// `co_await cancelForks()` cancels the present children of the running task or fork. Does not wait for their end.
[[nodiscard]] inline tasks::CancelForks cancelForks() {
    return {};
}

} // namespace flow
