#pragma once
// Sampler: decides which traces are recorded.
//
//     Sampler()                                // as the caller has decided; all traces that begin here
//     Sampler::ratio(0.01).parentBased()       // as the caller has decided; one in a hundred of those that begin here
//     Sampler::ratio(0.01)                     // one in a hundred, whatever the caller has decided
//     Sampler::never()                         // ids are passed on, nothing is recorded
//
// ratio() reads only the trace id, as the SDKs of OpenTelemetry do. So all services of a request with the same ratio
// decide alike, and a service with a larger ratio records all traces that the others record.

#include "flow/trace/span_context.h"

namespace flow::trace {

class Sampler {
public:
    /// The same as always().parentBased().
    Sampler() : Sampler(kAlways, true) {}

    static Sampler always() { return {kAlways, false}; }
    static Sampler never() { return {0, false}; }
    /// Throws invalid_option_value, with a sentence, if `part` is not from 0 to 1.
    static Sampler ratio(double part);
    /// Returns a sampler that decides as the caller of the request has decided, or, without a caller, as this sampler.
    Sampler parentBased() const { return {below_, true}; }

    /// `parent` is null if the trace begins here.
    bool samples(SpanContext const* parent, UID traceId) const {
        if (isParentBased_ && parent)
            return parent->isSampled;
        return traceId.second() >> 1 < below_;
    }

private:
    static constexpr std::uint64_t kAlways = std::uint64_t{1} << 63;

    Sampler(std::uint64_t below, bool isParentBased) : below_(below), isParentBased_(isParentBased) {}

    std::uint64_t below_; // a trace is sampled if the low 64 bits of its id, divided by 2, are below this number
    bool isParentBased_;
};

} // namespace flow::trace
