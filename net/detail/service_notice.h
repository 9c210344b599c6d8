#pragma once
// ServiceNotice: sends the notices of serveUntil() to the service manager, as long as this object exists.

#include "flow/loop/turn.h"

namespace flow::net {

class ServiceNotice : Turn {
public:
    /// Sends READY=1 before the loop sleeps, unless this process has sent it, and WATCHDOG=1 in time after that.
    ServiceNotice();
    /// Sends STOPPING=1, unless this process has sent it.
    void stopping();

private:
    void turn();

    bool isOn_;
    double watchdogSeconds_ = 0; // between two notices; 0: no watchdog
};

} // namespace flow::net
