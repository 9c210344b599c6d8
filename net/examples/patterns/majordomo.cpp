#include "net/examples/patterns/majordomo.h"

#include "flow/flow.h"
#include "flow/sync/ticks.h"

#include <algorithm>

using namespace flow;
using namespace flow::net;

namespace {

/// Returns a ticket that is unique, even after restarts of the broker.
std::string newTicket() {
    return (Loop::current().isSimulated() ? deterministicRandom() : nondeterministicRandom())
        ->randomUniqueID()
        .toString();
}

} // namespace

Broker::Broker(std::string const& endpoint) : router_(SocketType::Router, beating()) {
    router_.bind(endpoint);
}

/// Sends a message. Drops it if the peer reads so slowly that the limit of unsent messages is reached.
void Broker::send(Message message) {
    (void)router_.trySend(message);
}

void Broker::answer(std::string const& client, std::string_view status, Message const& parts, std::size_t first) {
    Message message = Message::to(client).add("").add(status);
    send(addParts(message, parts, first));
}

void Broker::refuse(std::string const& client, std::string_view why) {
    answer(client, "ERROR", Message(why), 0);
}

void Broker::clientCame(Message const& message) { // its parts: an empty part, the service, the question's parts
    std::string client(message.routingId());
    if (message.parts() < 2)
        return refuse(client, "a question begins with the name of a service");
    Service& service = services_[std::string(message[1])];
    Message parts;
    service.questions.push_back({client, addParts(parts, message, 2), now()});
    giveWork(service);
}

void Broker::giveWork(Service& service) {
    while (!service.questions.empty() && !service.idle.empty()) {
        Question question = std::move(service.questions.front());
        service.questions.pop_front();
        std::string name = std::move(service.idle.front());
        service.idle.pop_front();
        std::string ticket = newTicket();
        Message work = Message::to(name).add("WORK").add(ticket);
        Worker& worker = workers_.at(name);
        worker.client = question.client;
        worker.ticket = std::move(ticket);
        send(addParts(work, question.parts, 0));
    }
}

void Broker::isIdle(std::string const& name, Worker& worker) {
    worker.client.clear();
    worker.ticket.clear();
    Service& service = services_[worker.service];
    service.idle.push_back(name);
    giveWork(service);
}

void Broker::workerCame(Message const& message) {
    std::string name(message.routingId());
    std::string_view what = message[0];
    auto found = workers_.find(name);
    if (what == "READY" && message.parts() == 2) {
        if (found != workers_.end())
            forget(found);
        Worker& worker = workers_[name];
        worker = {std::string(message[1]), now(), {}, {}};
        return isIdle(name, worker);
    }
    if (found == workers_.end())
        return send(Message::to(name).add("UNKNOWN"));
    Worker& worker = found->second;
    worker.heard = now();
    if (what != "ANSWER" || message.parts() < 2 || message[1] != worker.ticket || worker.client.empty())
        return; // BEAT, or a late answer: the worker has sent READY since it got the question
    answer(worker.client, "OK", message, 2);
    isIdle(name, worker);
}

void Broker::forget(std::map<std::string, Worker>::iterator worker) {
    if (!worker->second.client.empty())
        refuse(worker->second.client, "the worker has gone");
    std::deque<std::string>& idle = services_[worker->second.service].idle;
    std::erase(idle, worker->first);
    workers_.erase(worker);
}

/// Sends BEAT each second. Removes workers that are silent, and refuses questions that have waited too long.
Future<Void> Broker::beat() {
    Ticks beats(kBeat);
    for (;;) {
        co_await beats.next();
        for (auto next = workers_.begin(); next != workers_.end();) {
            auto worker = next++;
            if (worker->second.heard + kSilence < now())
                forget(worker);
            else
                send(Message::to(worker->first).add("BEAT"));
        }
        for (auto& [name, service] : services_)
            while (!service.questions.empty() && service.questions.front().came + kWait < now()) {
                refuse(service.questions.front().client, "no worker is free for " + name);
                service.questions.pop_front();
            }
        std::erase_if(services_,
                      [](auto const& each) { return each.second.questions.empty() && each.second.idle.empty(); });
    }
}

Future<Void> Broker::run() {
    Scope scope;
    scope.spawn(beat());
    for (;;) {
        Message message = co_await router_.receive();
        if (message[0].empty())
            clientCame(message);
        else
            workerCame(message);
    }
}

Future<Void> majordomo(std::string endpoint) {
    Broker broker(endpoint);
    co_await broker.run();
}

// -------------------------------------------------------------------------------------------------------------------

namespace {

/// Sends BEAT each second. Ends when the broker has been silent for too long.
Future<Void> beatAndListen(MessageSocket* broker, double const* heard) {
    Ticks beats(kBeat);
    for (;;) {
        co_await beats.next();
        if (*heard + kSilence < now())
            co_return;
        Message beat("BEAT");
        (void)broker->trySend(beat);
    }
}

Future<Void> serve(MessageSocket* broker, std::string service, Answer work, double* heard) {
    Future<Void> sending = broker->send(Message("READY").add(service));
    std::deque<Message> jobs; // more than one if an earlier broker has sent a job, too
    Future<Message> working = Never();
    std::string ticket;
    for (;;) {
        auto first = co_await race(broker->receive(), working);
        if (first.index() == 1) {
            Message answer = Message("ANSWER").add(ticket);
            sending = broker->send(std::move(addParts(answer, std::get<1>(first), 0)));
            working = Never();
            ticket.clear();
        } else {
            Message& said = std::get<0>(first);
            *heard = now();
            if (said[0] == "UNKNOWN" && ticket.empty())
                sending = broker->send(Message("READY").add(service));
            else if (said[0] == "WORK" && said.parts() >= 2)
                jobs.push_back(said.own());
        }
        if (ticket.empty() && !jobs.empty()) {
            ticket = jobs.front()[1];
            Message question;
            working = work(std::move(addParts(question, jobs.front(), 2)));
            jobs.pop_front();
        }
    }
}

} // namespace

Future<Void> majordomoWorker(std::string endpoint, std::string service, Answer work) {
    for (;;) {
        MessageSocket broker(SocketType::Dealer, beating());
        broker.connect(endpoint);
        double heard = now();
        (void)co_await race(serve(&broker, service, work, &heard), beatAndListen(&broker, &heard));
        co_await delay(kBeat); // the broker has gone, or cannot be reached
    }
}
