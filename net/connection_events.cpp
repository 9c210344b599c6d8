#include "net/detail/connection_events.h"

#include <new>

namespace flow::net {

void writeConnectionEvent(char const* type, Address const& peer, Error error, std::string_view why,
                          TraceArea area) noexcept {
    try {
        TraceEvent event(area, SevDebug, type);
        event.detail("Peer", peer).error(error, true);
        if (!why.empty())
            event.detail("Why", why);
    } catch (std::bad_alloc const&) { // the event is lost
    }
}

void traceAcceptPaused(Address const& at, Error error) noexcept {
    try {
        TraceEvent(SevWarn, "AcceptPaused").detail("Address", at).error(error).suppressFor(5);
    } catch (std::bad_alloc const&) { // the event is lost
    }
}

} // namespace flow::net
