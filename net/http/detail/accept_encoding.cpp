#include "net/http/detail/accept_encoding.h"

#include "net/http/detail/syntax.h"

#include <algorithm>
#include <optional>

namespace flow::net::http::detail {
namespace {

/// Returns the weight in thousandths: 500 for " q=0.5"; 1000 for no parameters; 0 for an invalid weight.
int weightOf(std::string_view parameters) {
    parameters = trimmed(parameters);
    if (parameters.empty())
        return 1000;
    if (parameters.size() < 3 || lower(parameters[0]) != 'q' || parameters[1] != '=')
        return 0;
    parameters.remove_prefix(2);
    bool isWhole = parameters[0] == '1' || parameters[0] == '0';
    if (!isWhole || (parameters.size() > 1 && parameters[1] != '.') || parameters.size() > 5)
        return 0;
    int weight = (parameters[0] - '0') * 1000, unit = 100;
    for (std::size_t i = 2; i < parameters.size(); ++i, unit /= 10) {
        if (parameters[i] < '0' || parameters[i] > '9')
            return 0;
        weight += (parameters[i] - '0') * unit;
    }
    return weight <= 1000 ? weight : 0;
}

} // namespace

bool acceptsGzip(std::string_view acceptEncoding) {
    std::optional<int> gzip, any, identity;
    anyElement(acceptEncoding, [&](std::string_view element) {
        std::size_t semicolon = std::min(element.find(';'), element.size());
        std::string_view coding = trimmed(element.substr(0, semicolon));
        int weight = weightOf(element.substr(std::min(semicolon + 1, element.size())));
        if (isSameName(coding, "gzip") || isSameName(coding, "x-gzip"))
            gzip = weight;
        else if (coding == "*")
            any = weight;
        else if (isSameName(coding, "identity"))
            identity = weight;
        return false;
    });
    int ours = gzip.value_or(any.value_or(0));
    return ours > 0 && ours >= identity.value_or(0);
}

} // namespace flow::net::http::detail
