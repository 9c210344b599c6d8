#pragma once
// Queues for what no library can do without: the works with a function pointer (floor_callbacks.cpp) and with a C++20
// coroutine (floor_coroutines.cpp), with nodes that wait here. There are no futures, no errors and nothing to cancel;
// memory comes from lists of free blocks. DELAY has a plain queue; NET2 one with an order of priorities, because the
// order is part of that work.
//
//     Queue queue;
//     queue.push(&node);
//     queue.runAll();     // calls node.run(&node)

#include "bench/run.h"

#include <array>
#include <bit>
#include <utility>

namespace bench::floor {

struct Node {
    void (*run)(Node*);
    Node* next;
};

/// First in, first out.
// actorc: allow A0702 it outlives what is run from it
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

} // namespace bench::floor
