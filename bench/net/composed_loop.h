#pragma once
// Level 4 of the composed benchmark on a real loop, over a stream that gives each read its bytes in a turn of its own.
//
//     PeerStyle style("coroutine", {{"composed-loop", performOnLoop<CoroutineOperation>}});

#include "bench/net/composed.h"
#include "bench/net/mock_stream.h"
#include "bench/run.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "flow/wait/source.h"

#include <algorithm>
#include <span>

namespace bench::composed {

/// Reads go the way of those of a Connection for which bytes have come. For one read at a time.
class LoopSocket {
public:
    struct ReadSome {
        using Result = std::size_t;
        LoopSocket* socket;
        std::size_t size;

        bool isReady() const { return socket->hasBytes_; }
        void park(flow::WaiterNode& waiter) {
            socket->readers_.park(waiter, *this);
            socket->hasBytes_ = true;
            ++socket->turns_;
            socket->readers_.wakeInTurn();
        }
        std::size_t take() const {
            socket->hasBytes_ = false;
            return std::min(size, Socket::kChunk);
        }
    };
    ReadSome readSome(std::span<char> to) { return {this, to.size()}; }

    /// Turns since the last call.
    std::uint64_t takeTurns() { return std::exchange(turns_, 0); }

private:
    bool hasBytes_ = false;
    std::uint64_t turns_ = 0;
    flow::Source<ReadSome> readers_;
};

template <template <class, int> class Operation>
void performOnLoop(Run* run) {
    flow::RealLoop loop;
    LoopSocket stream;
    Operation<LoopSocket, 4> one;
    std::uint64_t work = 0;
    while (run->next()) {
        one.start(stream);
        work = workQueue.runAll();
        loop.run(Future<flow::Void>(flow::delay(0, flow::TaskPriority::Min))); // behind all of its turns
        work += stream.takeTurns();
        run->expect(one.hasRead(readsOf(4) * Socket::kChunk));
    }
    run->setWork(work);
}

} // namespace bench::composed
