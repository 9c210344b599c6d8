#pragma once
// PerfettoTrace: writes Perfetto's format, which ui.perfetto.dev and trace_processor open.
//
//     PerfettoTrace trace;
//     std::uint64_t process = trace.addProcess("server", ::getpid());
//     std::uint64_t track = trace.addTrack("loop", process);
//     trace.begin(track, 1000, "serve", {.starts = {7}});
//     trace.end(track, 1500);
//     std::string bytes = trace.bytes();
//
// Times are in nanoseconds. On each track, add events in the order of time, and nest the intervals from begin() to
// end(). The joined bytes of several traces are one trace. All functions may throw std::bad_alloc.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace flow::trace {

class PerfettoTrace {
public:
    /// The optional parts of an event. A flow is an arrow between events of one track, and has a number.
    struct Details {
        std::vector<std::uint32_t> starts = {}; // flows that begin here
        std::uint32_t ends = 0;                 // the flow that ends here; 0: none
        char const* category = nullptr;
        char const* key = nullptr; // the name of `number`, which is shown with the event
        std::int64_t number = 0;
    };

    PerfettoTrace();

    std::uint64_t addProcess(std::string_view name, int pid);
    std::uint64_t addTrack(std::string_view name, std::uint64_t process);

    void begin(std::uint64_t track, std::uint64_t time, std::string_view name, Details const& details);
    void end(std::uint64_t track, std::uint64_t time);
    void instant(std::uint64_t track, std::uint64_t time, std::string_view name, Details const& details);

    std::string bytes() const;

private:
    class Message;

    std::uint64_t nameNumber(std::string_view name);
    void add(std::uint64_t time, Message const& event);
    void describe(Message const& descriptor);
    Message event(int type, std::uint64_t track, std::string_view name, Details const& details);

    std::uint64_t unique_; // a number that differs in each trace
    std::uint64_t tracks_ = 0;
    std::string descriptors_;
    std::string names_;
    std::string events_;
    // nondeterminism: no code iterates over this map.
    std::unordered_map<std::string, std::uint64_t> numbers_;
};

} // namespace flow::trace
