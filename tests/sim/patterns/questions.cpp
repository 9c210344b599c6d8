#include "tests/sim/patterns/questions.h"
#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/loop.h"
#include "flow/trace/code_probe.h"
#include "flow/wait/delay.h"

#include <algorithm>
#include <iterator>
#include <memory>

namespace flow::net {
namespace {

constexpr double kUnrest = 30, kSettling = 20, kPeace = 10; // seconds
constexpr Patience kPatience{1.5, 3};

} // namespace

Faults ofNetworkAndProcesses(Faults const& all) {
    Faults some;
    for (auto kind : {&Faults::processKill, &Faults::processReboot, &Faults::processPause, &Faults::processSlow,
                      &Faults::partitionOneWay, &Faults::partitionTwoWay, &Faults::clog, &Faults::latencySpike,
                      &Faults::slowLink, &Faults::connectionRefused, &Faults::connectionHalfOpen,
                      &Faults::connectionReset, &Faults::shortRead, &Faults::mergedRead})
        some.*kind = all.*kind;
    return some;
}

std::string Questions::start(std::string name, std::function<Future<Void>()> main) {
    Process& process = world_.start({.name = std::move(name), .main = std::move(main), .restartAfter = 1});
    std::string address = Address(process.address(), 0).toString();
    return "tcp://" + address.substr(0, address.find(':'));
}

Future<Message> Questions::answerOne(Questions const* questions, Message question) {
    double luck = deterministicRandom()->random01();
    if (!questions->isPeace_ && luck < 0.02)
        co_await delay(10 * deterministicRandom()->random01()); // it hangs
    if (!questions->isPeace_ && luck > 0.99)
        throw io_error(); // it ends
    co_return Message("answer to " + std::string(question[0]));
}

Answer Questions::answer() const {
    return [this](Message question) { return answerOne(this, std::move(question)); };
}

Future<Void> Questions::askAll(std::string endpoint, int client, Make make, Read read) {
    lost_[client] = asked_[client] - ended_[client]; // a client that was started again asks anew
    Asker asker(std::move(endpoint), kPatience);
    for (;;) {
        std::string question = format("%d of %d", asked_[client]++, client);
        bool mustAnswer = mustAnswer_;
        double before = now();
        ErrorOr<Message> ended = co_await tryGet(asker.ask(make(question)));
        ++ended_[client];
        if (mustAnswer && now() - before > kPatience.seconds * kPatience.tries + 1)
            world_.fail("a question took too long: " + question);
        std::optional<std::string> answer;
        if (ended.isError()) {
            if (ended.getError().code() != error_code_timed_out)
                world_.fail(question + " has failed with " + ended.getError().what());
        } else {
            answer = read(ended.get());
        }
        if (answer && *answer != "answer to " + question)
            world_.fail(question + " got \"" + *answer + '"');
        if (!answer && mustAnswer)
            world_.fail("no answer in peace to " + question);
        FLOW_CODE_PROBE(!answer, "a question has got an error");
        answers_[client] += answer.has_value();
        co_await delay(0.3 * deterministicRandom()->random01());
    }
}

void Questions::ask(std::string endpoint, Make make, Read read) {
    for (int i = 0; i < kClients; ++i)
        start(format("client%d", i), [this, endpoint, make, read, i] { return askAll(endpoint, i, make, read); });
}

Future<Void> Questions::makePeace() {
    co_await delay(kUnrest);
    world_.disableFaults();
    network_.heal();
    isPeace_ = true;
    for (std::unique_ptr<Process> const& process : world_.processes()) {
        while (!process->isRunning())
            co_await delay(1);
        world_.resume(*process);
    }
    co_await delay(kSettling);
}

Future<Void> Questions::judge() {
    co_await makePeace();
    mustAnswer_ = true;
    int before[kClients];
    std::copy(std::begin(answers_), std::end(answers_), before);
    co_await delay(kPeace);
    for (int i = 0; i < kClients; ++i) {
        if (answers_[i] < before[i] + 10)
            world_.fail(format("client %d gets no answers in peace", i));
        if (asked_[i] - lost_[i] - ended_[i] > 1)
            world_.fail(format("questions of client %d have not ended", i));
    }
    world_.stopAll(); // their mains refer to what is here
}

} // namespace flow::net
