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
// What all of a tree shares, such as its executors, is a struct of the program, which `with()` adds:
//
//     struct Executors { WorkPool& pool; Loop& storage; };
//     Executors executors{pool, storageLoop};
//     Task<Row> read(ContextWith<Executors>, Key key) {
//         auto here = co_await context();                   // a ContextWith<Executors> again, for the children
//         co_return co_await runOn(here, here->storage, [key](Context there) { return readThere(there, key); });
//     }
//     Future<Row> row = start(read(environment.with(executors), key));
//
// It is found by its type, when the program is compiled. A task that takes a Context can be given one with more, and
// then it and its children have no more than a Context.
//
// A Context is valid until the body of its task has ended, and, in children that got it, until they end. Everything in
// a tree belongs to one thread: that of its loop.

#include "flow/memory/fast_resource.h"
#include "flow/structured/tree.h"

#include <memory_resource>
#include <type_traits>

namespace flow {

template <class Shared>
class ContextWith;

namespace structured {
template <class T>
concept IsShared = !std::is_base_of_v<std::pmr::memory_resource, T>;
} // namespace structured

/// Where a child belongs: its memory, and its parent.
class Context {
public:
    Context(std::pmr::memory_resource& memory, structured::Node* parent) : memory_(&memory), parent_(parent) {}

    std::pmr::memory_resource& memory() const { return *memory_; }
    /// Null for what is to be the root of a tree.
    structured::Node* parent() const { return parent_; }
    /// The same place, for children with memory from somewhere else.
    Context with(std::pmr::memory_resource& memory) const { return {memory, parent_}; }
    /// The same place, with what the children share. It is referred to, and must outlive the tree.
    template <structured::IsShared Shared>
    ContextWith<Shared> with(Shared& shared) const {
        return {*this, shared};
    }
    /// For containers: `std::pmr::vector<int> numbers(context.allocator())`.
    std::pmr::polymorphic_allocator<> allocator() const { return memory_; }

private:
    std::pmr::memory_resource* memory_;
    structured::Node* parent_;
};

/// With a struct of the program that the tree shares.
template <class Shared>
class ContextWith : public Context {
public:
    ContextWith(Context place, Shared& shared) : Context(place), shared_(&shared) {}

    Shared& operator*() const { return *shared_; }
    Shared* operator->() const { return shared_; }
    ContextWith with(std::pmr::memory_resource& memory) const { return {Context::with(memory), *shared_}; }
    template <structured::IsShared Other>
    ContextWith<Other> with(Other& other) const {
        return {*this, other};
    }

private:
    Shared* shared_;
};

/// The root's.
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
