#include "net/examples/patterns/paranoid_pirate.h"

#include "flow/flow.h"

#include <algorithm>

using namespace flow;
using namespace flow::net;

void IdleWorkers::add(std::string_view worker) {
    auto known = std::find_if(idle_.begin(), idle_.end(), [&](Idle const& idle) { return idle.worker == worker; });
    if (known != idle_.end()) {
        known->heard = now();
        return;
    }
    idle_.push_back({std::string(worker), now()});
    changed_.trigger();
}

void IdleWorkers::remove(std::string_view worker) {
    std::erase_if(idle_, [&](Idle const& idle) { return idle.worker == worker; });
}

void IdleWorkers::dropSilent() {
    std::erase_if(idle_, [](Idle const& idle) { return idle.heard + kSilence < now(); });
}

std::optional<std::string> IdleWorkers::take() {
    dropSilent();
    if (idle_.empty())
        return {};
    std::string worker = std::move(idle_.front().worker);
    idle_.erase(idle_.begin());
    return worker;
}

namespace {

struct Queue {
    MessageSocket clients, workers;
    IdleWorkers idle;

    Future<Void> giveWork();
    Future<Void> takeAnswers();
};

/// Sends questions to workers. While no worker is idle, one question waits here, and others in the clients' sockets.
Future<Void> Queue::giveWork() {
    for (;;) {
        Message question = co_await clients.receive();
        for (bool isSent = false; !isSent;) {
            std::optional<std::string> worker = idle.take();
            if (!worker) {
                co_await idle.onChange();
                continue;
            }
            Message job = Message::to(*worker).add(question.routingId());
            addParts(job, question, 0);
            try {
                isSent = workers.trySend(job); // false: the worker does not read; the next worker gets the question
            } catch (Error&) {                 // host_unreachable: the worker has gone
            }
        }
    }
}

Future<Void> Queue::takeAnswers() {
    for (;;) {
        Message said = co_await workers.receive();
        idle.add(said.routingId());
        if (said.parts() == 1)
            continue; // READY
        Message answer = Message::to(said[0]);
        (void)clients.trySend(addParts(answer, said, 1)); // lost if the client does not read: it must not stop others
    }
}

} // namespace

Future<Void> pirateQueue(std::string front, std::string back) {
    MessageOptions options = beating();
    options.routerMandatory = true; // sending to a worker that has gone is an error
    Queue queue{MessageSocket(SocketType::Router, beating()), MessageSocket(SocketType::Router, options), {}};
    queue.clients.bind(front);
    queue.workers.bind(back);
    Scope scope;
    scope.spawn(queue.giveWork());
    scope.spawn(queue.takeAnswers());
    co_await scope.join();
}

Future<Void> pirateWorker(std::string back, Answer work) {
    MessageOptions options = beating();
    options.immediate = true; // while the queue is not there, READYs must not pile up
    MessageSocket queue(SocketType::Dealer, options);
    queue.connect(back);
    for (;;) {
        co_await queue.send("READY");
        auto first = co_await race(queue.receive(), delay(kBeat));
        if (first.index() == 1)
            continue;
        Message const& job = std::get<0>(first); // the client, an empty part, the question
        Message question;
        Message answer = co_await work(std::move(addParts(question, job, 2)));
        Message reply(job[0]);
        co_await queue.send(addParts(reply.add(""), answer, 0));
    }
}
