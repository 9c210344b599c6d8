#pragma once
// Router: finds the handler for a method and a path.
//
//     Router router;
//     router.add("GET", "/jobs", listJobs);
//     router.add("GET", "/jobs/{id}", [&](Request request) { return show(request.path["id"]); });
//     router.add("GET", "/files/{name...}", sendFile);          // "{name...}" takes the rest of the path, with "/"
//     co_await http::serve(listener, router, {}, stop);
//
// The parts of a path, between "/", are decoded one by one and compared with those of a pattern: "/jobs/a%2Fb" has the
// id "a/b". "{name}" stands for one part that is not empty. If several routes match, the first one is called. Without a
// HEAD route, the GET route answers HEAD, and the server leaves out the body. The answer is 404 if no route matches the
// path, 405 with the possible methods in Allow if only the method does not match, and 400 if the path is wrongly
// encoded. Exchange::route is the pattern. Copies of a Router share its routes.

#include "net/http/server.h"

#include <memory>
#include <string>
#include <string_view>

namespace flow::net::http {

class Router {
public:
    Router();
    /// Adds a route. Throws invalid_option_value if the pattern is invalid, or if the route exists already.
    Router& add(std::string_view method, std::string_view pattern, Handler handler);
    Router& add(std::string_view method, std::string_view pattern, HandlerToTheEnd handler);
    /// Sets the handler for requests with a path that no route matches. By default they get 404.
    Router& otherwise(Handler handler);

    Future<Response> operator()(Request request, Event* ending) const;

private:
    struct Route;
    struct Routes;
    std::shared_ptr<Routes> routes_;
};

} // namespace flow::net::http
