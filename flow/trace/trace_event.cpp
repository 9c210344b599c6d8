#include "flow/trace/trace_event.h"

#include "flow/base/random.h"
#include "flow/loop/loop.h"
#include "flow/trace/detail/bursts.h"
#include "flow/trace/detail/date.h"
#include "flow/trace/detail/event_receiver.h"
#include "flow/trace/request_value.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace flow {
namespace {

thread_local std::map<std::string, trace::Suppression> suppressions; // of suppressFor()
thread_local std::map<std::string, std::string, std::less<>> latestEvents;
thread_local std::vector<std::pair<std::string, std::string>> detailsOfEach;

constexpr std::size_t kBytesOfTooLong = 300;
constexpr std::size_t kFirstBytes = 300; // most lines need no more memory

/// Returns true if `name`, a key in the form `,"key":`, is allowed and not yet in the line. Text in a value
/// cannot equal `name`, because its quotes have a backslash. But the end of a value together with the next key can.
/// Then the result is false, and the new key gets a needless `_`.
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
    std::int64_t leftOut = 0;
    if (int most = trace::traceSink ? trace::traceSink->burst() : 0) {
        std::optional<std::int64_t> admitted = trace::traceSink->bursts().admit(type, most);
        if (!admitted)
            return;
        leftOut = *admitted;
    }
    event_ = std::make_unique<Event>(type, severity);
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
    if (leftOut > 0)
        detail("SuppressedEventCount", leftOut);
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
    std::size_t before = line.size();
    line += ',';
    appendJsonString(line, key);
    line += ':';
    auto isInLine = [&] {
        std::string_view all = line;
        return !isNew(all.substr(0, before), all.substr(before));
    };
    while (isInLine())
        line.insert(line.size() - 2, 1, '_');
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

TraceEvent& TraceEvent::request(RequestContext const& request) {
    if (event_)
        request.forEachInLog([this](char const* name, std::string const& text) { detail(name, text); });
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
    std::optional<std::int64_t> leftOut = suppressions[event_->type].admit(seconds, 1);
    if (!leftOut)
        event_.reset();
    else if (*leftOut > 0 && withCount)
        detail("SuppressedEventCount", *leftOut);
    return *this;
}

} // namespace flow
