// What no library can do without: the same works with a function pointer, and with a C++20 coroutine, that wait in a
// queue of their own nodes. There are no futures, no errors and nothing to cancel; memory comes from lists of free
// blocks. DELAY has a plain queue; NET2 one with an order of priorities, because the order is part of that work.

#include "bench/free_list.h"
#include "bench/run.h"

#include <array>
#include <bit>
#include <coroutine>
#include <exception>
#include <utility>

namespace {

using bench::Run;

struct Node {
    void (*run)(Node*);
    Node* next;
};

/// First in, first out.
class Queue {
public:
    bool isEmpty() const { return first_ == nullptr; }
    void push(Node* node) {
        node->next = nullptr;
        if (first_ == nullptr)
            first_ = node;
        else
            last_->next = node;
        last_ = node;
    }
    Node* pop() { return std::exchange(first_, first_->next); }
    void runAll() {
        while (!isEmpty()) {
            Node* node = pop();
            node->run(node);
        }
    }

private:
    Node* first_ = nullptr;
    Node* last_ = nullptr;
};

/// The most urgent first, and first in, first out among equals.
class PriorityQueue {
public:
    static constexpr unsigned kLeast = 127;

    static unsigned rank(flow::TaskPriority priority) { return 100 - static_cast<unsigned>(priority); }

    void push(Node* node, unsigned rank) {
        queues_[rank].push(node);
        used_[rank / 64] |= 1ULL << rank % 64;
    }
    void runAll() {
        for (;;) {
            unsigned word = used_[0] != 0 ? 0 : 1;
            if (used_[word] == 0)
                return;
            auto rank = static_cast<unsigned>(std::countr_zero(used_[word]));
            Queue& queue = queues_[word * 64 + rank];
            Node* node = queue.pop();
            if (queue.isEmpty())
                used_[word] &= ~(1ULL << rank);
            node->run(node);
        }
    }

private:
    std::array<Queue, kLeast + 1> queues_;
    std::array<std::uint64_t, 2> used_{};
};

// ---- function pointers

template <class Derived>
Derived* made(void (*run)(Node*)) {
    return ::new (bench::FreeList<sizeof(Derived)>::allocate()) Derived{{run, nullptr}};
}
template <class Derived>
void release(Derived* node) {
    bench::FreeList<sizeof(Derived)>::release(node);
}

struct DelayNode : Node {
    Run* pass;
    Queue* queue;
};

void performDelay(Run* run) {
    Queue queue;
    DelayNode node{{[](Node* node) {
                        auto* self = static_cast<DelayNode*>(node);
                        if (self->pass->next())
                            self->queue->push(self);
                    },
                    nullptr},
                   run,
                   &queue};
    queue.push(&node);
    queue.runAll();
}

struct Increment : Node {
    std::uint32_t* sum = nullptr;
};

void increment(Node* node) {
    auto* self = static_cast<Increment*>(node);
    ++*self->sum;
    release(self);
}

void performNet2(Run* run) {
    PriorityQueue queue;
    while (run->next()) {
        std::uint32_t sum = 0;
        bench::Priorities priorities;
        for (int i = 0; i < run->size(); ++i) {
            auto* node = made<Increment>(increment);
            node->sum = &sum;
            queue.push(node, PriorityQueue::rank(priorities.next()));
        }
        queue.runAll();
        run->expect(sum == static_cast<std::uint32_t>(run->size()));
    }
}

void performCallback(Run* run) {
    Queue waiting;
    while (run->next()) {
        std::uint32_t sum = 0;
        for (int i = 0; i < run->size(); ++i) {
            auto* node = made<Increment>(increment);
            node->sum = &sum;
            waiting.push(node);
        }
        waiting.runAll();
        run->expect(sum == static_cast<std::uint32_t>(run->size()));
    }
}

struct Link : Node {
    int number = 0;
};

void passOn(Node* node) {
    auto* self = static_cast<Link*>(node);
    auto* to = static_cast<Link*>(self->next);
    to->number = self->number + 1;
    release(self);
    return to->run(to);
}

void performChain(Run* run) {
    while (run->next()) {
        Link last{{[](Node*) {}, nullptr}};
        Link* first = &last;
        for (int i = 0; i < run->size(); ++i) {
            auto* link = made<Link>(passOn);
            link->next = first;
            first = link;
        }
        first->run(first);
        run->expect(last.number == run->size());
    }
}

int giveNumber(int number) {
    return number;
}

void performCreateReady(Run* run) {
    int (*function)(int) = giveNumber;
    int sum = 0;
    while (run->next()) {
        asm("" : "+r"(function)); // so that it stays a call
        sum += function(1);
    }
    run->expect(sum > 0);
}

const bench::PeerStyle callbacks("floor-callback", {
                                                       {"DELAY", performDelay},
                                                       {"NET2", performNet2},
                                                       {"callback", performCallback},
                                                       {"create_ready", performCreateReady},
                                                       {"chain", performChain},
                                                   });

// ---- coroutines

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

/// Runs until it first waits, and is gone when it ends. Its promise is what stands in a queue.
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

/// Runs until it first waits; who awaits it goes on when it ends. Its frame ends with the Number.
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

const bench::PeerStyle coroutines("floor-coroutine", {
                                                         {"DELAY", performCoroutineDelay},
                                                         {"NET2", performCoroutineNet2},
                                                         {"callback", performCoroutineCallback},
                                                         {"create_ready", performCoroutineCreateReady},
                                                         {"chain", performCoroutineChain},
                                                     });

} // namespace
