#include "flow/sim/exactly_once.h"

#include "flow/memory/string_ref.h"

#include <algorithm>
#include <utility>

namespace flow {

void ExactlyOnce::add(std::string_view id, Event event) {
    auto found = indices_.find(id);
    if (found == indices_.end()) {
        found = indices_.emplace(id, requests_.size()).first;
        requests_.push_back({found->first, {}});
    }
    requests_[found->second].events.push_back(std::move(event));
}

/// Returns the fault of a request; empty if there is none.
std::string ExactlyOnce::faultOf(std::vector<Event> const& events) {
    bool sent = false, acknowledged = false;
    std::size_t executed = 0;
    for (Event const& event : events) {
        if (event.kind == Kind::sent)
            sent = true;
        else if (!sent)
            return event.kind == Kind::executed ? "was executed but not sent before"
                                                : "was acknowledged but not sent before";
        acknowledged |= event.kind == Kind::acknowledged;
        executed += event.kind == Kind::executed;
    }
    if (acknowledged && executed == 0)
        return "was acknowledged but never executed";
    if (executed > 1)
        return (acknowledged ? "was acknowledged but executed " : "was executed ") + std::to_string(executed) +
               " times";
    return {};
}

ExactlyOnce::Report ExactlyOnce::check() const {
    Report report;
    for (Request const& request : requests_) {
        auto has = [&](Kind kind) {
            return std::any_of(request.events.begin(), request.events.end(),
                               [&](Event const& event) { return event.kind == kind; });
        };
        report.sent += has(Kind::sent);
        report.executed += has(Kind::executed);
        report.acknowledged += has(Kind::acknowledged);
        std::string fault = faultOf(request.events);
        if (fault.empty())
            continue;
        Offender offender{request.id, std::move(fault), {}};
        for (Event const& event : request.events) {
            offender.events.push_back(event.kind == Kind::sent ? "sent"
                                      : event.kind == Kind::acknowledged
                                          ? "acknowledged"
                                          : "executed by \"" + printable(event.process) + '"');
        }
        report.offenders.push_back(std::move(offender));
    }
    return report;
}

std::string ExactlyOnce::Offender::text() const {
    std::string line = "request \"" + printable(id) + "\" " + fault + ":\n    ";
    for (std::string const& event : events)
        line += (&event == &events.front() ? "" : ", ") + event;
    return line + '\n';
}

std::string ExactlyOnce::Report::text() const {
    std::string lines;
    for (Offender const& offender : offenders)
        lines += offender.text();
    return lines;
}

} // namespace flow
