#pragma once
// Counters of the network: system calls by kind, bytes, and calls that received or sent nothing.
//
//     SocketCounters one = connection->counters();
//     LoopCounters all = network.counters();
//     all.sockets.reads - all.sockets.emptyReads         // reads that received something

#include <cstdint>

namespace flow::net {

/// The counters of one socket, or of all sockets of a loop.
struct SocketCounters {
    std::uint64_t reads = 0;         // system calls that receive, or accept
    std::uint64_t emptyReads = 0;    // reads that got nothing (EAGAIN)
    std::uint64_t arrivals = 0;      // pieces received ahead (ReadStrategy::Ahead), without a system call
    std::uint64_t writes = 0;        // system calls that send
    std::uint64_t blockedWrites = 0; // writes that sent nothing (EAGAIN)
    std::uint64_t bytesRead = 0;
    std::uint64_t bytesWritten = 0;
    std::uint64_t news = 0; // events from the poller

    std::uint64_t systemCalls() const { return reads + writes; }
    SocketCounters& operator+=(SocketCounters const& other) {
        reads += other.reads;
        emptyReads += other.emptyReads;
        arrivals += other.arrivals;
        writes += other.writes;
        blockedWrites += other.blockedWrites;
        bytesRead += other.bytesRead;
        bytesWritten += other.bytesWritten;
        news += other.news;
        return *this;
    }
};

struct PollCounters {
    std::uint64_t waits = 0;   // system calls that wait for events, or check for them
    std::uint64_t changes = 0; // system calls that register or remove a descriptor
    std::uint64_t wakeUps = 0; // waits that another thread or a signal handler has ended
};

struct LoopCounters {
    SocketCounters sockets;
    PollCounters polls;

    std::uint64_t systemCalls() const { return sockets.systemCalls() + polls.waits + polls.changes; }
};

} // namespace flow::net
