#include "net/http/detail/conditions.h"

#include "net/http/detail/dates.h"
#include "net/http/detail/syntax.h"

#include <algorithm>
#include <optional>
#include <string>

namespace flow::net::http::detail {
namespace {

/// Returns the values of all fields of this name, joined by commas.
std::optional<std::string> listOf(Headers const& headers, std::string_view name) {
    std::optional<std::string> all;
    for (auto field : headers) {
        if (!isSameName(field.name, name))
            continue;
        if (all)
            *all += ",";
        else
            all.emplace();
        *all += field.value;
    }
    return all;
}

/// True if the list has the tag. A strong comparison needs two strong tags; a weak one ignores W/.
bool matches(std::string_view list, std::string_view tag, bool isStrong) {
    if (list == "*")
        return true;
    auto isWeak = [](std::string_view text) { return text.starts_with("W/"); };
    auto opaque = [&](std::string_view text) { return text.substr(isWeak(text) ? 2 : 0); };
    if (isStrong && isWeak(tag))
        return false;
    for (;;) {
        list.remove_prefix(std::min(list.find_first_not_of(", \t"), list.size()));
        std::size_t quote = isWeak(list) ? 2 : 0;
        if (quote >= list.size() || list[quote] != '"')
            return false;
        std::size_t end = list.find('"', quote + 1); // a tag may have commas
        if (end == std::string_view::npos)
            return false;
        std::string_view each = list.substr(0, end + 1);
        if (opaque(each) == opaque(tag) && !(isStrong && isWeak(each)))
            return true;
        list.remove_prefix(end + 1);
    }
}

/// Returns the date in the field; nothing if there is no such field, or if its value is no date.
std::optional<std::int64_t> dateIn(Headers const& headers, std::string_view name) {
    auto field = headers.find(name);
    return field ? parseHttpDate(*field) : std::nullopt;
}

} // namespace

int failedCondition(Headers const& headers, Validators const& now) {
    if (auto list = listOf(headers, "If-Match")) {
        if (!matches(*list, now.tag, true))
            return 412;
    } else if (auto date = dateIn(headers, "If-Unmodified-Since"); date && now.modified > *date) {
        return 412;
    }
    if (auto list = listOf(headers, "If-None-Match"))
        return matches(*list, now.tag, false) ? 304 : 0;
    auto date = dateIn(headers, "If-Modified-Since");
    return date && now.modified <= *date ? 304 : 0;
}

bool rangesAreFor(Headers const& headers, Validators const& now) {
    auto field = headers.find("If-Range");
    if (!field)
        return true;
    if (field->starts_with('"') || field->starts_with("W/"))
        return matches(*field, now.tag, true);
    auto date = parseHttpDate(*field);
    return date && *date == now.modified && !now.tag.starts_with("W/");
}

} // namespace flow::net::http::detail
