#include "flow/sim/detail/number_range.h"

#include "flow/base/parse_number.h"

#include <stdexcept>
#include <string>

namespace flow {
namespace {

std::uint64_t numberOf(std::string_view text) {
    if (auto number = parseNumber<std::uint64_t>(text))
        return *number;
    throw std::invalid_argument("no number: '" + std::string(text) + "'");
}

} // namespace

NumberRange NumberRange::parse(std::string_view text) {
    std::size_t dots = text.find("..");
    std::uint64_t first = numberOf(text.substr(0, dots));
    std::uint64_t last = dots == std::string_view::npos ? first : numberOf(text.substr(dots + 2));
    if (last < first)
        throw std::invalid_argument("the last comes before the first: '" + std::string(text) + "'");
    return {first, last};
}

} // namespace flow
