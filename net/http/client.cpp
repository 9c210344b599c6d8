#include "net/http/client.h"

#include "flow/base/format.h"
#include "flow/base/random.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/http/detail/client_connection.h"
#include "net/http/detail/open_connection.h"
#include "net/http/detail/request_span.h"
#include "net/http/detail/syntax.h"

#include <algorithm>
#include <array>
#include <map>

namespace flow::net::http {
namespace {

using ClientPool = Pool<detail::ClientConnection>;

// Limits for requests that an HTTP/2 server refuses. The longest pause grows by kRefusedPause seconds each time.
constexpr int kMostAttempts = 8;
constexpr double kRefusedPause = 0.1;
constexpr std::size_t kRedirectBytes = 16384; // so much of a redirect's body is read, to keep the connection usable

bool isOneOf(auto const& value, auto const& values) {
    return std::find(std::begin(values), std::end(values), value) != std::end(values);
}

void checkOptions(ClientOptions const& options) {
    auto check = [](bool isValid, char const* option, std::string const& value, char const* rule) {
        if (!isValid)
            throw wrongOption("ClientOptions", option, value, rule);
    };
    std::pair<char const*, Seconds> times[] = {{"connectTimeout", options.connectTimeout},
                                               {"firstByteTimeout", options.firstByteTimeout},
                                               {"idleTimeout", options.idleTimeout},
                                               {"timeout", options.timeout},
                                               {"keep", options.keep}};
    for (auto const& [option, seconds] : times)
        check(seconds > 0, option, format("%g", double(seconds)), "it must be more than 0");
    check(options.connections != 0, "connections", "0", "it must be at least 1");
    check(options.headBytes >= 64 && options.headBytes <= Connection::kLargestRead, "headBytes",
          std::to_string(options.headBytes), "it must be from 64 to 2^30");
    check(options.proxyAuthorization.empty() || !options.proxy.empty(), "proxyAuthorization", "set",
          "it needs a proxy");
    for (std::string const* value : {&options.userAgent, &options.proxyAuthorization})
        Headers().add("User-Agent", *value); // throws for a control character
}

void checkRequest(Request const& request) {
    auto refuse = [](std::string const& why) { throw invalid_option_value().withSentence("http::Client: " + why); };
    if (!detail::isToken(request.method) || request.method == "CONNECT")
        refuse("a request has a method that is no token, or CONNECT");
    for (char const* name : {"Content-Length", "Transfer-Encoding"})
        if (request.headers.has(name))
            refuse(std::string("a request has the field ") + name + ", which its body sets");
}

/// True if a server may handle the request twice without harm, or can see that it is the same request.
bool isIdempotent(Request const& request) {
    static constexpr std::array<std::string_view, 6> kMethods = {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"};
    return isOneOf(request.method, kMethods) || request.headers.has("Idempotency-Key");
}

/// Returns "GET http://example.org/jobs", without the query, which may have secrets.
std::string aboutOf(Request const& request, Url url) {
    constexpr std::size_t kShown = 200;
    url.target = url.path().substr(0, kShown);
    return request.method + " " + url.toString();
}

Future<Reference<detail::ClientConnection>> connectFor(std::shared_ptr<ClientOptions const> options,
                                                       std::shared_ptr<Url const> proxy, Url url) {
    Future<Encrypted> opening = detail::openConnection(options, std::move(proxy), url, true);
    Encrypted opened = co_await std::move(opening);
    if (options->plainHttp2 && !url.isSecure)
        opened.protocol = "h2";
    co_return detail::makeClientConnection(opened.connection, opened.protocol, url.isSecure, *options);
}

/// Returns the URL of a redirect, and changes the request for it. Returns nothing if there is no redirect to follow.
/// `hasStream`: the body cannot be sent again; false after a change to GET.
std::optional<Url> redirect(Response const& response, Url const& url, bool& hasStream, Request& request, Bytes& body) {
    static constexpr std::array<int, 5> kStatuses = {301, 302, 303, 307, 308};
    std::optional<std::string_view> location = response.headers.find("Location");
    if (!location || !isOneOf(response.status, kStatuses))
        return {};
    bool becomesGet =
        (response.status == 303 && request.method != "HEAD") || (response.status < 303 && request.method == "POST");
    if (hasStream && !becomesGet)
        return {};
    Url next = url.resolve(*location);
    if (becomesGet) {
        request.method = "GET";
        body = Bytes();
        hasStream = false;
        for (char const* name : {"Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Expect"})
            request.headers.remove(name);
    }
    if (next.origin() != url.origin())
        for (char const* name : {"Authorization", "Cookie", "Proxy-Authorization", "Host"})
            request.headers.remove(name);
    return next;
}

} // namespace

struct Client::State {
    std::shared_ptr<ClientOptions const> options;
    std::shared_ptr<Url const> proxy;
    std::map<std::string, std::unique_ptr<ClientPool>> pools; // by origin
    std::size_t sweepAt = 64; // at this number of pools, the pools without connections are removed
    bool isClosed = false;

    ClientPool& poolOf(Url const& url);
    static Future<Response> followInSpan(std::shared_ptr<State> self, Request request, std::string text);
    static Future<Response> follow(std::shared_ptr<State> self, Request request, std::string text);
    static Future<Response> answer(State* self, Request* request, Url const* url, Bytes body, double deadline);
    static Future<Reference<Connection>> open(std::shared_ptr<State> self, std::string text);
};

ClientPool& Client::State::poolOf(Url const& url) {
    if (isClosed)
        throw operation_obsolete().withSentence("the Client is closed");
    std::string origin = url.origin();
    auto found = pools.find(origin);
    if (found != pools.end())
        return *found->second;
    if (pools.size() >= sweepAt) {
        std::erase_if(pools, [](auto const& each) { return each.second->isUnused(); });
        sweepAt = 2 * pools.size() + 64;
    }
    auto make = [options = options, proxy = proxy, url]() { return connectFor(options, proxy, url); };
    PoolOptions<detail::ClientConnection> settings;
    settings.most = options->connections;
    settings.waiters = options->waiters;
    settings.idle = options->keep;
    settings.isHealthy = [](detail::ClientConnection& connection) { return connection.isHealthy(); };
    auto pool = std::make_unique<ClientPool>(std::move(make), std::move(settings));
    return *(pools[origin] = std::move(pool));
}

/// Sends the request, and sends it again if that is allowed. `body` is empty if the body is a stream.
Future<Response> Client::State::answer(State* self, Request* request, Url const* url, Bytes body, double deadline) {
    ClientOptions const& options = *self->options;
    bool hasStream = bool(request->body.source());
    detail::Attempt attempt{request,
                            url,
                            Body(),
                            aboutOf(*request, *url),
                            {options.firstByteTimeout, options.idleTimeout, deadline, options.headBytes,
                             options.headFields, options.bodyBytes}};
    for (int attempts = 1;; ++attempts) {
        bool wasKept = false;
        try {
            ClientPool& pool = self->poolOf(*url);
            Future<ClientPool::Lease> acquiring = attempts == 1 ? pool.acquire() : pool.acquireNew();
            auto first = co_await race(acquiring, delayUntil(deadline));
            if (first.index() == 1)
                throw timed_out().withSentence("no connection was free within `timeout`");
            ClientPool::Lease lease = std::get<0>(std::move(first));
            Reference<detail::ClientConnection> connection = lease.connection();
            wasKept = connection->requests++ != 0;
            attempt.body = hasStream ? std::move(request->body) : Body(body);
            Future<Response> answering = connection->send(std::move(lease), &attempt);
            Response response = co_await std::move(answering);
            co_return std::move(response);
        } catch (Error& error) {
            if (error == actor_cancelled())
                throw;
            bool wasRefused = error == retry(); // the server has not processed the request
            bool mayHaveIdled = attempts == 1 && wasKept && attempt.wasUnanswered && isIdempotent(*request);
            if (hasStream || !(mayHaveIdled || (wasRefused && attempts < kMostAttempts)))
                throw detail::errorAbout(attempt.about,
                                         wasRefused ? connection_failed().withSentence(error.what()) : error);
        }
        if (attempts > 1)
            co_await delayUntil(
                std::min(deadline, now() + kRefusedPause * attempts * deterministicRandom()->random01()));
    }
}

/// Sends a request that belongs to a trace. The span ends when the head of the answer has come.
Future<Response> Client::State::followInSpan(std::shared_ptr<State> self, Request request, std::string text) {
    trace::Span span = detail::beginClientSpan(request, text);
    try {
        Future<Response> answering = follow(self, std::move(request), std::move(text));
        Response response = co_await std::move(answering);
        detail::noteAnswer(span, response);
        co_return std::move(response);
    } catch (...) {
        span.error(currentError());
        throw;
    }
}

Future<Response> Client::State::follow(std::shared_ptr<State> self, Request request, std::string text) {
    checkRequest(request);
    Url url = Url::parse(text);
    std::string const& agent = self->options->userAgent;
    if (!agent.empty() && !request.headers.has("User-Agent"))
        request.headers.add("User-Agent", agent);
    double deadline = now() + self->options->timeout;
    bool hasStream = bool(request.body.source());
    Bytes body = hasStream ? Bytes() : request.body.takeBytes();
    for (std::size_t followed = 0;; ++followed) {
        Future<Response> answering = answer(self.get(), &request, &url, body, deadline);
        Response response = co_await std::move(answering);
        response.url = text;
        if (self->options->redirects == 0)
            co_return std::move(response);
        std::string about = aboutOf(request, url);
        std::optional<Url> next;
        try {
            next = redirect(response, url, hasStream, request, body);
        } catch (Error& error) {
            throw detail::errorAbout(about + ": the redirect", error);
        }
        if (!next)
            co_return std::move(response);
        if (followed == self->options->redirects)
            throw operation_failed().withSentence(
                format("%s: there are more than %zu redirects", about.c_str(), self->options->redirects));
        Future<std::string> rest = response.body.text(kRedirectBytes);
        (void)co_await tryGet(std::move(rest));
        url = std::move(*next);
        text = url.toString();
    }
}

Future<Reference<Connection>> Client::State::open(std::shared_ptr<State> self, std::string text) {
    Url url = Url::parse(text);
    Future<Encrypted> opening = detail::openConnection(self->options, self->proxy, url, false);
    Encrypted opened = co_await std::move(opening);
    if (!opened.protocol.empty() && opened.protocol != "http/1.1")
        throw unsupported_operation().withSentence("the server has chosen the protocol " + opened.protocol);
    co_return opened.connection;
}

Client::Client(ClientOptions options) : state_(std::make_shared<State>()) {
    checkOptions(options);
    if (!options.proxy.empty())
        state_->proxy = std::make_shared<Url const>(Url::parse(options.proxy));
    state_->options = std::make_shared<ClientOptions const>(std::move(options));
}

Client::~Client() {
    close();
}

Future<Response> Client::post(std::string url, Body body, std::string type) {
    Request request;
    request.method = "POST";
    try {
        request.headers.add("Content-Type", type);
    } catch (Error& error) {
        return error;
    }
    request.body = std::move(body);
    return send(std::move(request), std::move(url));
}

Future<Response> Client::send(Request request, std::string url) {
    auto send = detail::hasSpan(request) ? State::followInSpan : State::follow;
    return send(state_, std::move(request), std::move(url));
}

Future<Reference<Connection>> Client::connect(std::string url) {
    return State::open(state_, std::move(url));
}

void Client::close() noexcept {
    std::shared_ptr<State> state = state_; // a waiter may destroy the Client
    state->isClosed = true;
    for (auto const& [origin, pool] : state->pools)
        pool->close();
}

std::size_t Client::idle() const {
    std::size_t count = 0;
    for (auto const& [origin, pool] : state_->pools)
        count += pool->idle();
    return count;
}

} // namespace flow::net::http
