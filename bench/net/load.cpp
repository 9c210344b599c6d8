#include "bench/net/load.h"

#include "flow/base/error.h"
#include "flow/core/ring_queue.h"

#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace bench {
namespace {

constexpr std::size_t kBytes = 64, kDeepest = 64;

std::uint64_t now() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                      std::chrono::nanoseconds(1));
}

/// Of this thread.
std::uint64_t processorTime() {
    timespec used = {};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(used.tv_nsec);
}

/// One connection of the load.
struct Client {
    int descriptor = -1;
    std::size_t got = 0;                // bytes of the answer
    flow::RingQueue<std::uint64_t> due; // of questions without an answer

    void connect(std::uint16_t port) {
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int on = 1;
        if (descriptor < 0 || ::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
            throw flow::platform_error();
        ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    /// So many questions, with one call.
    void send(std::size_t questions, std::uint64_t isDue) {
        static char const bytes[kBytes * kDeepest] = {};
        std::size_t size = kBytes * questions;
        if (::send(descriptor, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) != static_cast<ssize_t>(size))
            throw flow::timed_out();
        for (; questions != 0; --questions)
            due.push(isDue);
    }
    /// Calls note(when it was due) for each answer. Returns how many there were.
    template <class Note>
    std::size_t receive(Note note) {
        char answers[kBytes * kDeepest];
        ssize_t count = ::recv(descriptor, answers, sizeof answers, MSG_DONTWAIT);
        if (count <= 0)
            throw flow::platform_error();
        got += static_cast<std::size_t>(count);
        std::size_t answered = got / kBytes;
        got %= kBytes;
        for (std::size_t i = 0; i < answered; ++i)
            note(due.pop());
        return answered;
    }
};

/// All connections, which close with it.
class Load {
public:
    Load(std::uint16_t port, int connections) : clients_(static_cast<std::size_t>(connections)) {
        for (Client& each : clients_) {
            each.connect(port);
            epoll_event event = {};
            event.events = EPOLLIN;
            event.data.ptr = &each;
            ::epoll_ctl(epoll_, EPOLL_CTL_ADD, each.descriptor, &event);
        }
    }
    Load(Load const&) = delete;
    Load& operator=(Load const&) = delete;
    ~Load() {
        for (Client& each : clients_)
            ::close(each.descriptor);
        ::close(epoll_);
    }

    LoadResult run(double seconds, std::size_t depth) {
        for (Client& each : clients_)
            each.send(depth, now());
        auto length = static_cast<std::uint64_t>(seconds * 1e9);
        std::uint64_t begin = now() + length / 5, end = begin + length;
        std::uint64_t counted = 0;
        LoadResult result;
        for (std::uint64_t last = 0; last < end;) {
            epoll_event events[256];
            int count = ::epoll_wait(epoll_, events, 256, 1000);
            if (count <= 0) // nothing for a second
                throw flow::timed_out();
            for (int i = 0; i < count; ++i) {
                auto& client = *static_cast<Client*>(events[i].data.ptr);
                last = now();
                std::size_t answered = client.receive([&](std::uint64_t asked) {
                    if (last >= begin)
                        times_.add(last - asked);
                });
                result.allRequests += answered;
                counted += last >= begin ? answered : 0;
                if (answered != 0)
                    client.send(answered, now());
            }
        }
        return finish(result, counted, seconds);
    }

    LoadResult runAtRate(double seconds, double rate) {
        auto length = static_cast<std::uint64_t>(seconds * 1e9);
        std::uint64_t start = now(), begin = start + length / 5, end = begin + length;
        std::uint64_t due = start, sent = 0, counted = 0;
        LoadResult result;
        while (due < end || result.allRequests != sent) {
            for (std::uint64_t at = now(); due <= at && due < end;) {
                clients_[sent % clients_.size()].send(1, due);
                due = start + static_cast<std::uint64_t>(static_cast<double>(++sent) * 1e9 / rate);
            }
            std::uint64_t at = now();
            bool isLast = due >= end;
            std::uint64_t patience = isLast ? 1'000'000'000 : due > at ? due - at : 0;
            timespec limit{static_cast<std::time_t>(patience / 1'000'000'000),
                           static_cast<long>(patience % 1'000'000'000)};
            epoll_event events[256];
            int count = ::epoll_pwait2(epoll_, events, 256, &limit, nullptr);
            if (count < 0 || (count == 0 && isLast)) // nothing for a second
                throw flow::timed_out();
            for (int i = 0; i < count; ++i)
                static_cast<Client*>(events[i].data.ptr)->receive([&](std::uint64_t wasDue) {
                    ++result.allRequests;
                    if (wasDue < begin)
                        return;
                    ++counted;
                    times_.add(now() - wasDue);
                });
        }
        return finish(result, counted, seconds);
    }

private:
    LoadResult finish(LoadResult result, std::uint64_t counted, double seconds) {
        result.requestsPerSecond = static_cast<double>(counted) / seconds;
        result.p50 = times_.percentile(0.5);
        result.p99 = times_.percentile(0.99);
        result.processors =
            static_cast<double>(processorTime() - usedBefore_) / static_cast<double>(now() - startedAt_);
        return result;
    }

    std::uint64_t startedAt_ = now(), usedBefore_ = processorTime();
    int epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    std::vector<Client> clients_;
    Histogram times_;
};

} // namespace

double Histogram::endOf(unsigned step) {
    if (step < kSteps)
        return step;
    unsigned shift = step / kSteps - 1;
    return static_cast<double>((std::uint64_t{step % kSteps + kSteps + 1} << shift) - 1);
}

double Histogram::percentile(double share) const {
    auto wanted = static_cast<double>(total_) * share;
    std::uint64_t seen = 0;
    for (unsigned step = 0; step < counts_.size(); ++step) {
        seen += counts_[step];
        if (seen != 0 && static_cast<double>(seen) >= wanted)
            return endOf(step);
    }
    return 0;
}

LoadResult ask(std::uint16_t port, int connections, double seconds, int depth) {
    return Load(port, connections).run(seconds, static_cast<std::size_t>(depth));
}

LoadResult askAtRate(std::uint16_t port, int connections, double seconds, double rate) {
    return Load(port, connections).runAtRate(seconds, rate);
}

} // namespace bench
