#pragma once
// Streams with free I/O: what remains is the cost of composing operations. readSome() puts its waiter into a
// queue, and that is all; one item taken out of the queue and run is one piece of work.
//
//     Socket socket;
//     std::size_t bytes = co_await socket.readSome(buffer);      // in any style, as of a Connection
//     std::uint64_t work = workQueue.runAll();
//
// Tls is a layer around a Socket that does something with each result and no I/O of its own: an operation around an
// operation.

#include "flow/core/in_place.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace bench::composed {

/// Intrusive, first in, first out. Its nodes are the waiters themselves; one that is cancelled leaves it.
class WorkQueue {
public:
    void push(flow::WaiterNode& waiter) {
        flow::detail::Link& link = waiter.link;
        if (head_.isEmpty()) {
            asm volatile(""); // a branch: a conditional move would wait for what has just been stored
            link.next = link.prev = &head_;
            head_.next = head_.prev = &link;
        } else {
            flow::detail::pushBack(head_, link);
        }
    }
    /// Until it is empty. How many items there were.
    std::uint64_t runAll() {
        std::uint64_t work = 0;
        while (!head_.isEmpty()) {
            flow::detail::Link* first = head_.next;
            if (first == head_.prev) {
                asm volatile(""); // as above
                head_.reset();
            } else {
                first->cutOut();
            }
            first->next = nullptr;
            flow::detail::run(flow::WaiterNode::of(first));
            ++work;
        }
        return work;
    }

private:
    flow::detail::Link head_{&head_, &head_};
};

/// Not reached through a pointer: following one would be on the way of each item to the next.
inline constinit WorkQueue workQueue;

class Socket {
public:
    static constexpr std::size_t kChunk = 64; // bytes that each read gives, if there is room

    struct ReadSome {
        using Result = std::size_t;
        Socket* socket;
        std::size_t size;

        bool isReady() const { return false; }
        void park(flow::WaiterNode& waiter) {
            waiter.awaited = {}; // what stands in a queue waits for nothing but its turn
            workQueue.push(waiter);
        }
        std::size_t take() const {
            if (socket->error.isValid()) [[unlikely]]
                throw socket->error;
            return std::min(size, socket->given);
        }
    };
    ReadSome readSome(std::span<char> to) { return {this, to.size()}; }

    flow::Error error; // of each read
    std::size_t given = kChunk;
};

class Tls {
public:
    struct ReadSome {
        using Result = std::size_t;
        Tls* tls;
        Socket::ReadSome below;

        bool isReady() const { return below.isReady(); }
        void park(flow::WaiterNode& waiter) { below.park(waiter); }
        std::size_t take() {
            std::size_t bytes = below.take();
            tls->read += bytes;
            return bytes;
        }
    };
    ReadSome readSome(std::span<char> to) { return {this, below.readSome(to)}; }

    Socket below;
    std::size_t read = 0;
};

/// Puts the beginning of an operation into the queue, as a piece of work of its own.
class Start : flow::WaiterNode {
public:
    explicit Start(void (*begin)(Start&)) : begin_(begin) {
        resume = [](flow::WaiterNode* waiter) {
            auto* self = static_cast<Start*>(waiter);
            self->begin_(*self);
        };
    }
    void post() { workQueue.push(*this); }

private:
    void (*begin_)(Start&);
};

// The four levels: 1 is one readSome(); 2 a read of as many bytes as kRead of them give; 3 a request, which is kRequest
// of them, one after the other; 4 a session of kRequests requests.
inline constexpr std::size_t kRead = 5;
inline constexpr std::size_t kRequest = 10;
inline constexpr std::size_t kRequests = 100;

/// How many reads an operation of that level makes.
inline constexpr std::size_t readsOf(int level) {
    return level == 1 ? 1 : level == 2 ? kRead : level == 3 ? kRequest : kRequest * kRequests;
}

} // namespace bench::composed
