#include "net/http/router.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;
using namespace flow::net::http;

namespace {

Handler saying(std::string text) {
    return [text](Request request) -> Future<Response> {
        return Response{.body = text + std::string(request.path["id"]) + std::string(request.path["name"])};
    };
}

struct Answer {
    int status;
    std::string body, allow, route;
};
Answer answerOf(Router const& router, std::string method, std::string target) {
    SimLoop loop;
    Exchange exchange;
    Request request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.exchange = &exchange;
    Response response = loop.run(router(std::move(request), nullptr));
    std::string body = loop.run(response.body.text(1000));
    return {response.status, body, std::string(response.headers.get("Allow")), std::string(exchange.route)};
}

std::string sentenceOf(std::string_view method, std::string_view pattern) {
    Router router;
    router.add("GET", "/twice", saying(""));
    try {
        router.add(method, pattern, saying(""));
    } catch (Error& error) {
        CHECK(error == invalid_option_value());
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("http router: method and path choose the handler") {
    Router router;
    router.add("GET", "/", saying("root"));
    router.add("GET", "/jobs", saying("all"));
    router.add("GET", "/jobs/new", saying("form"));
    router.add("GET", "/jobs/{id}", saying("one "));
    router.add("DELETE", "/jobs/{id}", saying("gone "));
    router.add("GET", "/files/{name...}", saying("file "));
    CHECK(answerOf(router, "GET", "/").body == "root");
    CHECK(answerOf(router, "GET", "/?a=b").body == "root");
    CHECK(answerOf(router, "GET", "http://a").body == "root");
    CHECK(answerOf(router, "GET", "http://a/jobs/7?x").body == "one 7");
    CHECK(answerOf(router, "GET", "/jobs").body == "all");
    CHECK(answerOf(router, "GET", "/jobs/new").body == "form");
    CHECK(answerOf(router, "GET", "/jobs/7").route == "/jobs/{id}");
    CHECK(answerOf(router, "GET", "/jobs/a%2Fb").body == "one a/b");
    CHECK(answerOf(router, "DELETE", "/jobs/7").body == "gone 7");
    CHECK(answerOf(router, "GET", "/files/a/b.txt").body == "file a/b.txt");
    CHECK(answerOf(router, "GET", "/files/").body == "file ");
    CHECK(answerOf(router, "HEAD", "/jobs/7").body == "one 7");
    for (char const* absent : {"/jobs/", "/jobs/7/", "/jobs/7/8", "/job", "//jobs", "/files", "*"})
        CHECK(answerOf(router, "GET", absent).status == 404);
    CHECK(answerOf(router, "GET", "/jobs/%4").status == 400);
    CHECK(answerOf(router, "GET", "/jobs/%00").status == 400);
    CHECK(answerOf(router, "POST", "/jobs/7").status == 405);
    CHECK(answerOf(router, "POST", "/jobs/7").allow == "DELETE, GET, HEAD");
    CHECK(answerOf(router, "HEAD", "/nothing").status == 404);
    for (char const* method : {"UNLOCK", "LOCK", "HEAD", "GET"}) // one name is a part of another
        router.add(method, "/{name}", saying(""));
    CHECK(answerOf(router, "POST", "/file").allow == "GET, HEAD, LOCK, UNLOCK");
    router.otherwise(saying("else"));
    CHECK(answerOf(router, "GET", "/nothing/7").body == "else");
    CHECK(answerOf(router, "POST", "/jobs/7").status == 405);
}

TEST_CASE("http router: a wrong pattern is refused with a sentence") {
    CHECK(sentenceOf("GET", "jobs") == "Router: the pattern \"jobs\": it must begin with /");
    CHECK(sentenceOf("GET", "/twice") == "Router: the pattern \"/twice\": it was added before for GET");
    CHECK(sentenceOf("POST", "/twice") == "");
    CHECK(sentenceOf("GET", "/{a...}/b") == "Router: the pattern \"/{a...}/b\": nothing can follow {...}");
    for (char const* wrong : {"/{a", "/a}", "/x{a}", "/{}", "/{...}", "/{a}{b}", "/{", "/}"})
        CHECK(sentenceOf("GET", wrong) == "Router: the pattern \"" + std::string(wrong) +
                                              "\": a name is a whole part, as in /{name}/ or /{name...}");
    CHECK(sentenceOf("G T", "/") == "Router: the method \"G T\" is no token");
}
