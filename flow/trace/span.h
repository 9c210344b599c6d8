#pragma once
// Span: a part of the work for a request, with its times, attributes, events and errors.
//
//     Future<Page> load(RequestContext here, Key key) {
//         trace::Span span(here, "load page");                     // a child of the span that `here` has
//         span.attribute("page.key", key.text);
//         try {
//             co_return co_await read(span.context(), key);        // spans in read() are children of this one
//         } catch (Error& error) {
//             span.error(error);
//             throw;
//         }
//     }                                                            // the destructor ends the span
//
// The span of the request itself is begun by http::serve() (ServerOptions::tracer) or by a Tracer
// (flow/trace/tracer.h); spanOf(here) adds attributes, events and errors to it. If `here` has no span, or the trace is
// not sampled, a Span records nothing, and costs a search in the context. To skip work that only a span needs, test
// isRecording().
//
// When a span ends, it goes to the SpanReceiver of its Tracer; net/http/span_exporter.h has a receiver that sends it
// on. Attributes, events and errors are ignored after the end of the span, and after the end of its Tracer. Attributes
// and events beyond kMost are ignored too, and counted. A Span, like a RequestContext, belongs to one thread.

#include "flow/memory/reference.h"
#include "flow/trace/request_value.h"
#include "flow/trace/span_context.h"

#include <cstdint>
#include <variant>
#include <vector>

namespace flow::trace {

struct Attribute {
    using Value = std::variant<std::string, std::int64_t, double, bool>;

    Attribute(std::string_view k, Value v) : key(k), value(std::move(v)) {}
    /// Takes a number, a boolean, or a value of another type. Of another type, the attribute has the text of toText().
    template <class T>
        requires(!std::is_same_v<T, Value>)
    Attribute(std::string_view k, T const& v) : key(k) {
        if constexpr (std::is_same_v<T, bool>)
            value = v;
        else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, char>)
            value = static_cast<std::int64_t>(v);
        else if constexpr (std::is_floating_point_v<T>)
            value = static_cast<double>(v);
        else
            value = toText(v);
    }

    std::string key;
    Value value;
};

/// The numbers are as in OpenTelemetry.
enum class SpanKind : std::uint8_t { Internal = 1, Server = 2, Client = 3, Producer = 4, Consumer = 5 };
enum class SpanStatus : std::uint8_t { Unset = 0, Ok = 1, Error = 2 };

struct SpanEvent {
    std::string name;
    std::int64_t time; // nanoseconds since 1970
    std::vector<Attribute> attributes = {};
};

/// A span as a receiver gets it.
struct SpanData {
    SpanContext context = {};
    std::uint64_t parentId = 0; // 0: the first span of its trace
    std::string name = {};
    SpanKind kind = SpanKind::Internal;
    std::int64_t begin = 0, end = 0; // nanoseconds since 1970
    std::vector<Attribute> attributes = {};
    std::vector<SpanEvent> events = {};
    std::uint32_t droppedAttributes = 0, droppedEvents = 0;
    SpanStatus status = SpanStatus::Unset;
    std::string message = {}; // of an error
};

/// Gets the spans that have ended.
class SpanReceiver {
public:
    /// Must not wait, and must not call code of the program: the code of a request calls it.
    virtual void take(SpanData&& span) noexcept = 0;

protected:
    ~SpanReceiver() = default;
};

/// A Tracer's link to its spans. `tracer` is null after the end of the Tracer.
struct TracerLink : ReferenceCounted<TracerLink> {
    class Tracer* tracer = nullptr;
};

/// A span that is recorded.
struct Recording : ReferenceCounted<Recording> {
    SpanData data;
    double began = 0; // on the loop's clock
    bool hasEnded = false;
    Reference<TracerLink> link;
};

/// The value by which a RequestContext has its span.
struct CurrentSpan {
    SpanContext context;
    Reference<Recording> recording; // null: it is not sampled
    std::string toString() const { return context.toString(); }
};
/// Events of the log have the trace id: TraceEvent("Paid").request(here) has "Trace":"4bf92f35...".
inline constexpr RequestValue<CurrentSpan> kCurrentSpan("Trace");

/// A span that other code ends.
class SpanRef {
public:
    static constexpr std::size_t kMost = 128; // attributes, and events

    SpanRef() = default;
    explicit SpanRef(Reference<Recording> recording) : recording_(std::move(recording)) {}

    bool isRecording() const { return recording_ && !recording_->hasEnded && recording_->link->tracer; }
    SpanRef& name(std::string_view name);
    /// Adds an attribute. Replaces an attribute with the same key.
    template <class T>
    SpanRef& attribute(std::string_view key, T const& value) {
        if (isRecording()) [[unlikely]]
            add(Attribute(key, value));
        return *this;
    }
    SpanRef& event(std::string_view name, std::vector<Attribute> attributes = {});
    /// Marks the span as failed. An Error also adds an event "exception". A cancel is not a failure: it only adds the
    /// attribute "cancelled".
    SpanRef& error(std::string_view message);
    SpanRef& error(Error const& error);
    /// Ends the span now, and gives it to the receiver.
    void end() noexcept;

protected:
    void add(Attribute attribute);

    Reference<Recording> recording_;
};

/// Returns the span that the context has, or a SpanRef that records nothing.
inline SpanRef spanOf(RequestContext const& here) {
    CurrentSpan const* current = here.find(kCurrentSpan);
    return current ? SpanRef(current->recording) : SpanRef();
}

class Span : public SpanRef {
public:
    Span() = default;
    /// Begins a child of the span that `here` has.
    Span(RequestContext const& here, std::string_view name, SpanKind kind = SpanKind::Internal);
    Span(Span&& other) noexcept
        : SpanRef(std::move(other.recording_)), context_(std::exchange(other.context_, RequestContext())) {}
    Span& operator=(Span&& other) noexcept {
        Span before(std::move(*this));
        recording_ = std::move(other.recording_);
        context_ = std::exchange(other.context_, RequestContext());
        return *this;
    }
    ~Span() {
        if (recording_)
            end();
    }

    /// Returns the context for the work of this span: the constructor's context, with this span.
    RequestContext const& context() const { return context_; }

private:
    friend class Tracer;
    explicit Span(RequestContext context) : SpanRef(spanOf(context)), context_(std::move(context)) {}

    RequestContext context_;
};

} // namespace flow::trace
