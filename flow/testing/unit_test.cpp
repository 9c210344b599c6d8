#include "flow/testing/unit_test.h"

#include "flow/base/parse_number.h"

#include <charconv>

namespace flow {
namespace {

template <class Number>
Optional<Number> parse(Optional<std::string> const& text) {
    if (!text.present())
        return {};
    if (auto number = parseNumber<Number>(*text))
        return *number;
    throw invalid_option_value();
}

} // namespace

constinit UnitTestCollection g_unittests{nullptr};

UnitTest::UnitTest(char const* testName, char const* inFile, int atLine, Function function) noexcept
    : name(testName), file(inFile), line(atLine), func(function), next(g_unittests.tests) {
    g_unittests.tests = this;
}

void UnitTestParameters::set(std::string const& name, double value) {
    char text[32];
    auto [end, failure] = std::to_chars(text, text + sizeof text, value);
    set(name, std::string(text, end));
}

Optional<std::string> UnitTestParameters::get(std::string const& name) const {
    auto found = values_.find(name);
    return found == values_.end() ? Optional<std::string>() : Optional<std::string>(found->second);
}

Optional<std::int64_t> UnitTestParameters::getInt(std::string const& name) const {
    return parse<std::int64_t>(get(name));
}

Optional<double> UnitTestParameters::getDouble(std::string const& name) const {
    return parse<double>(get(name));
}

} // namespace flow
