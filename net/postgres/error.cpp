#include "net/postgres/error.h"

#include <algorithm>
#include <string>

namespace flow::net::postgres {
namespace {

constexpr std::size_t kLength = 5; // of a SQLSTATE

bool isOfConnection(std::string_view state) {
    return state.empty() || state.starts_with("08") || state.starts_with("57P0") || state == "25P03";
}

} // namespace

std::string_view sqlState(Error const& error) {
    std::string_view sentence = error.what();
    auto isPart = [](char each) { return (each >= '0' && each <= '9') || (each >= 'A' && each <= 'Z'); };
    if (sentence.size() <= kLength || sentence[kLength] != ':' ||
        !std::all_of(sentence.begin(), sentence.begin() + kLength, isPart))
        return {};
    return sentence.substr(0, kLength);
}

Error errorOf(std::string_view state, std::string_view sentence) {
    while (sentence.ends_with('\n'))
        sentence.remove_suffix(1);
    std::string text = state.empty() ? std::string(sentence) : std::string(state).append(": ").append(sentence);
    Error error = isOfConnection(state) ? connection_failed()
                  : state == "40001"    ? serialization_failure()
                  : state == "40P01"    ? deadlock_detected()
                  : state == "23505"    ? unique_violation()
                  : state == "57014"    ? query_cancelled()
                                        : query_failed();
    return error.withSentence(text);
}

} // namespace flow::net::postgres
