#pragma once
// The trace events of connections. Their severity is SevDebug, because the program also gets each success and failure
// as a result, and a server has thousands per second. MILLRACE_LOG=net=debug shows them. Only AcceptPaused has SevWarn,
// because the program has no other way to notice it.
//
// While events of SevDebug are written nowhere, a call costs a load and a branch. If memory runs out, an event is lost.

#include "flow/trace/trace_event.h"
#include "net/address.h"

namespace flow::net {

inline bool areConnectionsTraced() {
    return SevDebug >= trace::traceMinimum;
}

/// Writes an event with the details "Peer", those of `error` if it is set, and "Why" if `why` is not empty.
void writeConnectionEvent(char const* type, Address const& peer, Error error, std::string_view why,
                          TraceArea area) noexcept;
/// Writes an event "AcceptPaused", at most one in five seconds.
void traceAcceptPaused(Address const& at, Error error) noexcept;

inline void traceConnection(char const* type, Address const& peer, Error error = Error(), std::string_view why = {},
                            std::source_location place = std::source_location::current()) noexcept {
    if (areConnectionsTraced()) [[unlikely]]
        writeConnectionEvent(type, peer, error, why, TraceArea(trace::areaOf(place.file_name())));
}

} // namespace flow::net
