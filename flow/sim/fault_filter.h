#pragma once
// FaultFilter: which of its faults a run may have. Faults are named by their kind, and by their number among those of
// their kind that would be injected in the run, counted from 0.
//
//     FaultFilter filter;
//     filter.only = SomeFaults::parse("clog:0,clog:4..6,diskFull");   // these, and all faults of the last kind
//     filter.without = SomeFaults::parse("buggify");
//     world.setFilter(filter);
//
// That a fault is left out changes no number of another, as long as the program does the same.

#include "flow/sim/faults.h"
#include "flow/sim/number_range.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flow {

class SomeFaults {
public:
    /// Throws std::invalid_argument, which says what is wrong with the text.
    static SomeFaults parse(std::string_view text);
    /// What parse() takes: each kind in the order of FaultKind.
    std::string toString() const;

    void add(FaultKind kind, NumberRange numbers);
    bool contains(FaultKind kind, std::uint64_t number) const {
        auto const& some = ranges_[static_cast<std::size_t>(kind)];
        return std::any_of(some.begin(), some.end(), [&](NumberRange each) { return each.contains(number); });
    }

private:
    static constexpr NumberRange kAll{0, std::numeric_limits<std::uint64_t>::max()};

    std::array<std::vector<NumberRange>, kFaultKinds> ranges_;
};

struct FaultFilter {
    std::optional<SomeFaults> only = {}; // nothing: all
    SomeFaults without = {};

    bool admits(FaultKind kind, std::uint64_t number) const {
        return (!only || only->contains(kind, number)) && !without.contains(kind, number);
    }
};

} // namespace flow
