#include "flow/trace/tracer.h"

#include "flow/loop/real_loop.h"
#include "flow/trace/detail/date.h"

#include <algorithm>
#include <cmath>

namespace flow::trace {
namespace {

std::int64_t nanoseconds(double seconds) {
    return std::llround(seconds * 1e9);
}

double clock() {
    return hasLoop() ? timer() : machineTime();
}

/// Returns the present time of a span: its begin plus the time that has passed, so that a jump of the date does not
/// make it negative.
std::int64_t timeIn(Recording const& recording) {
    return recording.data.begin + nanoseconds(std::max(0.0, clock() - recording.began));
}

/// In a simulation the ids come from the seed. Otherwise they must differ even if all else in two processes is equal.
std::uint64_t seed() {
    return (hasLoop() && Loop::current().isSimulated() ? deterministicRandom() : nondeterministicRandom())
        ->randomUInt64();
}

} // namespace

Tracer::Tracer(SpanReceiver& receiver, Sampler sampler) : receiver_(receiver), sampler_(sampler), ids_(seed()) {
    link_->tracer = this;
}

RequestContext Tracer::record(std::string_view name, SpanKind kind, SpanContext context, std::uint64_t parentId,
                              RequestContext const& here) {
    auto recording = makeReference<Recording>();
    recording->link = link_;
    SpanData& data = recording->data;
    data.context = context;
    data.parentId = parentId;
    data.name = name;
    data.kind = kind;
    data.begin = hasLoop() ? nanoseconds(wallTime()) : currentDate() * 1000;
    recording->began = clock();
    return here.with(kCurrentSpan, {std::move(context), recording});
}

Span::Span(RequestContext const& here, std::string_view name, SpanKind kind) : context_(here) {
    CurrentSpan const* current = here.find(kCurrentSpan);
    if (!current || !current->recording || !current->recording->link->tracer) [[likely]]
        return;
    Tracer& tracer = *current->recording->link->tracer;
    SpanContext context = current->context;
    context.spanId = tracer.newId();
    *this = Span(tracer.record(name, kind, std::move(context), current->context.spanId, here));
}

SpanRef& SpanRef::name(std::string_view name) {
    if (isRecording())
        recording_->data.name = name;
    return *this;
}

void SpanRef::add(Attribute attribute) {
    SpanData& data = recording_->data;
    auto same = std::find_if(data.attributes.begin(), data.attributes.end(),
                             [&](Attribute const& each) { return each.key == attribute.key; });
    if (same != data.attributes.end())
        same->value = std::move(attribute.value);
    else if (data.attributes.size() < kMost)
        data.attributes.push_back(std::move(attribute));
    else
        ++data.droppedAttributes;
}

SpanRef& SpanRef::event(std::string_view name, std::vector<Attribute> attributes) {
    if (!isRecording())
        return *this;
    SpanData& data = recording_->data;
    if (data.events.size() < kMost)
        data.events.push_back({std::string(name), timeIn(*recording_), std::move(attributes)});
    else
        ++data.droppedEvents;
    return *this;
}

SpanRef& SpanRef::error(std::string_view message) {
    if (isRecording()) {
        recording_->data.status = SpanStatus::Error;
        recording_->data.message = message;
    }
    return *this;
}

SpanRef& SpanRef::error(Error const& error) {
    if (!isRecording() || !error.isValid())
        return *this;
    if (error == actor_cancelled())
        return attribute("cancelled", true);
    event("exception", {{"exception.type", error.name()}, {"exception.message", error.what()}});
    return this->error(error.what());
}

void SpanRef::end() noexcept {
    if (!isRecording())
        return;
    recording_->hasEnded = true;
    recording_->data.end = timeIn(*recording_);
    recording_->link->tracer->receiver_.take(std::move(recording_->data));
}

} // namespace flow::trace
