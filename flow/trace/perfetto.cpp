#include "flow/trace/perfetto.h"

#include <atomic>
#include <unistd.h>

namespace flow::trace {
namespace {

// Numbers of fields in Perfetto's trace.proto.
namespace packet {
constexpr int kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12, kFlags = 13, kDescriptor = 60;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2; // values of kFlags
} // namespace packet
namespace descriptor {
constexpr int kId = 1, kName = 2, kProcess = 3, kParent = 5;
constexpr int kPid = 1, kProcessName = 6; // fields of kProcess
} // namespace descriptor
namespace trackEvent {
constexpr int kAnnotations = 4, kType = 9, kNameNumber = 10, kTrack = 11, kCategories = 22, kFlows = 47, kFlowEnds = 48;
constexpr int kSliceBegin = 1, kSliceEnd = 2, kInstant = 3; // values of kType
constexpr int kAnnotationInt = 4, kAnnotationName = 10;
} // namespace trackEvent

} // namespace

/// A message in the encoding of protocol buffers.
class PerfettoTrace::Message {
public:
    void number(int field, std::uint64_t value) {
        varint(static_cast<std::uint64_t>(field) << 3);
        varint(value);
    }
    void fixed64(int field, std::uint64_t value) {
        varint(static_cast<std::uint64_t>(field) << 3 | 1);
        for (int i = 0; i < 8; ++i)
            bytes_ += static_cast<char>(value >> (8 * i));
    }
    void text(int field, std::string_view value) {
        varint(static_cast<std::uint64_t>(field) << 3 | 2);
        varint(value.size());
        bytes_ += value;
    }
    void message(int field, Message const& value) { text(field, value.bytes_); }
    std::string const& bytes() const { return bytes_; }

private:
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7)
            bytes_ += static_cast<char>(value | 0x80);
        bytes_ += static_cast<char>(value);
    }

    std::string bytes_;
};

PerfettoTrace::PerfettoTrace() {
    // nondeterminism: the number must only differ among traces that are put together.
    static constinit std::atomic<std::uint32_t> made{0};
    // nondeterminism: as above.
    unique_ = (static_cast<std::uint64_t>(::getpid()) << 16 | (made.fetch_add(1) & 0xFFFF)) + 1;
}

std::uint64_t PerfettoTrace::addProcess(std::string_view name, int pid) {
    std::uint64_t id = static_cast<std::uint64_t>(pid) << 32 | 0xFFFFFFFF; // the same in all traces of the process
    Message process;
    process.number(descriptor::kPid, static_cast<std::uint64_t>(pid));
    process.text(descriptor::kProcessName, name);
    Message track;
    track.number(descriptor::kId, id);
    track.message(descriptor::kProcess, process);
    describe(track);
    return id;
}

std::uint64_t PerfettoTrace::addTrack(std::string_view name, std::uint64_t process) {
    std::uint64_t id = unique_ << 24 | ++tracks_;
    Message track;
    track.number(descriptor::kId, id);
    track.text(descriptor::kName, name);
    track.number(descriptor::kParent, process);
    describe(track);
    return id;
}

void PerfettoTrace::describe(Message const& descriptor) {
    Message whole;
    whole.number(packet::kSequence, unique_ & 0xFFFFFFFF);
    whole.message(packet::kDescriptor, descriptor);
    Message trace;
    trace.message(1, whole);
    descriptors_ += trace.bytes();
}

std::uint64_t PerfettoTrace::nameNumber(std::string_view name) {
    auto [place, isNew] = numbers_.try_emplace(std::string(name), numbers_.size() + 1);
    if (isNew) {
        Message entry;
        entry.number(1, place->second);
        entry.text(2, name);
        Message names;
        names.message(2, entry);
        names_ += names.bytes();
    }
    return place->second;
}

PerfettoTrace::Message PerfettoTrace::event(int type, std::uint64_t track, std::string_view name,
                                            Details const& details) {
    Message event;
    event.number(trackEvent::kType, static_cast<std::uint64_t>(type));
    event.number(trackEvent::kTrack, track);
    event.number(trackEvent::kNameNumber, nameNumber(name));
    if (details.category)
        event.text(trackEvent::kCategories, details.category);
    // All traces of one file share the numbers of flows, so the flows of each track get a separate range.
    auto numberOf = [track](std::uint32_t flow) { return track * 0x9E3779B97F4A7C15u + flow; };
    for (std::uint32_t flow : details.starts)
        event.fixed64(trackEvent::kFlows, numberOf(flow));
    if (details.ends)
        event.fixed64(trackEvent::kFlowEnds, numberOf(details.ends));
    if (details.key) {
        Message annotation;
        annotation.text(trackEvent::kAnnotationName, details.key);
        annotation.number(trackEvent::kAnnotationInt, static_cast<std::uint64_t>(details.number));
        event.message(trackEvent::kAnnotations, annotation);
    }
    return event;
}

void PerfettoTrace::add(std::uint64_t time, Message const& event) {
    Message whole;
    whole.number(packet::kTimestamp, time);
    whole.number(packet::kSequence, unique_ & 0xFFFFFFFF);
    whole.number(packet::kFlags, packet::kNeedsState);
    whole.message(packet::kTrackEvent, event);
    Message trace;
    trace.message(1, whole);
    events_ += trace.bytes();
}

void PerfettoTrace::begin(std::uint64_t track, std::uint64_t time, std::string_view name, Details const& details) {
    add(time, event(trackEvent::kSliceBegin, track, name, details));
}

void PerfettoTrace::end(std::uint64_t track, std::uint64_t time) {
    Message event;
    event.number(trackEvent::kType, trackEvent::kSliceEnd);
    event.number(trackEvent::kTrack, track);
    add(time, event);
}

void PerfettoTrace::instant(std::uint64_t track, std::uint64_t time, std::string_view name, Details const& details) {
    add(time, event(trackEvent::kInstant, track, name, details));
}

std::string PerfettoTrace::bytes() const {
    Message names;
    names.number(packet::kSequence, unique_ & 0xFFFFFFFF);
    names.number(packet::kFlags, packet::kStateCleared | packet::kNeedsState);
    names.text(packet::kInterned, names_);
    Message trace;
    trace.message(1, names);
    return trace.bytes() + descriptors_ + events_;
}

} // namespace flow::trace
