#include "flow/base/format.h"
#include "net/transport.h"

namespace flow::net {
namespace {

void require(bool isValid, char const* options, char const* option, double value, char const* rule) {
    if (!isValid) [[unlikely]]
        throw wrongOption(options, option, format("%g", value), rule);
}

/// True if the kernel accepts this time of keep-alive. False for NaN.
bool isKeepAliveTime(double seconds) {
    return seconds == 0 || (seconds > 0 && seconds <= 32767);
}

} // namespace

void SocketOptions::check() const {
    auto checkTime = [this](bool isValid, char const* option, double value, char const* rule) {
        require(isValid, "SocketOptions", option, value, rule);
        require(value == 0 || keepAlive, "SocketOptions", option, value, "it needs keepAlive");
    };
    constexpr char const* kRule = "it must be from 0 to 32767 seconds";
    checkTime(isKeepAliveTime(keepAliveIdle), "keepAliveIdle", keepAliveIdle, kRule);
    checkTime(isKeepAliveTime(keepAliveInterval), "keepAliveInterval", keepAliveInterval, kRule);
    checkTime(keepAliveProbes >= 0 && keepAliveProbes <= 127, "keepAliveProbes", keepAliveProbes,
              "it must be from 0 to 127");
    require(userTimeout >= 0 && userTimeout <= 2e6, "SocketOptions", "userTimeout", userTimeout,
            "it must be from 0 to 2000000 seconds");
    require(sendBuffer >= 0, "SocketOptions", "sendBuffer", sendBuffer, "it must not be negative");
    require(receiveBuffer >= 0, "SocketOptions", "receiveBuffer", receiveBuffer, "it must not be negative");
}

void ConnectOptions::check() const {
    SocketOptions::check();
    require(timeout > 0, "ConnectOptions", "timeout", timeout, "it must be more than 0");
}

void ListenOptions::check() const {
    SocketOptions::check();
    require(backlog >= 0, "ListenOptions", "backlog", backlog, "it must not be negative");
}

void DatagramOptions::check() const {
    SocketOptions::check();
    require(multicastHops >= 0 && multicastHops <= 255, "DatagramOptions", "multicastHops", multicastHops,
            "it must be from 0 to 255");
}

} // namespace flow::net
