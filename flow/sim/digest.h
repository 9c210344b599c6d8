#pragma once
// Digest: one number for all events of a simulated world and their order. Record: the list of events, to compare runs.
//
//     Record first;
//     World world(seed, faults, &first);      // ... runs ...
//     Record again(first);                    // compares
//     World second(seed, faults, &again);     // ... runs the same ...
//     CHECK(world.digest() == second.digest());
//     if (again.difference()) std::puts(again.difference()->c_str());
//
// The digest does not depend on compilers, addresses or the machine. The events of a step, and of the end of a process,
// contain the next random number, so the digest covers all random numbers. A timer has no event of its own.

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flow {

enum class EventKind : std::uint8_t { Task, Message, Fault, Start, End, Note };

/// An event: its time, its process (0: the world itself), and one or two numbers that depend on the kind.
struct SimulationEvent {
    double time = 0; // in the world's time
    std::uint64_t detail = 0;
    std::uint32_t process = 0;
    std::int32_t priority = 0;
    EventKind kind = EventKind::Task;

    bool operator==(SimulationEvent const&) const = default;
    std::string toString() const;
};

class Digest {
public:
    void add(SimulationEvent const& event) {
        ++events_;
        mix(std::bit_cast<std::uint64_t>(event.time));
        mix(event.detail);
        mix(std::uint64_t{event.process} << 32 ^ std::uint64_t(static_cast<std::uint32_t>(event.priority)) << 8 ^
            std::uint64_t(event.kind));
    }
    std::uint64_t value() const { return value_; }
    std::uint64_t events() const { return events_; }

private:
    /// Mixes `word` into the value, by a step of the finaliser of splitmix64.
    void mix(std::uint64_t word) {
        value_ = (value_ ^ word) * 0xBF58476D1CE4E5B9u;
        value_ ^= value_ >> 29;
    }

    std::uint64_t value_ = 0x6D696C6C72616365u;
    std::uint64_t events_ = 0;
};

/// Stores the first events of a run, or compares the events of a run with another record.
class Record {
public:
    /// The largest number of events of a record. An event takes 32 bytes.
    static constexpr std::size_t kMostEvents = 4'000'000;

    Record() = default;
    /// Makes a record that compares its events with those of `first`. `first` must outlive the new record.
    explicit Record(Record const& first) : first_(&first) {}
    Record& operator=(Record const&) = delete;
    /// Empties the record and reserves its memory, so that a simulation that measures memory does not see it grow.
    void reset() {
        events_.clear();
        events_.reserve(kMostEvents);
    }

    /// Stores or compares `event`. At the first event that differs, sets difference(), with the text of describe().
    template <class Describe>
    void add(SimulationEvent const& event, Describe&& describe) {
        if (!first_) {
            if (events_.size() < kMostEvents)
                events_.push_back(event);
            return;
        }
        std::size_t number = next_++;
        if (!difference_ && number < kMostEvents &&
            (number >= first_->events_.size() || !(first_->events_[number] == event)))
            differs(number, event, describe());
    }
    /// Must be called at the end of a run. If all events were equal, but the first run had more, sets difference().
    void finish();

    /// Returns a description of the first event that differs; empty if none of the first kMostEvents events differs.
    std::optional<std::string> const& difference() const { return difference_; }

private:
    void differs(std::size_t number, SimulationEvent const& event, std::string const& description);

    Record const* first_ = nullptr;
    std::vector<SimulationEvent> events_;
    std::size_t next_ = 0;
    std::optional<std::string> difference_;
};

} // namespace flow
