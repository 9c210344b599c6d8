#pragma once
// Generator<T>: a coroutine that makes the values of a `for` loop. AsyncGenerator<T>: a generator that may wait.
//
//     Generator<int> below(int end) {
//         for (int i = 0; i < end; ++i)
//             co_yield i;
//     }
//     for (int i : below(10)) ...
//
//     AsyncGenerator<Page> pages(Context, Key from) {            // a child of the task with that context
//         for (; from.isValid(); from = from.next()) {
//             Page page = co_await load(co_await context(), from);
//             co_yield std::move(page);
//         }
//     }
//     AsyncGenerator<Page> all = pages(co_await context(), key);
//     while (std::optional<Page> page = co_await all.next()) ...
//
// A Generator runs only while the `for` asks for a value. Its body cannot wait, and needs no loop and no tree of tasks.
// If the body throws, begin() or ++ throws the exception. Each value is a reference that is valid until the next ++.
// The frame of the body comes from FastAllocator, unless the compiler elides it.
//
// The body of an AsyncGenerator is a fork (flow/tasks/fork.h): it runs up to its first co_yield inside the call. After
// each next(), the body continues in a turn of the loop. Actors, coroutines and fibers can await next(). It takes no
// value if it loses a race, and gives std::nullopt after the last value. If the body fails, one next() throws the
// error. Dropping the handle makes the body's wait throw actor_cancelled. Only one next() may wait at a time.

#include "flow/tasks/task.h"
#include "flow/wait/source.h"

#include <coroutine>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>

namespace flow {

template <class T>
class [[nodiscard]] Generator {
public:
    struct promise_type {
        static_assert(alignof(T) <= 16, "values of a generator are aligned to 16 bytes at most");
        T* value = nullptr;
        std::optional<T> copy;
        std::exception_ptr error;

        /// Rounds up to a multiple of the greatest alignment, because FastAllocator aligns blocks by their size.
        static constexpr std::size_t roundedUp(std::size_t bytes) {
            return memory::roundUp(bytes, memory::kMostAlignment);
        }
        FLOW_INLINE static void* operator new(std::size_t bytes) {
            (void)coro::frameAlignment(bytes); // clang: refuses a frame that needs a greater alignment
            return memory::allocate(roundedUp(bytes));
        }
        static void operator delete(void* frame, std::size_t bytes) noexcept {
            memory::release(frame, memory::sizeClassOf(roundedUp(bytes)));
        }

        Generator get_return_object() { return Generator(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        std::suspend_always yield_value(T& given) noexcept {
            value = &given;
            return {};
        }
        std::suspend_always yield_value(T&& given) noexcept {
            value = &given; // the value lives until the end of the full expression of the co_yield
            return {};
        }
        std::suspend_always yield_value(T const& given) {
            value = &copy.emplace(given);
            return {};
        }
        void return_void() const noexcept {}
        void unhandled_exception() noexcept { error = std::current_exception(); }
        template <class Anything>
        void await_transform(Anything&&) = delete; // the body of a Generator cannot wait: use an AsyncGenerator
    };

    class Iterator {
    public:
        using value_type = T;
        using difference_type = std::ptrdiff_t;

        explicit Iterator(std::coroutine_handle<promise_type> handle) : handle_(handle) { advance(); }
        T& operator*() const { return *handle_.promise().value; }
        Iterator& operator++() {
            advance();
            return *this;
        }
        void operator++(int) { advance(); }
        bool operator==(std::default_sentinel_t) const { return handle_.done(); }

    private:
        void advance() {
            handle_.resume();
            if (handle_.promise().error)
                std::rethrow_exception(std::exchange(handle_.promise().error, nullptr));
        }
        std::coroutine_handle<promise_type> handle_;
    };

    Generator(Generator&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Generator& operator=(Generator&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Generator() {
        if (handle_)
            handle_.destroy();
    }

    /// Runs the body to its first value. Must be called only once.
    Iterator begin() { return Iterator(handle_); }
    std::default_sentinel_t end() const { return {}; }

private:
    explicit Generator(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    std::coroutine_handle<promise_type> handle_;
};

namespace tasks {

/// The state that the body and the reader of an AsyncGenerator share. The second release() frees it.
template <class T>
class Slot {
public:
    struct Next {
        using Result = std::optional<T>;
        Slot* slot;

        bool isReady() const { return slot->value_ || slot->isOver_; }
        void park(WaiterNode& waiter) { slot->reader_.park(waiter, *this); }
        std::optional<T> take() const { return slot->take(); }
    };
    struct Yielded {
        using Result = Void;
        Slot* slot;

        bool isReady() const { return !slot->value_; }
        void park(WaiterNode& waiter) { slot->body_.park(waiter, *this); }
        Void take() const { return Void(); }
    };

    static Slot* make(std::pmr::memory_resource& memory) {
        return ::new (memory.allocate(sizeof(Slot), alignof(Slot))) Slot(memory);
    }
    void release() noexcept {
        if (--references_ != 0)
            return;
        std::pmr::memory_resource* memory = memory_;
        std::destroy_at(this);
        memory->deallocate(this, sizeof(Slot), alignof(Slot));
    }
    void offer(T& value) {
        value_ = &value;
        reader_.wakeInTurn();
    }
    /// Called before the body destroys the value.
    void withdraw() noexcept { value_ = nullptr; }
    void fail(std::exception_ptr error) noexcept { error_ = std::move(error); }
    void end() noexcept {
        value_ = nullptr;
        isOver_ = true;
        reader_.wakeInTurn();
        release();
    }

private:
    explicit Slot(std::pmr::memory_resource& memory) : memory_(&memory) {}
    std::optional<T> take() {
        if (value_) {
            std::optional<T> taken(std::move(*std::exchange(value_, nullptr)));
            body_.wakeInTurn();
            return taken;
        }
        if (error_)
            std::rethrow_exception(std::exchange(error_, nullptr));
        return std::nullopt;
    }

    std::pmr::memory_resource* memory_;
    int references_ = 2; // the body and the handle
    T* value_ = nullptr;
    bool isOver_ = false;
    std::exception_ptr error_;
    Source<Next> reader_;
    Source<Yielded> body_;
};

template <class T, class S>
class AsyncGeneratorPromise;

} // namespace tasks

template <class T>
class [[nodiscard]] AsyncGenerator {
public:
    using Next = typename tasks::Slot<T>::Next;

    AsyncGenerator(AsyncGenerator&& other) noexcept
        : body_(std::move(other.body_)), slot_(std::exchange(other.slot_, nullptr)) {}
    AsyncGenerator& operator=(AsyncGenerator&& other) noexcept {
        std::swap(body_, other.body_);
        std::swap(slot_, other.slot_);
        return *this;
    }
    ~AsyncGenerator() {
        if (!slot_)
            return;
        body_.cancel();
        slot_->release();
    }

    /// Returns an operation that gives the next value, or std::nullopt after the last value.
    Next next() { return {slot_}; }

private:
    template <class, class>
    friend class tasks::AsyncGeneratorPromise;
    AsyncGenerator(Fork<> body, tasks::Slot<T>* slot) : body_(std::move(body)), slot_(slot) {}

    Fork<> body_;
    tasks::Slot<T>* slot_;
};

namespace tasks {

template <class T, class S>
class AsyncGeneratorPromise : public TaskPromise<Fork<>, S, Start::Now> {
    using Base = TaskPromise<Fork<>, S, Start::Now>;
    using Yielded = typename Slot<T>::Yielded;

    struct YieldAwaiter : coro::OperationAwaiter<Yielded, coro::Awaiter> {
        void await_resume() const {
            this->op->slot->withdraw();
            coro::OperationAwaiter<Yielded, coro::Awaiter>::await_resume();
        }
    };

public:
    static constexpr bool kHasDestructors = true;

    explicit AsyncGeneratorPromise(auto&&... args) : Base(args...), yielded_{makeSlot(contextOf(args...))} {}
    ~AsyncGeneratorPromise() { yielded_.slot->end(); }

    /// Frees the block of a call that never became a coroutine, because copying a parameter or making the slot threw.
    static void operator delete(void* frame) noexcept {
        Cell* cell = Cell::of(static_cast<Waiter*>(frame));
        if (!cell->has(Cell::kHasFrame))
            freeTaskCell<Void>(cell);
    }

    AsyncGenerator<T> get_return_object() { return {Base::get_return_object(), yielded_.slot}; }
    YieldAwaiter yield_value(T& value) {
        yielded_.slot->offer(value);
        return {{this, &yielded_}};
    }
    YieldAwaiter yield_value(T&& value) { return yield_value(value); }
    void unhandled_exception() noexcept {
        if (currentError() != actor_cancelled())
            yielded_.slot->fail(std::current_exception());
    }

private:
    /// Makes the slot. If this throws, removes this generator from its parent, and leaves its memory to operator
    /// delete.
    Slot<T>* makeSlot(Context here) {
        try {
            return Slot<T>::make(here.memory());
        } catch (...) {
            Waiter* frame = this->frame();
            Node::of(frame)->sibling.unlink();
            Cell::of(frame)->flags &= static_cast<std::uint8_t>(~Cell::kHasFrame);
            throw;
        }
    }

    Yielded yielded_;
};

} // namespace tasks
} // namespace flow

template <class T, class... Args>
struct std::coroutine_traits<flow::AsyncGenerator<T>, Args...> {
    using promise_type = flow::tasks::AsyncGeneratorPromise<T, flow::tasks::TaskSignature<Args...>>;
};
