#include "flow/trace/detail/step_log.h"

#include "flow/diag/detail/symbol.h"
#include "flow/wait/long_steps.h"

#include <unordered_map>

namespace flow::trace {
namespace {

char const* nameOf(WokenBy by) {
    switch (by) {
    case WokenBy::Timer:
        return "timer";
    case WokenBy::Post:
        return "post";
    case WokenBy::News:
        return "news";
    default:
        return "wakes";
    }
}

} // namespace

/// The names of actors, by the address of their code. A cache, since the search for a name reads the program's file.
class StepLog::Names {
public:
    std::string const& of(void const* code) {
        auto [place, isNew] = known_.try_emplace(code);
        if (isNew) {
            char name[160];
            actorNameAt(code, name, sizeof name);
            place->second = name;
        }
        return place->second;
    }

private:
    // nondeterminism: no code iterates over this map.
    std::unordered_map<void const*, std::string> known_;
};

StepLog::StepLog(std::size_t bytes, CycleClock& clock) : StepRing(bytes, clock, codeOfStep) {}

void StepLog::writeTo(PerfettoTrace& out, std::uint64_t track) const {
    clock_.measure();
    struct Item {
        Event event;
        std::uint32_t flow = 0;                 // the arrow that ends at this step, or begins at this wake-up
        std::vector<std::uint32_t> starts = {}; // the arrows to the waiters that this step woke
    };
    std::vector<Item> items;
    std::vector<std::size_t> open;                        // running steps, as indices of `items`
    std::unordered_map<WaiterNode*, std::uint32_t> woken; // nondeterminism: no code iterates over it
    std::uint32_t flows = 0;
    for (Event const& event : inOrder()) {
        Item item{event};
        if (event.kind == Kind::Woken) {
            item.flow = woken[event.waiter] = ++flows;
            if (static_cast<WokenBy>(event.value) == WokenBy::Step && !open.empty()) {
                items[open.back()].starts.push_back(item.flow);
                continue;
            }
        } else if (event.kind == Kind::Begin || event.kind == Kind::End) {
            while (!open.empty() && items[open.back()].event.depth >= event.depth) {
                items.push_back({{event.time, nullptr, nullptr, 0, Kind::End, 0}});
                open.pop_back();
            }
            if (event.kind == Kind::End)
                continue;
            if (auto place = woken.find(event.waiter); place != woken.end()) {
                item.flow = place->second;
                woken.erase(place);
            }
            open.push_back(items.size());
        }
        items.push_back(std::move(item));
    }
    Names names;
    for (Item const& item : items) {
        std::uint64_t time = clock_.nanoseconds(item.event.time);
        if (item.event.kind == Kind::Begin)
            out.begin(track, time, names.of(item.event.what),
                      {.starts = item.starts, .ends = item.flow, .key = "priority", .number = item.event.value});
        else if (item.event.kind == Kind::End)
            out.end(track, time);
        else
            writeInstant(out, track, time, item.event, item.flow, names);
    }
}

void StepLog::writeInstant(PerfettoTrace& out, std::uint64_t track, std::uint64_t time, Event const& event,
                           std::uint32_t flow, Names& names) {
    auto* text = static_cast<char const*>(event.what);
    switch (event.kind) {
    case Kind::Begin:
    case Kind::End:
        break;
    case Kind::Woken:
        return out.instant(track, time, nameOf(static_cast<WokenBy>(event.value)),
                           {.starts = {flow}, .category = "wake"});
    case Kind::Failed:
        return out.instant(track, time, std::string("error ") + Error(event.value).name() + " in " + names.of(text),
                           {.category = "error", .key = "code", .number = event.value});
    case Kind::Cancelled:
        return out.instant(track, time, "cancel " + names.of(text), {.category = "cancel"});
    case Kind::Mark:
        return out.instant(track, time, text, {.category = "mark"});
    case Kind::Fault:
        return out.instant(track, time, text, {.category = "fault"});
    }
}

} // namespace flow::trace
