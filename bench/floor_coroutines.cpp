// The works with a C++20 coroutine for each actor, and nothing else: see floor.h.

#include "bench/floor.h"

#include <array>
#include <bit>
#include <coroutine>
#include <exception>
#include <new>
#include <vector>

namespace {

using namespace bench::floor;
using bench::Run;

/// Frames of all sizes up to 512 bytes; the size of each is a constant where it is made.
struct FrameMemory {
    static void* operator new(std::size_t bytes) {
        std::size_t index = (bytes + 15) / 16;
        if (index >= free.size())
            throw std::bad_alloc();
        if (Block* block = free[index]) {
            free[index] = block->next;
            return block;
        }
        return ::operator new(index * 16);
    }
    static void operator delete(void* memory, std::size_t bytes) {
        std::size_t index = (bytes + 15) / 16;
        free[index] = ::new (memory) Block{free[index]};
    }

private:
    struct Block {
        Block* next;
    };
    static inline constinit thread_local std::array<Block*, 33> free{};
};

/// Runs until its first wait, and is destroyed when it ends. Queues hold its promise.
struct Detached {
    struct promise_type : Node, FrameMemory {
        promise_type() { run = resume; }
        Detached get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
        static void resume(Node* node) {
            std::coroutine_handle<promise_type>::from_promise(*static_cast<promise_type*>(node)).resume();
        }
    };
};

/// Puts the coroutine that awaits it into a queue.
struct InQueue {
    Queue& queue;
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<Detached::promise_type> self) { queue.push(&self.promise()); }
    void await_resume() {}
};
struct InPriorityQueue {
    PriorityQueue& queue;
    unsigned rank;
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<Detached::promise_type> self) { queue.push(&self.promise(), rank); }
    void await_resume() {}
};

Detached driveDelay(Run* run, Queue& queue) {
    while (run->next())
        co_await InQueue{queue};
}

void performCoroutineDelay(Run* run) {
    Queue queue;
    driveDelay(run, queue);
    queue.runAll();
}

Detached increment(PriorityQueue& queue, unsigned rank, std::uint32_t* sum) {
    co_await InPriorityQueue{queue, rank};
    ++*sum;
}

void performCoroutineNet2(Run* run) {
    PriorityQueue queue;
    while (run->next()) {
        std::uint32_t sum = 0;
        bench::Priorities priorities;
        for (int i = 0; i < run->size(); ++i)
            increment(queue, PriorityQueue::rank(priorities.next()), &sum);
        queue.runAll();
        run->expect(sum == static_cast<std::uint32_t>(run->size()));
    }
}

Detached follow(Queue& signal, std::uint32_t* sum) {
    co_await InQueue{signal};
    ++*sum;
}

void performCoroutineCallback(Run* run) {
    Queue signal;
    while (run->next()) {
        std::uint32_t sum = 0;
        for (int i = 0; i < run->size(); ++i)
            follow(signal, &sum);
        signal.runAll();
        run->expect(sum == static_cast<std::uint32_t>(run->size()));
    }
}

/// Runs up to its first wait; resumes its awaiter when it ends. Its frame ends with the Number.
class Number {
public:
    struct promise_type : FrameMemory {
        Number get_return_object() { return Number(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_never initial_suspend() noexcept { return {}; }
        auto final_suspend() noexcept {
            struct HandOver {
                bool await_ready() noexcept { return false; }
                std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
                    return self.promise().follower;
                }
                void await_resume() noexcept {}
            };
            return HandOver();
        }
        void return_value(int value) { number = value; }
        void unhandled_exception() { std::terminate(); }

        int number = 0;
        std::coroutine_handle<> follower = std::noop_coroutine();
    };

    explicit Number(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
    Number(Number&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    Number& operator=(Number&& other) noexcept {
        std::swap(frame_, other.frame_);
        return *this;
    }
    ~Number() {
        if (frame_)
            frame_.destroy();
    }

    int get() const { return frame_.promise().number; }

    bool await_ready() const { return frame_.done(); }
    void await_suspend(std::coroutine_handle<> follower) { frame_.promise().follower = follower; }
    int await_resume() const { return get(); }

private:
    std::coroutine_handle<promise_type> frame_;
};

// Out of line, or else clang finds out that it needs no frame at all.
[[gnu::noinline]] Number giveAtOnce(int number) {
    if (number < 0)
        co_await std::suspend_always();
    co_return number;
}

void performCoroutineCreateReady(Run* run) {
    int sum = 0;
    while (run->next()) {
        Number number = giveAtOnce(1);
        sum += number.get();
    }
    run->expect(sum > 0);
}

struct Signal {
    std::coroutine_handle<> waiting;
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> self) { waiting = self; }
    void await_resume() {}
};

Number giveLater(Signal& signal) {
    co_await signal;
    co_return 0;
}

Number passOn(Number from) {
    co_return co_await from + 1;
}

void performCoroutineChain(Run* run) {
    while (run->next()) {
        Signal signal;
        Number last = giveLater(signal);
        for (int i = 0; i < run->size(); ++i)
            last = passOn(std::move(last));
        signal.waiting.resume();
        run->expect(last.get() == run->size());
    }
}

/// Is ready, and gives what stands there.
struct Ready {
    bool isReady = true;
    int number = 1;
    bool await_ready() const { return isReady; }
    void await_suspend(std::coroutine_handle<>) {}
    int await_resume() const { return number; }
};

Detached driveAwaitReady(Run* run) {
    Ready ready;
    int sum = 0;
    while (run->next()) {
        asm("" : "+m"(ready)); // so that it is looked at
        sum += co_await ready;
    }
    run->expect(sum > 0);
}

/// A ring that has room for all.
// actorc: allow A0702 it outlives what reads it
class Ring {
public:
    explicit Ring(int size) : elements_(std::bit_ceil(static_cast<unsigned>(size))) {}
    void push(int element) { elements_[end_++ & (elements_.size() - 1)] = element; }

    bool await_ready() const { return begin_ != end_; }
    void await_suspend(std::coroutine_handle<>) {}
    int await_resume() { return elements_[begin_++ & (elements_.size() - 1)]; }

private:
    std::vector<int> elements_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

Number sumOf(Ring& numbers, int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i)
        sum += co_await numbers;
    co_return sum;
}

void performCoroutineStream(Run* run) {
    Ring numbers(run->size());
    while (run->next()) {
        for (int i = 0; i < run->size(); ++i) {
            numbers.push(1);
            asm("" : "+m"(numbers)); // so that each is put there by itself
        }
        run->expect(sumOf(numbers, run->size()).get() == run->size());
    }
}

/// What a coroutine waits with for one of several signals, which each have a list of these.
struct Branch {
    Branch* next = this;
    Branch* previous = this;
    struct FirstOf* owner = nullptr;

    void enter(Branch& list) {
        next = list.next;
        previous = &list;
        list.next = next->previous = this;
    }
    void leave() {
        next->previous = previous;
        previous->next = next;
    }
};

struct FirstOf {
    std::array<Branch*, 3> signals;
    std::array<Branch, 3> branches{};
    std::coroutine_handle<> waiting{};
    int winner = 0;

    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> self) {
        waiting = self;
        for (std::size_t i = 0; i < 3; ++i) {
            branches[i].owner = this;
            branches[i].enter(*signals[i]);
        }
    }
    int await_resume() const { return winner; }
};

void send(Branch& signal) {
    Branch* fired = signal.next;
    FirstOf* owner = fired->owner;
    owner->winner = static_cast<int>(fired - owner->branches.data());
    for (Branch& branch : owner->branches)
        branch.leave();
    owner->waiting.resume();
}

Number firstOf(Branch& a, Branch& b, Branch& c) {
    FirstOf first{{&a, &b, &c}}; // gcc 12 needs a name for it
    co_return co_await first;
}

void performCoroutineRace(Run* run, int which) {
    std::array<Branch, 3> signals;
    while (run->next()) {
        asm("" : "+m"(signals));
        Number winner = firstOf(signals[0], signals[1], signals[2]);
        send(signals[static_cast<std::size_t>(which)]);
        run->expect(winner.get() == which);
    }
}

const bench::PeerStyle coroutines("floor-coroutine", {
                                                         {"DELAY", performCoroutineDelay},
                                                         {"NET2", performCoroutineNet2},
                                                         {"callback", performCoroutineCallback},
                                                         {"create_ready", performCoroutineCreateReady},
                                                         {"await_ready", [](Run* run) { driveAwaitReady(run); }},
                                                         {"race_first", [](Run* run) { performCoroutineRace(run, 0); }},
                                                         {"race_last", [](Run* run) { performCoroutineRace(run, 2); }},
                                                         {"stream", performCoroutineStream},
                                                         {"chain", performCoroutineChain},
                                                     });

} // namespace
