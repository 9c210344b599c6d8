#include "flow/sim/digest.h"

#include "flow/base/format.h"
#include "flow/sim/faults.h"

namespace flow {
namespace {

const char* nameOf(EventKind kind) {
    switch (kind) {
    case EventKind::Task:
        return "a step";
    case EventKind::Message:
        return "a message";
    case EventKind::Fault:
        return "the fault";
    case EventKind::Start:
        return "the start of a process";
    case EventKind::End:
        return "the end of a process";
    case EventKind::Note:
        return "a note";
    }
    return "?";
}

} // namespace

std::string SimulationEvent::toString() const {
    std::string text = format("%s at %.9f s in process %u", nameOf(kind), time, process);
    if (kind == EventKind::Fault)
        text += format(", %s", faultName(static_cast<FaultKind>(priority)));
    else if (kind == EventKind::Task)
        text += format(", priority %d", priority);
    else if (kind == EventKind::End)
        text += priority < 0 ? std::string(", stopped") : format(", exit code %d", priority);
    return text + format(", detail %016llx", static_cast<unsigned long long>(detail));
}

void Record::differs(std::size_t number, SimulationEvent const& event, std::string const& description) {
    std::string before = number < first_->events_.size() ? first_->events_[number].toString() : "nothing more";
    difference_ = format("event %zu was %s; now it is %s", number, before.c_str(), event.toString().c_str());
    if (!description.empty())
        *difference_ += " (" + description + ")";
}

void Record::finish() {
    if (first_ && !difference_ && next_ < first_->events_.size())
        difference_ =
            format("event %zu was %s; now there is nothing more", next_, first_->events_[next_].toString().c_str());
}

} // namespace flow
