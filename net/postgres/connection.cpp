#include "net/postgres/connection.h"

#include "flow/base/format.h"
#include "flow/tasks/scope.h"
#include "net/postgres/detail/link.h"

namespace flow::net::postgres {

using internals::Link;

void internals::failForRows(std::size_t found, char const* wanted) {
    throw client_invalid_operation().withSentence(format("the query gives %zu rows; the call wants %s", found, wanted));
}

Future<Result> Queries::run(Sql sql, std::vector<Parameter> parameters, std::size_t columns) {
    return Link::run(use(), std::move(sql), std::move(parameters), columns);
}
Future<std::unique_ptr<internals::Stream>> Queries::open(internals::StreamKind kind, Sql sql,
                                                         std::vector<Parameter> parameters, std::size_t columns) {
    return Link::open(use(), kind, std::move(sql), std::move(parameters), columns);
}

Future<std::uint64_t> Queries::affected(Future<Result> answer, Propagate) {
    Result result = co_await std::move(answer);
    co_return result.affected();
}

namespace {
template <class T>
Future<T> streamOf(Future<std::unique_ptr<internals::Stream>> opened, Propagate = {}) {
    std::unique_ptr<internals::Stream> stream = co_await std::move(opened);
    co_return T(std::move(stream));
}
} // namespace

Future<CopyIn> Queries::copyIn(Sql sql) {
    return streamOf<CopyIn>(open(internals::StreamKind::CopyIn, std::move(sql), {}, 0));
}
Future<CopyOut> Queries::copyOut(Sql sql) {
    return streamOf<CopyOut>(open(internals::StreamKind::CopyOut, std::move(sql), {}, 0));
}

// -------------------------------------------------------------------------------------------------------------------
// Connection

namespace {
Future<Notifications> listenOn(internals::Use use, std::string channel) {
    auto state = std::make_unique<Notifications::State>(use, channel);
    for (std::size_t at = 0; (at = channel.find('"', at)) != channel.npos; at += 2)
        channel.insert(at, 1, '"');
    Future<Result> listening = Link::control(use, "LISTEN \"" + channel + "\"");
    co_await std::move(listening);
    co_return Notifications(std::move(state));
}
Future<Void> discard(Future<Result> answer, Propagate = {}) {
    co_await std::move(answer);
}
} // namespace

Future<Transaction> internals::begin(Future<Use> acquiring, std::string mode) {
    Use use = co_await std::move(acquiring);
    Semaphore::Permit place = co_await use.link->alone();
    use.isAlone = true;
    Transaction made(use, std::move(place)); // rolls back what a cancel leaves of BEGIN
    Future<Result> beginning = Link::control(use, mode.empty() ? "BEGIN" : "BEGIN " + mode);
    co_await std::move(beginning);
    co_return made;
}

Future<Transaction> Connection::begin(std::string mode) {
    return internals::begin(use_, std::move(mode));
}
Future<Void> Connection::script(std::string text) {
    return discard(Link::script(use_, std::move(text)));
}
Future<Notifications> Connection::listen(std::string channel) {
    return listenOn(use_, std::move(channel));
}
bool Connection::isUsable() const {
    return use_.link->isUsable();
}
int Connection::process() const {
    return use_.link->process();
}

// -------------------------------------------------------------------------------------------------------------------
// Transaction

namespace {
/// Holds the places of the connection until the transaction is rolled back.
Future<Void> rollBackLater(internals::Use use, [[maybe_unused]] Semaphore::Permit place) {
    Future<Void> settling = Link::settle(use);
    co_await std::move(settling);
}
} // namespace

Transaction::Transaction(internals::Use use, Semaphore::Permit place)
    : use_(std::move(use)), place_(std::move(place)) {}

Transaction& Transaction::operator=(Transaction&& other) noexcept {
    if (this != &other) {
        giveUp();
        place_ = std::move(other.place_);
        use_ = std::move(other.use_);
    }
    return *this;
}

Transaction::~Transaction() {
    giveUp();
}

void Transaction::giveUp() noexcept try {
    if (!place_.isHeld() || use_.link->isSettled())
        return;
    double atMost = use_.link->options.cleanUp + 1;
    shield(rollBackLater(use_, std::move(place_)), atMost);
} catch (...) { // out of memory
    use_.link->fail(currentError());
}

Future<internals::Use> Transaction::use() {
    FLOW_ASSERT(place_.isHeld(), "a Transaction is used after commit(), rollBack() or a move");
    return use_;
}

Future<Void> Transaction::commit() {
    return end("COMMIT");
}
Future<Void> Transaction::rollBack() {
    return end("ROLLBACK");
}
Future<Void> Transaction::end(char const* how) {
    internals::Use alone = co_await use();
    Future<Result> ending = Link::control(std::move(alone), how);
    Result result = co_await std::move(ending);
    place_.release();
    if (result.command() != how)
        throw errorOf("25P02", "COMMIT has rolled back, since an earlier query of the transaction has failed");
}

// -------------------------------------------------------------------------------------------------------------------
// Streams

namespace {
Future<std::uint64_t> finishCopy(std::unique_ptr<internals::Stream> stream) {
    stream->throwIfFailed();
    Future<internals::Answer> ending = stream->use.link->endCopy(*stream->exchange);
    internals::Answer answer = co_await std::move(ending);
    co_return answer.result.affected();
}
Future<Void> writeCopy(internals::Stream* stream, StringRef bytes) {
    stream->throwIfFailed();
    stream->use.link->putCopy(bytes);
    co_await stream->use.link->flushed().wait();
    stream->throwIfFailed();
}
} // namespace

Future<Void> CopyIn::write(StringRef bytes) {
    FLOW_ASSERT(stream_, "a CopyIn is used after finish() or a move");
    return writeCopy(stream_.get(), bytes);
}
Future<std::uint64_t> CopyIn::finish() {
    FLOW_ASSERT(stream_, "a CopyIn is used after finish() or a move");
    return finishCopy(std::move(stream_));
}

Notifications::State::State(internals::Use u, std::string c) : use(std::move(u)), channel(std::move(c)) {
    use.link->listeners.push_back(this);
}
Notifications::State::~State() {
    std::erase(use.link->listeners, this);
}
void Notifications::State::take(Notification notification) {
    if (error.isValid())
        return;
    auto sending = unread.send(std::move(notification));
    if (sending.isReady())
        sending.take();
    else
        end(query_failed().withSentence(
            format("more than %zu notifications of %s are unread", kMost, channel.c_str())));
}

} // namespace flow::net::postgres
