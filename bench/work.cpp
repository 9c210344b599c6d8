#include "bench/work.h"

namespace bench {

std::vector<int> growthSizes() {
    std::vector<int> sizes;
    for (int n = 1; n <= 1 << 20; n *= 2)
        sizes.push_back(n);
    return sizes;
}

std::span<const Work> works() {
    static const std::vector<int> kAll{1, 8, 64, 512, 4096, 32768, 65536};
    static const std::vector<int> kFew{1, 64, 4096};
    static const std::vector<int> kTimers{1, 64, 1000, 4096, 100'000, 1'000'000};
    static const std::vector<int> kChildren{100'000, 500'000, 1'000'000, 3'000'000, 5'000'000, 10'000'000};
    static const std::vector<Work> kWorks{
        // Waiting on the loop.
        {"DELAY", Items::NWaiting, kAll},     // wait for delay(0)
        {"YIELD", Items::NWaiting, kAll},     // wait for yield() when nothing more urgent is ready
        {"NET2", Items::N, kAll, kGrows},     // N actors wait for delay(0) at random priorities; wait for all
        {"callback", Items::N, kAll, kGrows}, // N actors wait for one future, which is sent; wait for all

        {"waiting", Items::N, {}, kOnlyGrows}, // what memory N actors take, each of which waits for a future

        // The life of one actor.
        {"create_ready", Items::One, {}},        // call an actor that need not wait, look at its future, drop it
        {"await_ready", Items::One, {}},         // wait for a future that is ready, with a number in it
        {"chain", Items::N, {1, 10, 1000}},      // N actors, each waiting for the next; the last one's future is sent
        {"error", Items::N, {1, 10, 1000}},      // the same, but the future fails
        {"cancel", Items::N, {1, 1024}, kGrows}, // N actors with a counting local wait; all are dropped
        {"cancel_handler", Items::N, {1, 1024}}, // the same, with a handler that rethrows
        {"cancel_plain", Items::N, {1, 1024}},   // the same as cancel, by a coroutine that does not say Propagate

        // Many at once.
        {"race_ready", Items::One, {}}, // a choose of three, of which the first is ready
        {"race_first", Items::One, {}}, // an actor with a choose of three waits; the first is sent
        {"race_last", Items::One, {}},  // the same, but the last is sent
        {"quorum", Items::N, kFew},     // wait for more than half of N futures, all of which are sent
        {"collection", Items::N, kFew}, // add N waiting actors to an ActorCollection; they end

        {"stream", Items::N, kFew},         // send N numbers into a stream, then receive them
        {"stream_waiting", Items::N, kFew}, // receive N numbers, each sent while the reader waits

        // Timers that are really set, among N - 1 others.
        {"timer_cancel", Items::NWaiting, {1, 1000, 1000000}},             // an actor waits for delay(x); it is dropped
        {"timer_fire", Items::NWaiting, {1, 1000, 1000000}, kVirtualTime}, // wait for the earliest timer
        {"timer_flight", Items::One, {1, 1000, 1000000}}, // N actors wait for long; the oldest is dropped for a new one
        {"timer_random", Items::One, {1, 1000, 1000000}}, // the same, but one that is drawn is dropped for a new one
        {"timers", Items::N, kTimers},                    // N actors wait, each 1 ns longer; wait for all
        {"timers_unordered", Items::N, kTimers},          // the same, but each waits for a time that is drawn

        // Operations made of operations, N is the level: see bench/net/composed.h.
        {"composed-socket", Items::One, {1, 2, 3, 4}}, // over a stream with free I/O
        {"composed-tls", Items::One, {1, 2, 3, 4}},    // with a layer around it
        {"composed-loop", Items::One, {4}},            // each read a turn of a real loop

        // Fibers.
        {"spawn", Items::One, {1}},  // start a fiber that need not wait, on a stack from the pool; it ends
        {"switch", Items::One, {1}}, // go on with a fiber that waits, until it waits again

        // Structured tasks: N trivial children, by where their memory comes from.
        {"fork-monotonic", Items::N, kChildren},         // each is made and awaited; a monotonic buffer
        {"fork-monotonic-destroy", Items::N, kChildren}, // each is made, awaited, and destroyed
        {"fork-pool-all", Items::N, kChildren},          // all are made, then all are destroyed; a standard pool
        {"fork-pool-each", Items::N, kChildren},         // each is made, awaited, and destroyed
        {"fork-arena-each", Items::N, kChildren},        // the same in a ScopedArena
        {"task-arena", Items::N, {100'000}},             // a lazy task each
        {"channel", Items::N, {100'000}},                // N numbers through a channel for 64
        {"channel-rendezvous", Items::N, {100'000}},     // the same, each passed directly to a receiver

        // Threads.
        {"post", Items::N, {4096}, kThreads},      // another thread posts N calls; they all run
        {"fib", Items::N, {21'891}, kThreads},     // a tree of N calls with two children each, on two threads
        {"skynet", Items::N, {100'000}, kThreads}, // a tree with N leaves and ten children a node, on two threads
    };
    return kWorks;
}

} // namespace bench
