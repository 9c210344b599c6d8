#include "net/service_manager.h"

#include "flow/base/format.h"
#include "flow/base/parse_number.h"
#include "net/detail/service_notice.h"
#include "net/real/adopt.h"
#include "net/real/detail/real_socket.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <optional>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace flow::net {
namespace {

std::atomic<bool> saysReady{true};    // serveUntil() must still send READY=1
std::atomic<bool> saysStopping{true}; // serveUntil() must still send STOPPING=1
std::atomic<bool> hasPassed{true};    // passedListeners() has not been called

std::string_view variable(char const* name) {
    char const* value = std::getenv(name);
    return value ? value : "";
}

/// True if the environment variable `name`, the id of a process, is empty or the id of this process.
bool isForThisProcess(char const* name) {
    std::string_view value = variable(name);
    return value.empty() || value == std::to_string(::getpid()); // nondeterminism: of a service manager alone
}

/// Sends `text` to the service manager. Waits for at most a second, unless `flags` has MSG_DONTWAIT.
bool notify(std::string const& text, int flags = 0) {
    std::string_view path = variable("NOTIFY_SOCKET");
    sockaddr_un to = {};
    to.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof to.sun_path)
        return false;
    std::memcpy(to.sun_path, path.data(), path.size());
    if (path[0] == '@') // an abstract name
        to.sun_path[0] = '\0';
    auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    OpenDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    timeval longest = {1, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
    return ::sendto(socket.get(), text.data(), text.size(), flags | MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&to),
                    size) == static_cast<ssize_t>(text.size());
}

} // namespace

std::vector<PassedListener> passedListeners(ListenOptions const& options) {
    constexpr int kFirst = 3;
    std::string_view count = variable("LISTEN_FDS"), names = variable("LISTEN_FDNAMES");
    if (count.empty() || Loop::current().isSimulated() || !isForThisProcess("LISTEN_PID") || !hasPassed.exchange(false))
        return {};
    auto number = parseNumber<std::uint16_t>(count);
    if (!number)
        throw client_invalid_operation().withSentence("LISTEN_FDS is \"" + std::string(count) +
                                                      "\"; it must be a number");
    std::vector<OpenDescriptor> opened; // if one is wrong, this closes those that are not adopted
    for (int i = 0; i < *number; ++i) {
        ::fcntl(kFirst + i, F_SETFD, FD_CLOEXEC);
        opened.emplace_back(kFirst + i);
    }
    std::vector<PassedListener> all;
    for (OpenDescriptor& each : opened) {
        std::size_t end = std::min(names.find(':'), names.size());
        std::string name(end == 0 ? "unknown" : names.substr(0, end));
        names.remove_prefix(std::min(end + 1, names.size()));
        Reference<Listener> listener = adoptListener(each.get(), options);
        (void)each.release();
        all.push_back({std::move(name), std::move(listener)});
    }
    return all;
}

bool notifyReady() {
    saysReady = false;
    return notify("READY=1");
}

void withholdReady() {
    saysReady = false;
}

bool notifyStopping() {
    saysStopping = false;
    return notify("STOPPING=1");
}

bool notifyReloading() {
    timespec now = {};
    ::clock_gettime(CLOCK_MONOTONIC, &now); // nondeterminism: a simulation has no service manager
    return notify(format("RELOADING=1\nMONOTONIC_USEC=%lld",
                         static_cast<long long>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000));
}

bool notifyStatus(std::string_view line) {
    return notify("STATUS=" + std::string(line.substr(0, line.find('\n'))));
}

ServiceNotice::ServiceNotice()
    : Turn([](Turn& self) { static_cast<ServiceNotice&>(self).turn(); }),
      isOn_(!Loop::current().isSimulated() && !variable("NOTIFY_SOCKET").empty()) {
    if (!isOn_)
        return;
    if (auto micros = parseNumber<double>(variable("WATCHDOG_USEC")); micros && isForThisProcess("WATCHDOG_PID"))
        watchdogSeconds_ = *micros / 2e6;
    ask(TaskPriority::Zero); // after all turns that are ready
}

void ServiceNotice::turn() {
    if (saysReady.exchange(false))
        notifyReady();
    if (!(watchdogSeconds_ > 0))
        return;
    notify("WATCHDOG=1", MSG_DONTWAIT); // if the manager's queue is full, it has earlier ones
    askAt(Loop::current().now() + watchdogSeconds_, TaskPriority::High);
}

void ServiceNotice::stopping() {
    if (isOn_ && saysStopping.exchange(false))
        notifyStopping();
}

} // namespace flow::net
