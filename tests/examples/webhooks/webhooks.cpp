#include "webhooks.h"

#include "flow/base/parse_number.h"
#include "flow/trace/metrics.h"
#include "net/http/metrics.h"
#include "net/http/router.h"

#include <optional>

using namespace flow;
using namespace flow::net;

FLOW_ERROR(receiver_failed, 10001, "the receiver has failed");
FLOW_ERROR(receiver_refused, 10002, "the receiver refuses the event");

namespace {

bool mayRetry(Error error) {
    return error.code() != error_code_receiver_refused;
}

http::Response answer(int status, std::string text) {
    http::Response response;
    response.status = status;
    response.headers.add("Content-Type", "text/plain; charset=utf-8");
    response.body = std::move(text) + "\n";
    return response;
}

struct Receiver {
    Receiver(std::string const& name, std::string target, Semaphore& host)
        : url(std::move(target)), places(host), labels{{"receiver", name}} {}

    std::string url;
    Semaphore& places; // all receivers of a host share them
    metrics::Labels labels;
    metrics::Counter delivered{"webhooks_delivered_total", "Events that were delivered.", labels};
    metrics::Counter failed{"webhooks_failed_attempts_total", "Attempts that have failed.", labels};
    metrics::Counter dead{"webhooks_dead_total", "Events that became dead letters.", labels};
};

class Webhooks {
public:
    Webhooks(WebhookOptions options, Reference<Outbox> outbox);
    http::Router routes();
    /// Begins no more attempts, and waits until those that run have ended.
    Future<Void> end();

private:
    Future<Void> begin(Letter letter);
    Future<Void> deliver(std::uint64_t number, Future<Void> written);
    Future<Void> attempt(std::uint64_t number);
    Future<Void> post(Receiver* receiver, Letter const* letter);

    Future<http::Response> accept(http::Request request);
    Future<http::Response> listDead();
    Future<http::Response> changeDead(http::Request request);

    WebhookOptions options_;
    Reference<Outbox> outbox_;
    http::Client client_;
    std::map<std::string, Semaphore> hosts_;
    std::map<std::string, Receiver> receivers_;
    Scope attempts_{OnError::Collect};   // requests that are under way: they outlive a cancel of `deliveries_`
    Scope deliveries_{OnError::Collect}; // a child for each event, which waits between its attempts
};

http::ClientOptions clientOptions(WebhookOptions const& options) {
    http::ClientOptions client = options.client;
    client.connections = options.attemptsPerHost;
    client.timeout = options.attemptTime;
    client.redirects = 0; // a redirected POST could become a GET, which delivers nothing
    return client;
}

Webhooks::Webhooks(WebhookOptions options, Reference<Outbox> outbox)
    : options_(std::move(options)), outbox_(std::move(outbox)), client_(clientOptions(options_)) {
    options_.retry.retries = mayRetry;
    for (auto const& [name, url] : options_.receivers) {
        Semaphore& host = hosts_.try_emplace(http::Url::parse(url).origin(), options_.attemptsPerHost).first->second;
        receivers_.try_emplace(name, name, url, host);
    }
    for (auto const& [number, letter] : outbox_->letters()) // those of an earlier life
        if (letter.dead.empty())
            deliveries_.spawn(deliver(number, Void()));
}

http::Router Webhooks::routes() {
    http::Router router;
    auto change = [this](http::Request request) { return changeDead(std::move(request)); };
    router.add("POST", "/events/{receiver}", [this](http::Request request) { return accept(std::move(request)); });
    router.add("GET", "/dead", [this](http::Request) { return listDead(); });
    router.add("POST", "/dead/{number}", change);
    router.add("DELETE", "/dead/{number}", change);
    router.add("GET", "/health", [this](http::Request) -> Future<http::Response> {
        return answer(200, format("ok, %zu events and dead letters", outbox_->letters().size()));
    });
    router.add("GET", "/metrics", [](http::Request) -> Future<http::Response> { return answer(200, metrics::text()); });
    return router;
}

Future<http::Response> Webhooks::accept(http::Request request) {
    Letter letter;
    letter.receiver = request.path["receiver"];
    if (!receivers_.contains(letter.receiver))
        co_return answer(404, "there is no receiver of this name");
    letter.body = co_await request.body.text(options_.bodyBytes);
    if (outbox_->letters().size() >= options_.most) {
        http::Response full = answer(503, "too many events wait");
        full.headers.add("Retry-After", "60");
        co_return std::move(full);
    }
    letter.number = outbox_->nextNumber();
    letter.type = request.headers.get("Content-Type", "application/octet-stream");
    letter.key = request.headers.get("Idempotency-Key");
    if (letter.key.empty())
        letter.key = deterministicRandom()->randomUniqueID().toString();
    std::string key = letter.key;
    Future<Void> written = begin(std::move(letter));
    co_await written;
    co_return answer(202, key);
}

/// Ready when the event is in the store. The delivery goes on without the future, so that a sender that is gone has
/// no effect.
Future<Void> Webhooks::begin(Letter letter) {
    std::uint64_t number = letter.number;
    Future<Void> written = outbox_->put(std::move(letter));
    deliveries_.spawn(deliver(number, written));
    return written;
}

Future<Void> Webhooks::deliver(std::uint64_t number, Future<Void> written) {
    co_await written;
    auto attemptIt = [this, number] { return attempt(number); };
    Future<Void> delivering = retry(options_.retry, attemptIt);
    ErrorOr<Void> delivered = co_await tryGet(std::move(delivering));
    if (!delivered.isError())
        co_return;
    if (delivered.isError(error_code_actor_cancelled)) // the service ends: what is not delivered stays
        throw actor_cancelled();
    Letter letter = outbox_->letters().at(number);
    letter.dead = delivered.getError().what();
    if (auto receiver = receivers_.find(letter.receiver); receiver != receivers_.end())
        receiver->second.dead.add();
    co_await outbox_->put(std::move(letter));
}

Future<Void> Webhooks::attempt(std::uint64_t number) {
    Letter const& letter = outbox_->letters().at(number);
    auto receiver = receivers_.find(letter.receiver);
    if (receiver == receivers_.end()) // it was there when the event came
        throw receiver_refused().withSentence("there is no receiver of this name");
    Semaphore::Permit place = co_await receiver->second.places.permit(); // this wait is no part of the attempt's time
    Future<Void> posting = post(&receiver->second, &letter);
    attempts_.spawn(errorOr(posting));
    co_await posting;
}

Future<Void> Webhooks::post(Receiver* receiver, Letter const* letter) {
    http::Request request;
    request.method = "POST";
    request.headers = {{"Content-Type", letter->type}, {"Idempotency-Key", letter->key}};
    request.body = letter->body;
    Future<http::Response> sending = client_.send(std::move(request), receiver->url);
    ErrorOr<http::Response> sent = co_await tryGet(std::move(sending));
    int status = sent.isError() ? 0 : sent.get().status;
    if (status >= 200 && status < 300) {
        receiver->delivered.add();
        co_await outbox_->remove(letter->number);
        co_return;
    }
    receiver->failed.add();
    if (sent.isError())
        throw sent.getError();
    std::string sentence = format("the receiver has answered %d", status);
    bool isForNow = status >= 500 || status == 408 || status == 425 || status == 429;
    throw(isForNow ? receiver_failed() : receiver_refused()).withSentence(sentence);
}

Future<http::Response> Webhooks::listDead() {
    std::string lines;
    for (auto const& [number, letter] : outbox_->letters())
        if (!letter.dead.empty())
            lines += format("%llu ", static_cast<unsigned long long>(number)) + letter.receiver + " " + letter.key +
                     ": " + letter.dead + "\n";
    http::Response response;
    response.headers.add("Content-Type", "text/plain; charset=utf-8");
    response.body = lines;
    return response;
}

Future<http::Response> Webhooks::changeDead(http::Request request) {
    std::optional<std::uint64_t> number = parseNumber<std::uint64_t>(request.path["number"]);
    auto found = outbox_->letters().find(number.value_or(0));
    if (found == outbox_->letters().end() || found->second.dead.empty())
        co_return answer(404, "there is no dead letter of this number");
    bool isAgain = request.method == "POST";
    Letter letter = found->second;
    letter.dead.clear();
    Future<Void> written = isAgain ? begin(std::move(letter)) : outbox_->remove(*number);
    co_await written;
    co_return answer(isAgain ? 202 : 200, isAgain ? "it is delivered again" : "it is forgotten");
}

Future<Void> Webhooks::end() {
    deliveries_.close();
    bool isDone = co_await attempts_.drain(options_.attemptTime);
    (void)isDone;
}

} // namespace

Future<Void> serveWebhooks(Reference<Listener> listener, Reference<Outbox> outbox, WebhookOptions options,
                           Future<Void> stop) {
    Webhooks webhooks(options, outbox);
    http::ServerMetrics metrics({.server = "webhooks", .accessLog = true});
    http::ServerOptions limits{.bodyBytes = options.bodyBytes};
    metrics.watch(limits);
    Future<Void> serving = http::serve(listener, webhooks.routes(), limits, stop);
    auto first = co_await race(serving, outbox->broken());
    if (first.index() == 1)
        throw outbox->error();
    co_await webhooks.end();
}
