#include "net/postgres/detail/link.h"

#include "flow/base/format.h"
#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/tasks/scope.h"
#include "flow/trace/span.h"
#include "flow/trace/trace_event.h"
#include "flow/wait/delay.h"

#include <algorithm>
#include <fcntl.h>

namespace flow::net::postgres::internals {
namespace {

/// Called for the notices and warnings of a server.
void noteNotice(void*, PGresult const* notice) {
    TraceEvent(SevInfo, "PostgresNotice")
        .detail("Level", fieldOf(notice, PG_DIAG_SEVERITY))
        .detail("SqlState", fieldOf(notice, PG_DIAG_SQLSTATE))
        .detail("Text", fieldOf(notice, PG_DIAG_MESSAGE_PRIMARY));
}

/// Returns the error of the connection after its clean-up has thrown. Called in a catch block.
Error cutOff() {
    Error error = currentError();
    return error == actor_cancelled() ? connection_failed().withSentence("the clean-up of a dropped query was cut off")
                                      : error;
}

} // namespace

void check(Options const& options) {
    auto check = [](bool isValid, char const* option, double value, char const* rule) {
        if (!isValid)
            throw wrongOption("postgres::Options", option, format("%g", value), rule);
    };
    check(options.inFlight > 0, "inFlight", 0, "it must be at least 1");
    check(options.statements > 0, "statements", 0, "it must be at least 1");
    check(options.cleanUp > 0, "cleanUp", options.cleanUp, "it must be more than 0");
    check(options.connectTimeout > 0, "connectTimeout", options.connectTimeout, "it must be more than 0");
}

Use::Use(Reference<Link> l, std::shared_ptr<void> held) : link(std::move(l)), lease(std::move(held)) {}
Use::Use(Use const&) = default;
Use::Use(Use&&) noexcept = default;
Use& Use::operator=(Use const&) = default;
Use& Use::operator=(Use&&) noexcept = default;
Use::~Use() = default;

Request::Request(Link& link, Exchange& exchange) : link_(link), exchange_(&exchange) {
    exchange.request = this;
}
Request::~Request() {
    if (!exchange_)
        return;
    exchange_->request = nullptr;
    link_.drop(*exchange_);
}
void Request::end(Error error, Answer answer) {
    exchange_ = nullptr;
    error_ = error;
    answer_ = std::move(answer);
    Loop::current().makeReady(turn(), TaskPriority::ReadSocket);
}

Link::Link(OwnedConnection owned, Options o)
    : options(o), connection_(owned.get()), process_(PQbackendPID(connection_)), places_(options.inFlight) {
    socket_.emplace(::fcntl(PQsocket(connection_), F_DUPFD_CLOEXEC, 0), FileDescriptor::Owned);
    if (socket_->number() < 0)
        throw platform_error();
    PQsetNoticeReceiver(connection_, noteNotice, nullptr);
    PQsetnonblocking(connection_, 1);
    PQenterPipelineMode(connection_);
    reading_ = read(this);
    (void)owned.release();
}

Link::~Link() {
    reading_ = {};
    writing_ = {};
    if (connection_)
        PQfinish(connection_);
}

Error Link::lost() const {
    return errorOf("", PQerrorMessage(connection_));
}

bool Link::isSettled() const {
    return error_.isValid() || (exchanges_.empty() && !isCleaning_ && PQtransactionStatus(connection_) == PQTRANS_IDLE);
}

void Link::drop(Exchange& exchange) noexcept try {
    if (exchange.isCopyingIn) {
        PQputCopyEnd(connection_, "the COPY was dropped");
        exchange.isCopyingIn = false;
        flush();
        poked_.set();
    }
    if (isCleaning_ || !std::all_of(exchanges_.begin(), exchanges_.end(), [](auto& each) { return each.isDropped(); }))
        return;
    isCleaning_ = true;
    open_.reset();
    shield(cleanUp(Reference<Link>::addRef(this)), options.cleanUp + 1);
} catch (...) {
    fail(currentError());
}

Future<Void> Link::cleanUp(Reference<Link> self) {
    Error error;
    try {
        Future<bool> cancelling = timeout(cancelAll(self.getPtr()), self->options.cleanUp, false);
        bool isDone = co_await std::move(cancelling);
        if (!isDone)
            throw connection_failed().withSentence(
                format("the server has not ended a dropped query in %g seconds", double(self->options.cleanUp)));
    } catch (...) {
        error = cutOff();
    }
    self->isCleaning_ = false;
    if (error.isValid())
        self->fail(error);
    self->open_.set();
    self->progress_.trigger();
}

Future<bool> Link::cancelAll(Link* self) {
    while (!self->exchanges_.empty()) {
        auto change = self->progress_.next();
        Future<Void> cancelling = cancelAtServer(self->connection_);
        co_await std::move(cancelling);
        auto first = co_await race(change, delay(0.5)); // the cancel may have come before the query
        (void)first;
    }
    co_return true;
}

Future<Void> Link::settle(Use use) {
    Link* self = use.link.getPtr();
    Error error;
    try {
        Future<bool> rolling = timeout(rollBack(use), self->options.cleanUp, false);
        bool isDone = co_await std::move(rolling);
        if (!isDone)
            throw connection_failed().withSentence(
                format("the server has not rolled back in %g seconds", double(self->options.cleanUp)));
    } catch (...) {
        error = cutOff();
    }
    if (error.isValid())
        self->fail(error);
}

Future<bool> Link::rollBack(Use use) {
    Link* self = use.link.getPtr();
    use.isAlone = true; // whatever holds the places
    try {
        for (auto change = self->progress_.next(); !self->isSettled(); change = self->progress_.next()) {
            if (self->exchanges_.empty() && !self->isCleaning_) {
                Future<Result> rolling = control(use, "ROLLBACK");
                co_await std::move(rolling);
            } else {
                co_await change;
            }
        }
        co_return true;
    } catch (...) {
        if (currentError() == actor_cancelled())
            throw;
        co_return !self->isUsable();
    }
}

void Link::fail(Error error, Future<Void>* own) noexcept {
    if (error_.isValid())
        return;
    error_ = error;
    for (Future<Void>* each : {&reading_, &writing_})
        if (each != own)
            *each = {};
    socket_.reset();
    PQfinish(std::exchange(connection_, nullptr));
    while (!exchanges_.empty()) {
        Exchange ended = std::move(exchanges_.front());
        exchanges_.pop_front();
        Error its = ended.error.isValid() ? ended.error : error;
        if (ended.request)
            ended.request->end(its, {});
        if (ended.stream)
            ended.stream->end(its);
    }
    for (Notifications::State* each : listeners)
        each->end(error);
    statements_.clear();
    flushed_.set();
    open_.set();
    progress_.trigger();
}

} // namespace flow::net::postgres::internals
