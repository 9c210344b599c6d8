#include "net/http/router.h"

#include "net/http/detail/service.h"
#include "net/http/detail/syntax.h"

#include <optional>
#include <set>
#include <vector>

namespace flow::net::http {
namespace {

/// A part of a pattern: a text, "{name}" or "{name...}".
struct Part {
    enum class Kind : std::uint8_t { Text, One, Rest };
    Kind kind;
    std::string text;
};

} // namespace

struct Router::Route {
    std::string method, pattern;
    std::vector<Part> parts;
    HandlerToTheEnd handler;
};
struct Router::Routes {
    std::vector<Route> all;
    HandlerToTheEnd otherwise;
};

namespace {

/// Splits a path: "/a/b/" has the parts "a", "b" and "".
std::vector<std::string_view> partsOf(std::string_view path) {
    std::vector<std::string_view> parts;
    do {
        path.remove_prefix(1);
        parts.push_back(path.substr(0, path.find('/')));
        path.remove_prefix(parts.back().size());
    } while (!path.empty());
    return parts;
}

Error wrongPattern(std::string_view pattern, std::string_view rule) {
    return invalid_option_value().withSentence("Router: the pattern \"" + std::string(pattern) +
                                               "\": " + std::string(rule));
}

/// Returns the values for the names in a pattern; nothing if the path does not match.
std::optional<PathParameters> match(std::vector<Part> const& pattern, std::vector<std::string> const& path) {
    PathParameters found;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (i >= path.size())
            return {};
        if (pattern[i].kind == Part::Kind::Rest) {
            std::string rest = path[i];
            for (std::size_t next = i + 1; next < path.size(); ++next)
                rest += "/" + path[next];
            found.add(pattern[i].text, std::move(rest));
            return found;
        }
        if (pattern[i].kind == Part::Kind::Text ? pattern[i].text != path[i] : path[i].empty())
            return {};
        if (pattern[i].kind == Part::Kind::One)
            found.add(pattern[i].text, path[i]);
    }
    return pattern.size() == path.size() ? std::optional(std::move(found)) : std::nullopt;
}

} // namespace

Router::Router() : routes_(std::make_shared<Routes>()) {}

Router& Router::add(std::string_view method, std::string_view pattern, HandlerToTheEnd handler) {
    if (!detail::isToken(method))
        throw invalid_option_value().withSentence("Router: the method \"" + std::string(method) + "\" is no token");
    if (!pattern.starts_with('/'))
        throw wrongPattern(pattern, "it must begin with /");
    for (Route const& each : routes_->all)
        if (each.method == method && each.pattern == pattern)
            throw wrongPattern(pattern, "it was added before for " + each.method);
    Route route{std::string(method), std::string(pattern), {}, std::move(handler)};
    for (std::string_view part : partsOf(pattern)) {
        if (!route.parts.empty() && route.parts.back().kind == Part::Kind::Rest)
            throw wrongPattern(pattern, "nothing can follow {...}");
        if (part.find_first_of("{}") == std::string_view::npos) {
            route.parts.push_back({Part::Kind::Text, std::string(part)});
            continue;
        }
        bool isRest = part.ends_with("...}");
        std::string_view name = part.substr(1, part.size() < 2 ? 0 : part.size() - (isRest ? 5 : 2));
        if (!part.starts_with('{') || !part.ends_with('}') || name.empty() ||
            name.find_first_of("{}") != std::string_view::npos)
            throw wrongPattern(pattern, "a name is a whole part, as in /{name}/ or /{name...}");
        route.parts.push_back({isRest ? Part::Kind::Rest : Part::Kind::One, std::string(name)});
    }
    routes_->all.push_back(std::move(route));
    return *this;
}

Router& Router::add(std::string_view method, std::string_view pattern, Handler handler) {
    return add(method, pattern, detail::toTheEnd(std::move(handler)));
}

Router& Router::otherwise(Handler handler) {
    routes_->otherwise = detail::toTheEnd(std::move(handler));
    return *this;
}

Future<Response> Router::operator()(Request request, Event* ending) const {
    std::string_view path = pathOfTarget(request.target);
    std::vector<std::string> parts;
    if (path.starts_with('/'))
        for (std::string_view part : partsOf(path)) {
            std::optional<std::string> decoded = decodePercent(part);
            if (!decoded || decoded->find('\0') != std::string::npos)
                return detail::refusalOf({400, "the path is wrongly encoded"});
            parts.push_back(std::move(*decoded));
        }
    std::set<std::string_view> allowed;
    Route const* chosen = nullptr;
    auto choose = [&](Route const& route, PathParameters& found) {
        chosen = &route;
        request.path = std::move(found);
    };
    for (Route const& route : routes_->all) {
        std::optional<PathParameters> found = match(route.parts, parts);
        if (!found)
            continue;
        if (route.method == request.method) {
            choose(route, *found);
            break;
        }
        if (route.method == "GET" && request.method == "HEAD" && !chosen)
            choose(route, *found);
        allowed.insert(route.method);
        if (route.method == "GET")
            allowed.insert("HEAD");
    }
    if (chosen) {
        if (request.exchange)
            request.exchange->route = chosen->pattern;
        return chosen->handler(std::move(request), ending);
    }
    if (!allowed.empty()) {
        std::string methods;
        for (std::string_view method : allowed)
            methods += (methods.empty() ? "" : ", ") + std::string(method);
        Response response = detail::refusalOf({405, "the method is not for this path"});
        response.headers.add("Allow", methods);
        return response;
    }
    if (routes_->otherwise)
        return routes_->otherwise(std::move(request), ending);
    return detail::refusalOf({404, "there is nothing at this path"});
}

} // namespace flow::net::http
