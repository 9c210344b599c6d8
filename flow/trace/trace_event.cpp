#include "flow/trace/trace_event.h"

#include "flow/base/random.h"
#include "flow/loop/real_loop.h"
#include "flow/trace/detail/date.h"
#include "flow/trace/detail/event_receiver.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <map>
#include <new>
#include <utility>
#include <vector>

namespace flow {
namespace {

struct Suppression {
    double until = 0;
    std::int64_t count = 0;
};

thread_local std::map<std::string, Suppression> suppressions;
thread_local std::map<std::string, std::string, std::less<>> latestEvents;
thread_local std::vector<std::pair<std::string, std::string>> detailsOfEach;

constexpr std::size_t kBytesOfTooLong = 300;
constexpr std::size_t kFirstBytes = 300; // most lines need no more memory

/// Returns true if `name`, a key in the form `,"key":`, is allowed and not yet in the line. Quotes in a value have a
/// backslash. But the end of a value and the next key may look like `name`: then the key gets a needless `_`.
bool isNew(std::string_view line, std::string_view name) {
    return name != R"(,"":)" && name != R"(,"Time":)" && name != R"(,"Area":)" &&
           !line.substr(1).starts_with(name.substr(1)) && line.find(name) == std::string_view::npos;
}

} // namespace

void TraceEvent::begin(Severity severity, const char* type, UID id, Place place) {
    begin(severity, type, id, TraceArea(trace::areaOf(place.file_name())));
}

void TraceEvent::begin(Severity severity, const char* type, UID id, TraceArea area) {
    if (!trace::takes(severity, area.name()))
        return;
    event_ = std::make_unique<Event>(Event{{}, type, severity});
    std::string& line = event_->line;
    line.reserve(kFirstBytes);
    line += R"({"DateTime":")";
    trace::appendDate(line, trace::currentDate());
    line += '"';
    if (!area.name().empty()) {
        line += R"(,"Area":)";
        appendJsonString(line, area.name());
    }
    if (hasLoop()) {
        line += R"(,"Time":)";
        appendJsonValue(line, Loop::current().now());
    }
    line += R"(,"Severity":)";
    appendJsonValue(line, static_cast<int>(severity));
    line += R"(,"Type":)";
    appendJsonString(line, type);
    if (id.isValid())
        detail("ID", id);
}

void TraceEvent::end() noexcept {
    try {
        for (auto const& [key, value] : detailsOfEach)
            detail(key, value);
        std::unique_ptr<Event> event = std::move(event_);
        event->line += '}';
        if (event->longestLine > 0 && event->line.size() > event->longestLine) {
            TraceEvent(SevWarnAlways, "TraceEventOverflow")
                .detail("TraceFirstBytes", event->line.substr(0, kBytesOfTooLong));
            return;
        }
        trace::receive(event->line, event->severity);
        if (!event->latest.empty())
            latestEvents[event->latest] = std::move(event->line);
    } catch (std::bad_alloc const&) { // without memory the event is lost, and the program goes on
        event_.reset();
    }
}

void TraceEvent::appendKey(std::string_view key) {
    std::string& line = event_->line;
    std::string name = ",";
    appendJsonString(name, key);
    name += ':';
    while (!isNew(line, name))
        name.insert(name.size() - 2, 1, '_');
    line += name;
}

void TraceEvent::appendText(std::string text) {
    if (event_->longestText > 0 && text.size() > event_->longestText)
        text.replace(event_->longestText, std::string::npos, "...");
    appendJsonString(event_->line, text);
}

TraceEvent& TraceEvent::setMaxFieldLength(int bytes) {
    if (event_)
        event_->longestText = static_cast<std::size_t>(std::max(bytes, 0));
    return *this;
}

TraceEvent& TraceEvent::setMaxEventLength(int bytes) {
    if (event_)
        event_->longestLine = static_cast<std::size_t>(std::max(bytes, 0));
    return *this;
}

TraceEvent& TraceEvent::trackLatest(std::string_view key) {
    if (event_)
        event_->latest = key;
    return *this;
}

std::string trace::latestEvent(std::string_view key) {
    auto place = latestEvents.find(key);
    return place == latestEvents.end() ? std::string() : place->second;
}

void trace::addToEachEvent(std::string key, std::string value) {
    auto place =
        std::find_if(detailsOfEach.begin(), detailsOfEach.end(), [&](auto const& it) { return it.first == key; });
    if (place == detailsOfEach.end())
        detailsOfEach.emplace_back(std::move(key), std::move(value));
    else
        place->second = std::move(value);
}

TraceInterval& TraceInterval::begin() {
    pairID = nondeterministicRandom()->randomUniqueID();
    count = 0;
    return *this;
}

TraceEvent& TraceEvent::detailf(const char* key, const char* pattern, ...) {
    if (!event_)
        return *this;
    char text[1024];
    va_list arguments;
    va_start(arguments, pattern);
    std::vsnprintf(text, sizeof text, pattern, arguments);
    va_end(arguments);
    return detail(key, text);
}

TraceEvent& TraceEvent::error(Error error, bool includeCancelled) {
    if (!event_ || !error.isValid())
        return *this;
    if (error.code() == error_code_actor_cancelled && !includeCancelled) {
        event_.reset();
        return *this;
    }
    detail("Error", error.name());
    detail("ErrorDescription", error.what());
    detail("ErrorCode", error.code());
    if (error.isInjectedFault())
        detail("ErrorIsInjectedFault", true);
    return *this;
}

TraceEvent& TraceEvent::sample(double probability, bool withRate) {
    static thread_local IRandom random(1);
    if (event_ && random.random01() >= probability)
        event_.reset();
    return withRate ? detail("SampleRate", probability) : *this;
}

TraceEvent& TraceEvent::suppressFor(Seconds seconds, bool withCount) {
    if (!event_)
        return *this;
    double time = hasLoop() ? Loop::current().now() : machineTime();
    auto [place, isNew] = suppressions.try_emplace(event_->type);
    Suppression& state = place->second;
    // If the time is before that of the last event, it is the time of another loop, which has not had the event.
    if (!isNew && time < state.until && time >= state.until - seconds) {
        ++state.count;
        event_.reset();
        return *this;
    }
    if (state.count > 0 && withCount)
        detail("SuppressedEventCount", state.count);
    state = {time + seconds, 0};
    return *this;
}

} // namespace flow
