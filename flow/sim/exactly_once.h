#pragma once
// ExactlyOnce: checks that acknowledged requests were executed once, and all others at most once.
//
//     ExactlyOnce requests;
//     requests.sent(id);                       // in the client, before the first attempt; a retry may call it again
//     requests.executed(id, process);          // in the server, where the effect is, each time
//     requests.acknowledged(id);               // in the client, when the reply has come
//
//     ExactlyOnce::Report report = requests.check();           // when no request is under way
//     if (!report.ok())
//         std::fputs(report.text().c_str(), stderr);
//
//     request "r7" was acknowledged but executed 2 times:
//         sent, executed by "s1", acknowledged, executed by "s2"
//
// No request may be executed or acknowledged before it was sent. The calls must be in the order of the events.

#include "flow/base/non_copyable.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace flow {

class ExactlyOnce : NonCopyable {
public:
    void sent(std::string_view id) { add(id, {Kind::sent, {}}); }
    /// Notes that the client relies on the execution, and will not send the request again.
    void acknowledged(std::string_view id) { add(id, {Kind::acknowledged, {}}); }
    void executed(std::string_view id, std::string_view process) { add(id, {Kind::executed, std::string(process)}); }

    struct Offender {
        std::string id;
        std::string fault;               // for example `was acknowledged but never executed`
        std::vector<std::string> events; // the events of this request, in order, for example `executed by "s1"`

        std::string text() const;
    };
    struct Report {
        std::vector<Offender> offenders; // in the order of their first events; each has one fault
        /// The numbers of different requests, so that a test can check that it has tested something.
        std::size_t sent = 0, executed = 0, acknowledged = 0;

        bool ok() const { return offenders.empty(); }
        /// Returns two lines for each offender: its fault, and its events. Empty if there is no offender. The first
        /// line gives the signature of a SimulationFailure with this text.
        std::string text() const;
    };
    Report check() const;

private:
    enum class Kind { sent, acknowledged, executed };
    struct Event {
        Kind kind;
        std::string process;
    };
    struct Request {
        std::string id;
        std::vector<Event> events;
    };

    void add(std::string_view id, Event event);
    static std::string faultOf(std::vector<Event> const& events);

    std::vector<Request> requests_; // in the order of their first events
    std::map<std::string, std::size_t, std::less<>> indices_;
};

} // namespace flow
