#pragma once
// NumberRange: a range of numbers on a command line, for seeds and for faults.
//
//     NumberRange seeds = NumberRange::parse("0..99");      // or "7", which is 7..7

#include <cstdint>
#include <string_view>

namespace flow {

struct NumberRange {
    std::uint64_t first = 0, last = 0; // both are included

    /// Throws std::invalid_argument, with a description, if `text` is no range.
    static NumberRange parse(std::string_view text);
    bool contains(std::uint64_t number) const { return first <= number && number <= last; }
};

} // namespace flow
