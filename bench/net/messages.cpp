// Two sockets over loopback TCP, a thread and a loop each: what Millrace and libzmq make of the same messages.
//
//     messages_bench millrace|libzmq PATTERN BYTES COUNT [STRATEGY] [uring] [one-processor] [count-allocations]
//
// PATTERN is router-router (COUNT messages one way), router-router-future (the same with a Future a send),
// round-trips (COUNT of them), pub-N (to N subscribers), peers-N (from N peers) or inproc (Millrace: between two
// sockets of one loop; libzmq: between two threads). `uring` makes Millrace use io_uring, and exits with 4 where there
// is none; with one-processor all threads run on one. Prints one line of JSON. tools/bench messages runs it.

#include "bench/net/messages.h"
#include "flow/base/parse_number.h"
#include "net/poll/network_poller.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {
std::atomic<std::uint64_t> allocations{0}, receives{0}, emptyReceives{0};
bool countsAllocations = false;
} // namespace

// Both libraries come here, so that they are counted alike.
extern "C" {
void* __libc_malloc(std::size_t);
void* malloc(std::size_t bytes) {
    if (countsAllocations)
        allocations.fetch_add(1, std::memory_order_relaxed);
    return __libc_malloc(bytes);
}
ssize_t recv(int descriptor, void* to, std::size_t bytes, int flags) {
    auto count = static_cast<ssize_t>(::syscall(SYS_recvfrom, descriptor, to, bytes, flags, nullptr, nullptr));
    receives.fetch_add(1, std::memory_order_relaxed);
    if (count < 0 && errno == EAGAIN)
        emptyReceives.fetch_add(1, std::memory_order_relaxed);
    return count;
}
}

namespace bench {

Measured measured;

namespace {

double processorSeconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    auto of = [](timeval time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; };
    return of(used.ru_utime) + of(used.ru_stime);
}

/// This thread, and all that it starts, run on the processor that it is on.
void useOneProcessor() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    if (::sched_setaffinity(0, sizeof one, &one) != 0) {
        std::perror("sched_setaffinity");
        std::exit(1);
    }
}

} // namespace

void Measured::start() {
    allocations_ = allocations;
    receives_ = receives;
    empty_ = emptyReceives;
    processor_ = processorSeconds();
    since_ = Clock::now();
}

void Measured::stop() {
    took_ = seconds(since_);
    processor_ = processorSeconds() - processor_;
    allocations_ = allocations - allocations_;
    receives_ = receives - receives_;
    empty_ = emptyReceives - empty_;
}

void Measured::print(std::uint64_t items) {
    auto perItem = [&](auto number) { return static_cast<double>(number) / static_cast<double>(items); };
    std::printf("{\"items_per_second\": %.1f, \"receive_calls_per_item\": %.6f, \"eagain_per_item\": %.6f, "
                "\"receive_calls\": %llu, \"eagain\": %llu, \"cpu_ns_per_item\": %.2f",
                static_cast<double>(items) / took_, perItem(receives_), perItem(empty_),
                static_cast<unsigned long long>(receives_), static_cast<unsigned long long>(empty_),
                perItem(processor_) * 1e9);
    if (countsAllocations)
        std::printf(", \"allocs_per_item\": %.6f", perItem(allocations_));
    if (!trips.empty()) {
        std::sort(trips.begin(), trips.end());
        std::printf(", \"p50_us\": %.2f, \"p99_us\": %.2f", trips[trips.size() / 2] * 1e6,
                    trips[trips.size() * 99 / 100] * 1e6);
    }
    std::printf("}\n");
}

} // namespace bench

namespace {

int usage() {
    std::fprintf(stderr, "usage: messages_bench millrace|libzmq PATTERN BYTES COUNT [STRATEGY] [uring] "
                         "[one-processor] [count-allocations]\n");
    return 2;
}

} // namespace

int main(int argc, char** argv) {
    using flow::parseNumber, flow::net::ReadStrategy;
    if (argc < 5)
        return usage();
    bench::Job job;
    job.library = argv[1];
    job.pattern = argv[2];
    auto bytes = parseNumber<std::uint32_t>(argv[3]);
    auto count = parseNumber<std::uint64_t>(argv[4]);
    if (!bytes || !count || *count == 0)
        return usage();
    job.bytes = *bytes;
    job.count = *count;
    bool isKnown = job.pattern == "router-router" || job.pattern == "router-router-future" ||
                   job.pattern == "round-trips" || job.pattern == "inproc";
    for (char const* prefix : {"peers-", "pub-"})
        if (job.pattern.starts_with(prefix)) {
            job.peers = parseNumber<int>(job.pattern.substr(std::strlen(prefix))).value_or(0);
            isKnown = job.peers > 0;
        }
    if (!isKnown || (job.library != "millrace" && job.library != "libzmq"))
        return usage();
    for (int i = 5; i < argc; ++i) {
        std::string_view word = argv[i];
        if (word == "count-allocations")
            countsAllocations = true;
        else if (word == "one-processor")
            bench::useOneProcessor();
        else if (word == "speculative")
            job.strategy = ReadStrategy::Speculative;
        else if (word == "reactive")
            job.strategy = ReadStrategy::Reactive;
        else if (word == "ahead")
            job.strategy = ReadStrategy::Ahead;
        else if (word == "uring" && !flow::net::hasUring())
            return 4;
        else if (word == "uring")
            ::setenv("FLOW_POLLER", "uring", 1);
        else if (word != "adaptive")
            return usage();
    }
    job.library == "libzmq" ? runZmq(job) : runMillrace(job);
    bench::measured.print(job.count * (job.pattern.starts_with("pub-") ? static_cast<std::uint64_t>(job.peers) : 1));
}
