#pragma once
// The benchmark of requests and replies, which a peer may include as C++17: a server in a thread, a client in the
// benchmark's thread. What a style is: its client keeps job.depth requests under way on each of job.connections
// connections; the server replies with what the request contains: eight numbers of 64 bits, or that many bytes.
//
//     bool const added = bench::addRpc("grpc", [](bench::RpcJob const& job, bench::RpcMeter& meter) {
//         std::uint64_t since = meter.now();                  // for each request under way
//         do ask(); while (meter.goesOn(since));              // when its reply has come
//     });

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace bench {

class Histogram;

struct RpcJob {
    int connections = 1;
    int depth = 1;
    std::size_t bytes = 64;
    bool isSmall() const { return bytes == 64; }
};

/// Belongs to the client's thread.
class RpcMeter {
public:
    RpcMeter();
    ~RpcMeter();
    static std::uint64_t now();
    /// A reply has come to what was asked then. Whether to ask again, from `since` on.
    bool goesOn(std::uint64_t& since);

    /// For a server that allocates blocks of its thread's flow::memory: called at each request.
    void noteServer();

    double requestsPerSecond() const;
    double p99() const;
    double allocationsPerRequest() const;

private:
    enum class Phase : std::uint8_t { WarmUp, Time, Count, End };
    void enter(Phase phase, std::uint64_t time);
    std::uint64_t allocated() const;

    Phase phase_ = Phase::WarmUp;
    std::uint64_t begin_ = now(), took_ = 0;
    std::uint64_t timed_ = 0, counted_ = 0; // requests
    std::uint64_t allocations_ = 0;
    std::atomic<std::uint64_t> serverBlocks_{0};
    std::unique_ptr<Histogram> times_;
};

using RunRpc = std::function<void(RpcJob const&, RpcMeter&)>;

/// Rows of 1, 16 and 256 requests under way, of 50 connections, and of 1 MiB.
bool addRpc(std::string const& style, RunRpc run);

/// Calls of malloc() by all threads while they are counted.
extern std::atomic<std::uint64_t> mallocs;
extern std::atomic<bool> countsMallocs;

} // namespace bench
