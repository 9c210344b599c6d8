#include "net/examples/kv/replica.h"

#include "flow/flow.h"

#include <memory>

namespace kv {

Replica::Replica(int id, int servers, std::vector<net::Address> addresses, std::string journal, Witness& witness)
    : id_(id), servers_(servers), addresses_(std::move(addresses)), path_(std::move(journal)), witness_(witness) {}

Future<Void> Replica::run() {
    co_await recover();
    open();
    postponeElection();
    co_await race(listenToServers(), listenToClients(), keepTime(), broken_.getFuture());
}

Future<Void> Replica::recover() {
    journal_ = co_await Journal::open(path_);
    for (std::string const& bytes : journal_->records()) {
        Optional<Record> record = unseal<Record>(bytes);
        if (!record.present())
            throw file_corrupt();
        term_ = record.get().term;
        votedFor_ = record.get().votedFor;
        log_.resize(std::min<std::uint64_t>(record.get().keep + 1, log_.size()));
        log_.insert(log_.end(), record.get().entries.begin(), record.get().entries.end());
    }
    FLOW_CODE_PROBE(log_.size() > 1, "a server comes back with a log");
    witness_.recovers(id_, term_, votedFor_, lastIndex());
}

/// Runs one step at a time. If the call is cancelled, a step that has begun still runs to its end.
template <class Step>
Future<Void> Replica::inTurn(Step step) {
    Mutex::Lock turn = co_await turn_.lock();
    if (!broken_.canBeSet()) { // no step follows a failed one
        turn.unlock();
        co_await coro::never{};
    }
    Future<Void> running = toItsEnd(std::move(step), std::move(turn));
    step_.spawn(running);
    co_await std::move(running);
}

/// Runs a step. A failure ends the server, because memory and disk may differ. sendError() may destroy `this`.
template <class Step>
Future<Void> Replica::toItsEnd(Step step, Mutex::Lock turn) {
    ErrorOr<Void> result = co_await tryGet(step());
    if (result.isError()) {
        co_await delay(0); // the step may have failed inside of inTurn(), which still uses `this`
        Promise<Void> broken = broken_;
        turn.unlock();
        broken.sendError(result.getError());
        co_await coro::never{};
    }
}

Future<Void> Replica::received(Message message, net::Address from) {
    if (message.from < 0 || message.from >= size() || message.from == id_ || message.to != id_)
        return Void();
    known_[message.from] = from;
    auto step = [this, message] { return handle(message); }; // a variable: gcc 12 destroys a temporary twice
    return inTurn(std::move(step));
}

/// Sends to the receiver's last known address. If none is known, sends to all addresses. Also sends each 16th message
/// to all, because the receiver may have moved.
void Replica::send(Message message) {
    message.from = id_;
    message.term = term_;
    witness_.promises(id_, term_, votedFor_, executed_);
    auto place = known_.find(message.to);
    if (place != known_.end() && ++sent_ % 16 != 0)
        return transmit(message, place->second);
    for (net::Address const& address : addresses_)
        transmit(message, address);
}

Future<Void> Replica::keepTime() {
    constexpr double kTick = 0.05, kLate = 0.1;
    bool wasLate = false;
    for (;;) {
        double due = now() + kTick;
        co_await delay(kTick);
        bool isLate = now() > due + kLate && !wasLate;
        wasLate = isLate;
        if (role_ == Role::Leader) {
            for (int to = 0; to < size(); ++to)
                if (to != id_)
                    sendEntries(to);
        } else if (role_ == Role::Candidate && now() < electionAt_) {
            askForVotes(); // again: the first message may be lost
        } else if (isLate) {
            FLOW_CODE_PROBE(true, "a server that did not run reads its messages before it starts an election");
        } else if (now() >= electionAt_) {
            co_await inTurn([this] { return electIfDue(); });
        }
    }
}

/// Checks again: a message of the leader may have arrived while this step waited for its turn.
Future<Void> Replica::electIfDue() {
    bool isDue = role_ != Role::Leader && now() >= electionAt_;
    return isDue ? startElection() : Future<Void>(Void());
}

Future<Reply> Replica::answer(Request request) {
    if (Reply before = store_.replyTo(request); before.done) // a repeated request must not become another entry
        co_return before;
    if (store_.isOld(request)) // the client waits for a later request
        co_return Reply();
    auto place = std::make_shared<std::pair<std::uint64_t, std::uint64_t>>(); // the step may outlive this coroutine
    auto step = [this, request, place]() -> Future<Void> {
        if (role_ != Role::Leader)
            return Void();
        *place = {lastIndex() + 1, term_};
        return appendOwn(request);
    };
    co_await inTurn(std::move(step));
    auto [index, term] = *place;
    if (index == 0)
        co_return Reply();
    while (executed_ < index) {
        if (role_ != Role::Leader || term_ != term)
            co_return Reply();
        co_await progress_.next();
    }
    if (log_[index].term != term)
        co_return Reply();
    co_return store_.replyTo(request);
}

} // namespace kv
