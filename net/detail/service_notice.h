#pragma once
// ServiceNotice: what serveUntil() says to the service manager, as long as it exists.

#include "flow/loop/turn.h"

namespace flow::net {

class ServiceNotice : Turn {
public:
    /// Says READY=1 before the loop sleeps, unless this process has said it, and from then on WATCHDOG=1 in time.
    ServiceNotice();
    /// Says STOPPING=1, unless this process has said it.
    void stopping();

private:
    void turn();

    bool isOn_;
    double watchdogSeconds_ = 0; // between two notices; 0: none is wanted
};

} // namespace flow::net
