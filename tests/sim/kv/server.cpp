#include "tests/sim/kv/server.h"

#include "flow/flow.h"
#include "tests/sim/kv/frames.h"
#include "tests/sim/mutants.h"

namespace kv {
namespace {

template <class T>
Future<Void> ignoringErrors(Future<T> what) {
    (void)co_await tryGet(std::move(what));
}

} // namespace

Server::Server(int id, Cluster const& cluster, Witness& witness) : id_(id), cluster_(cluster), witness_(witness) {}

Future<Void> runServer(int id, Cluster const& cluster, Witness& witness) {
    Server server(id, cluster, witness);
    co_await server.run();
}

Future<Void> Server::run() {
    co_await recover();
    socket_ = net::transport().bind(net::Address(0, Cluster::kServerPort));
    postponeElection();
    co_await race(listenToServers(), listenToClients(), keepTime(), broken_.getFuture());
}

Future<Void> Server::recover() {
    journal_ = co_await Journal::open("/journal");
    for (std::string const& bytes : journal_->records()) {
        Optional<Record> record = unseal<Record>(bytes);
        if (!record.present())
            throw file_corrupt();
        term_ = record.get().term;
        votedFor_ = record.get().votedFor;
        log_.resize(std::min<std::uint64_t>(record.get().keep + 1, log_.size()));
        log_.insert(log_.end(), record.get().entries.begin(), record.get().entries.end());
    }
    CODE_PROBE(log_.size() > 1, "a server comes back with a log");
    witness_.recovers(id_, term_, votedFor_, lastIndex());
}

/// One thing at a time. What fails half-way would leave memory and disk in disagreement: the server ends with it.
template <class Step>
Future<Void> Server::inTurn(Step step) {
    co_await turn_.take();
    FlowLock::Releaser releaser(turn_);
    ErrorOr<Void> result = co_await tryGet(step());
    if (result.isError()) {
        if (broken_.canBeSet())
            broken_.sendError(result.getError());
        co_await coro::never{};
    }
}

// -------------------------------------------------------------------------------------------------------------------
// Other servers

Future<Void> Server::listenToServers() {
    for (;;) {
        net::Datagram datagram = co_await socket_->receive();
        std::string_view bytes = datagram.bytes.toStringView();
        Optional<Message> message =
            planted(Mutant::NoChecksum) ? unsealAnything<Message>(bytes) : unseal<Message>(bytes);
        CODE_PROBE(!message.present(), "a message between servers was damaged");
        if (!message.present())
            continue;
        Message const& from = message.get();
        bool isForUs = from.to == id_ || planted(Mutant::WrongAddressee);
        if (from.from < 0 || from.from >= size() || from.from == id_ || !isForUs)
            continue;
        known_[from.from] = datagram.from;
        auto step = [this, from] { return handle(from); }; // gcc 12 wants a name for what it is to destroy once
        co_await inTurn(std::move(step));
    }
}

/// To where it was last heard from; now and then to every address, in case it has moved.
void Server::send(Message message) {
    message.from = id_;
    message.term = term_;
    witness_.promises(id_, term_, votedFor_, executed_);
    std::string bytes = seal(message);
    auto place = known_.find(message.to);
    if (place != known_.end() && ++sent_ % 16 != 0) {
        sending_.add(ignoringErrors(keep(socket_->send(place->second, bytes))));
        return;
    }
    for (net::Address address : cluster_.addresses)
        sending_.add(ignoringErrors(keep(socket_->send(address.withPort(Cluster::kServerPort), bytes))));
}

Future<Void> Server::keepTime() {
    for (;;) {
        co_await delay(0.05);
        if (role_ == Role::Leader) {
            for (int to = 0; to < size(); ++to)
                if (to != id_)
                    sendEntries(to);
        } else if (role_ == Role::Candidate && now() < electionAt_) {
            askForVotes(); // once more: they may not have heard it
        } else if (now() >= electionAt_ && !(planted(Mutant::ForgottenTimer) && elections_ > 0)) {
            co_await inTurn([this] { return startElection(); });
        }
    }
}

// -------------------------------------------------------------------------------------------------------------------
// Clients

Future<Void> Server::listenToClients() {
    ActorCollection clients(false);
    Reference<net::Listener> listener = net::transport().listen(Cluster::kClientPort);
    for (;;) {
        co_await places_.take();
        FlowLock::Releaser place(places_);
        CODE_PROBE(places_.available() == 0, "a server has as many clients as it can have");
        Reference<net::Connection> connection = co_await listener->accept();
        clients.add(ignoringErrors(serveClient(connection, std::move(place))));
    }
}

/// Runs until the client disconnects, or is silent for a while.
Future<Void> Server::serveClient(Reference<net::Connection> connection, FlowLock::Releaser place) {
    constexpr double kPatience = 2; // seconds
    FlowLock* forgotten = planted(Mutant::MissedCancel) ? std::exchange(place.lock, nullptr) : nullptr;
    Frames frames(connection);
    for (;;) {
        Optional<Request> request = co_await timeoutError(frames.next<Request>(), kPatience);
        if (!request.present())
            break;
        Reply reply = co_await answer(request.get());
        co_await timeoutError(frames.send(reply), kPatience);
    }
    if (forgotten)
        forgotten->release();
}

Future<Reply> Server::answer(Request request) {
    Reply fromHere{.done = true, .succeeded = true, .value = store_.get(request.key)};
    if (request.verb == Verb::Get && planted(Mutant::FollowerReads))
        co_return fromHere;
    std::uint64_t index = 0, term = 0;
    co_await inTurn([&]() -> Future<Void> {
        if (role_ != Role::Leader)
            return Void();
        index = lastIndex() + 1;
        term = term_;
        return appendOwn(request);
    });
    if (index == 0)
        co_return Reply();
    if (request.verb == Verb::Get && planted(Mutant::StaleRead))
        co_return fromHere;
    if (request.verb != Verb::Get && planted(Mutant::AnswerEarly))
        co_return Reply{.done = true, .succeeded = true, .value = {}};
    while (executed_ < index) {
        if ((role_ != Role::Leader || term_ != term) && !planted(Mutant::AnswerOther))
            co_return Reply();
        if (planted(Mutant::LostWakeUp)) {
            co_await delay(0.003);
            if (executed_ >= index)
                co_await coro::never{};
        }
        co_await progress_.onTrigger();
    }
    if (planted(Mutant::AnswerOther) && (request.verb == Verb::Put || request.verb == Verb::Remove))
        co_return Reply{.done = true, .succeeded = true, .value = {}};
    if (log_[index].term != term)
        co_return Reply();
    co_return store_.replyTo(request);
}

// -------------------------------------------------------------------------------------------------------------------
// Store

bool Store::execute(Request const& request) {
    Session& session = sessions_[request.client];
    if (request.number <= session.number && !planted(Mutant::NoSessions))
        return false;
    session.number = request.number;
    session.reply = perform(request);
    return true;
}

void Store::executeAgain(Request const& request) {
    if (request.client != 0)
        (void)perform(request);
}

Reply Store::replyTo(Request const& request) {
    Session const& session = sessions_[request.client];
    return session.number == request.number ? session.reply : Reply();
}

Optional<std::string> Store::get(std::string const& key) const {
    auto place = data_.find(key);
    return place == data_.end() ? Optional<std::string>() : Optional<std::string>(place->second);
}

Reply Store::perform(Request const& request) {
    Reply reply{.done = true, .succeeded = true, .value = get(request.key)};
    switch (request.verb) {
    case Verb::Get:
        break;
    case Verb::CompareAndSet:
        reply.succeeded = reply.value == request.expected || planted(Mutant::CasIgnoresExpected);
        if (!reply.succeeded)
            break;
        [[fallthrough]];
    case Verb::Put:
        if (request.value.present())
            data_[request.key] = request.value.get();
        else
            data_.erase(request.key);
        break;
    case Verb::Remove:
        if (!planted(Mutant::RemoveKeepsValue))
            data_.erase(request.key);
        break;
    }
    return reply;
}

} // namespace kv
