#pragma once
// FaultFilter: the faults that a run may have. A fault is named by its kind and its number, from 0, among the faults of
// this kind in a run without a filter.
//
//     FaultFilter filter;
//     filter.only = SomeFaults::parse("clog:0,clog:4..6,diskFull");   // four faults `clog`, and all faults `diskFull`
//     filter.without = SomeFaults::parse("buggify");
//     world.setFilter(filter);
//
// If a fault is left out, all other faults keep their numbers, as long as the program behaves as it did before.

#include "flow/sim/detail/number_range.h"
#include "flow/sim/faults.h"

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
    /// Throws std::invalid_argument, with a description, if `text` is not a list as in the example above.
    static SomeFaults parse(std::string_view text);
    /// Returns the text that parse() takes; the kinds are in the order of FaultKind.
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
    std::optional<SomeFaults> only = {}; // if empty, all faults except `without` are admitted
    SomeFaults without = {};

    bool admits(FaultKind kind, std::uint64_t number) const {
        return (!only || only->contains(kind, number)) && !without.contains(kind, number);
    }
};

} // namespace flow
