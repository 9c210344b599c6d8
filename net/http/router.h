#pragma once
// Router: finds the handler for a method and a path.
//
//     Router router;
//     router.add("GET", "/jobs", listJobs);
//     router.add("GET", "/jobs/{id}", [&](Request request) { return show(request.path["id"]); });
//     router.add("GET", "/files/{name...}", sendFile);          // "{name...}" takes the rest of the path, with "/"
//     co_await http::serve(listener, router, {}, stop);
//
// A pattern is compared part by part, from "/" to "/", after each part of the path was decoded: "/jobs/a%2Fb" has the
// id "a/b". "{name}" stands for one part that is not empty. The first route that fits is taken, in the order of add().
// If none fits, the answer is 404; if some fit but for the method, 405 with their methods in Allow. HEAD is answered by
// the route of GET unless there is one of its own; the server leaves out the body. A path that is wrongly encoded is
// 400. Exchange::route is the pattern. Copies of a Router share its routes.

#include "net/http/server.h"

#include <memory>
#include <source_location>
#include <string>
#include <string_view>

namespace flow::net::http {

class Router {
public:
    Router();
    /// Adds a route. Throws invalid_option_value, with a sentence, if the pattern has another form, or if there is this
    /// route already.
    Router& add(std::string_view method, std::string_view pattern, Handler handler);
    Router& add(std::string_view method, std::string_view pattern, HandlerToTheEnd handler);
    /// Answers what no route fits, in place of 404.
    Router& otherwise(Handler handler);

    Future<Response> operator()(Request request, Event* ending) const;

private:
    struct Route;
    struct Routes;
    std::shared_ptr<Routes> routes_;
};

} // namespace flow::net::http
