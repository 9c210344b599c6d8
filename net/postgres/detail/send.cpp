// The sending side of a Link.

#include "flow/base/format.h"
#include "flow/wait/delay.h"
#include "net/postgres/detail/link.h"

#include <algorithm>

namespace flow::net::postgres::internals {
namespace {

trace::Span spanOf(Sql const& sql) {
    trace::Span span(sql.here, std::string_view(sql.text).substr(0, sql.text.find(' ')), trace::SpanKind::Client);
    span.attribute("db.system.name", "postgresql").attribute("db.query.text", sql.text);
    return span;
}

} // namespace

/// The parameters of a query, as libpq wants them.
struct Link::Encoded {
    Encoded(Statement const& statement, std::vector<Parameter> const& parameters) {
        if (parameters.size() != statement.parameters.size())
            throw client_invalid_operation().withSentence(format("the query has %zu parameters; the call gives %zu",
                                                                 statement.parameters.size(), parameters.size()));
        std::vector<std::size_t> begins;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            begins.push_back(bytes.size());
            formats.push_back(parameters[i].encode(statement.parameters[i], i + 1, bytes));
            lengths.push_back(static_cast<int>(bytes.size() - begins.back()));
        }
        for (std::size_t i = 0; i < parameters.size(); ++i)
            values.push_back(parameters[i].isNull() ? nullptr : bytes.data() + begins[i]);
    }
    int count() const { return static_cast<int>(values.size()); }

    std::string bytes;
    std::vector<char const*> values;
    std::vector<int> lengths, formats;
};

void Link::check(Use const& use) const {
    if (error_.isValid())
        throw error_;
    if (use.isAlone && !exchanges_.empty() && exchanges_.front().stream)
        throw client_invalid_operation().withSentence(
            "a stream of this transaction is open: read it to its end, or destroy it, before the next query");
}

Statement* Link::ready(std::string const& text) {
    auto found = statements_.find(text);
    if (found == statements_.end() || !found->second->isReady)
        return nullptr;
    found->second->used = ++used_;
    return found->second.getPtr();
}

Exchange& Link::sent(bool isSent, Semaphore::Permit place, bool isPiped) try {
    if (!isSent)
        throw lost();
    Exchange& made = exchanges_.emplace_back();
    made.place = std::move(place);
    made.isPiped = isPiped;
    flush();
    return made;
} catch (...) { // the server may answer what has no Exchange
    fail(currentError());
    throw;
}

Future<Answer> Link::answerOf(Exchange& exchange) try {
    return start<Request>(*this, exchange);
} catch (...) { // out of memory
    drop(exchange);
    throw;
}

bool Link::sync() {
#ifdef LIBPQ_HAS_SEND_PIPELINE_SYNC
    return PQsendPipelineSync(connection_) != 0; // write() sends what a turn of the loop has gathered
#else
    return PQpipelineSync(connection_) != 0;
#endif
}

/// Returns false if the kernel has no room for the rest.
bool Link::flushSome() {
    int left = PQflush(connection_);
    if (left < 0 || PQstatus(connection_) != CONNECTION_OK)
        poked_.set(); // if libpq has closed the socket, the kernel reports nothing more to read()
    return left != 1;
}

void Link::flush() {
    if (writing_.isValid() && !writing_.isReady())
        return;
#ifndef LIBPQ_HAS_SEND_PIPELINE_SYNC
    if (flushSome()) // as a rule
        return;
#endif
    flushed_.reset();
    writing_ = write(this);
}

Future<Void> Link::write(Link* self) {
#ifdef LIBPQ_HAS_SEND_PIPELINE_SYNC
    co_await delay(0, TaskPriority::WriteSocket);
#endif
    try {
        while (!self->flushSome())
            co_await self->socket_->writable();
        self->flushed_.set();
    } catch (...) {
        Error error = currentError();
        if (error == actor_cancelled())
            throw;
        self->sendError_ = error; // read() may be below on the stack, and ends the Link
        self->poked_.set();
    }
}

/// The next call prepares the text anew.
void Link::forget(std::string const& text, bool isAtServer) {
    auto found = statements_.find(text);
    if (found == statements_.end())
        return;
    if (isAtServer)
        stale_.push_back(found->second->name);
    statements_.erase(found);
}

bool Link::sendPrepare(std::string const& text, Reference<Statement> const& statement,
                       std::vector<std::string>& closing) try {
    while (statements_.size() >= options.statements) {
        // Not those that are being prepared: tasks with more texts than places would evict each other's forever.
        auto age = [](auto const& each) { return each.second->isReady ? each.second->used : ~std::uint64_t(0); };
        auto oldest = std::min_element(statements_.begin(), statements_.end(),
                                       [&](auto const& a, auto const& b) { return age(a) < age(b); });
        if (!oldest->second->isReady)
            break;
        forget(std::string(oldest->first), true);
    }
    statements_.emplace(text, statement);
    closing = std::exchange(stale_, {});
    for (std::string const& name : closing)
        if (!PQsendQueryParams(connection_, ("DEALLOCATE " + name).c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0))
            return false;
    char const* name = statement->name.c_str();
    return PQsendPrepare(connection_, name, text.c_str(), 0, nullptr) && PQsendDescribePrepared(connection_, name) &&
           sync();
} catch (...) { // a part may have been sent
    fail(currentError());
    throw;
}

/// Several tasks that need the same statement wait for the first of them, which prepares it.
Future<Link::Prepared> Link::prepare(Link* self, Use const* use, std::string text, Semaphore::Permit place) {
    for (;;) {
        co_await self->open_.wait();
        self->check(*use);
        if (Statement* found = self->ready(text)) {
            Prepared prepared{Reference<Statement>::addRef(found), std::move(place)};
            co_return prepared;
        }
        if (self->statements_.contains(text)) {
            auto change = self->progress_.next();
            co_await change;
            continue;
        }
        auto statement = makeReference<Statement>();
        statement->name = format("millrace_%llu", static_cast<unsigned long long>(++self->named_));
        statement->used = ++self->used_;
        std::string key = text;
        std::vector<std::string> closing;
        bool isSent = self->sendPrepare(text, statement, closing);
        Exchange& exchange = self->sent(isSent, std::move(place));
        exchange.text = std::move(key);
        exchange.closing = std::move(closing);
        Future<Answer> answering = self->answerOf(exchange);
        Answer answer = co_await std::move(answering);
        place = std::move(answer.place);
    }
}

void Link::finishPrepare(Exchange& done) {
    auto found = statements_.find(done.text);
    if (done.error.isValid()) {
        if (found != statements_.end())
            statements_.erase(found);
        if (sqlState(done.error) != "26000") // DISCARD ALL has taken those to close
            stale_.insert(stale_.end(), done.closing.begin(), done.closing.end());
        return;
    }
    if (found == statements_.end())
        return;
    Statement& statement = *found->second;
    PGresult* description = done.result.get();
    for (int i = 0; i < PQnparams(description); ++i)
        statement.parameters.push_back(PQparamtype(description, i));
    statement.columns = done.result.columns();
    statement.isBinary = true;
    for (int i = 0; i < PQnfields(description); ++i)
        statement.isBinary = statement.isBinary && isReadInBinary(PQftype(description, i));
    statement.isReady = true;
}

Future<Result> Link::run(Future<Use> acquiring, Sql sql, std::vector<Parameter> parameters, std::size_t columns) {
    Use use = co_await std::move(acquiring);
    Link* self = use.link.getPtr();
    trace::Span span = spanOf(sql);
    try {
        Semaphore::Permit place;
        if (!use.isAlone)
            place = co_await self->places_.permit();
        co_await self->open_.wait();
        self->check(use);
        Reference<Statement> statement;
        if (Statement* found = self->ready(sql.text)) {
            statement = Reference<Statement>::addRef(found);
        } else {
            Future<Prepared> preparing = prepare(self, &use, sql.text, std::move(place));
            Prepared prepared = co_await std::move(preparing);
            statement = std::move(prepared.statement);
            place = std::move(prepared.place);
        }
        if (columns != kAnyColumns && columns != statement->columns)
            throw wrongColumns(statement->columns, columns);
        Future<Answer> answering = self->query(*statement, parameters, std::move(place));
        Answer answer = co_await std::move(answering);
        co_return std::move(answer.result);
    } catch (Error& error) {
        span.error(error);
        if (std::string_view state = sqlState(error); state == "0A000" || state == "26000")
            self->forget(sql.text, state == "0A000"); // the table has changed, or the statement is gone
        throw;
    }
}

Future<Answer> Link::query(Statement const& statement, std::vector<Parameter> const& parameters,
                           Semaphore::Permit place) {
    Encoded given(statement, parameters);
    bool isSent = PQsendQueryPrepared(connection_, statement.name.c_str(), given.count(), given.values.data(),
                                      given.lengths.data(), given.formats.data(), statement.isBinary) &&
                  sync();
    return answerOf(sent(isSent, std::move(place)));
}

Future<Result> Link::control(Use use, std::string text) {
    Link* self = use.link.getPtr();
    Semaphore::Permit place;
    if (!use.isAlone)
        place = co_await self->places_.permit();
    co_await self->open_.wait();
    self->check(use);
    bool isSent =
        PQsendQueryParams(self->connection_, text.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0) && self->sync();
    Future<Answer> answering = self->answerOf(self->sent(isSent, std::move(place)));
    Answer answer = co_await std::move(answering);
    co_return std::move(answer.result);
}

Future<Result> Link::script(Use use, std::string text) {
    Link* self = use.link.getPtr();
    Semaphore::Permit place = co_await self->alone();
    co_await self->open_.wait();
    self->check(use);
    bool isSent = PQexitPipelineMode(self->connection_) && PQsendQuery(self->connection_, text.c_str());
    Future<Answer> answering = self->answerOf(self->sent(isSent, std::move(place), false));
    Answer answer = co_await std::move(answering);
    co_return std::move(answer.result);
}

// -------------------------------------------------------------------------------------------------------------------
// Streams

Future<std::unique_ptr<Stream>> Link::open(Future<Use> acquiring, StreamKind kind, Sql sql,
                                           std::vector<Parameter> parameters, std::size_t columns) {
    Use use = co_await std::move(acquiring);
    Link* self = use.link.getPtr();
    auto stream = std::make_unique<Stream>(use);
    stream->span = spanOf(sql);
    Semaphore::Permit place;
    if (!use.isAlone)
        place = co_await self->alone();
    if (kind == StreamKind::Rows) {
        Future<Prepared> preparing = prepare(self, &use, sql.text, std::move(place));
        Prepared prepared = co_await std::move(preparing);
        if (columns != prepared.statement->columns)
            throw wrongColumns(prepared.statement->columns, columns);
        Future<Answer> answering = self->query(*prepared.statement, parameters, std::move(prepared.place));
        stream->exchange = &self->exchanges_.back();
        stream->exchange->stream = stream.get();
        if (PQsetSingleRowMode(self->connection_) == 0)
            throw internal_error().withSentence("libpq refuses the single-row mode");
        co_return stream;
    }
    co_await self->open_.wait();
    self->check(use);
    bool isSent = PQexitPipelineMode(self->connection_) && PQsendQuery(self->connection_, sql.text.c_str());
    Exchange& exchange = self->sent(isSent, std::move(place), false);
    exchange.stream = stream.get();
    stream->exchange = &exchange;
    Future<Answer> answering = self->answerOf(exchange);
    Answer answer = co_await std::move(answering);
    bool isIn = kind == StreamKind::CopyIn;
    if (PQresultStatus(answer.result.get()) != (isIn ? PGRES_COPY_IN : PGRES_COPY_OUT))
        throw client_invalid_operation().withSentence(isIn ? "copyIn() wants a statement COPY ... FROM STDIN"
                                                           : "copyOut() wants a statement COPY ... TO STDOUT");
    co_return stream;
}

Stream::~Stream() {
    if (!exchange)
        return;
    exchange->stream = nullptr;
    use.link->drop(*exchange);
}

void Stream::end(Error failure) {
    exchange = nullptr;
    error = failure;
    if (failure.isValid())
        span.error(failure);
    span.end();
    items.close();
}

void Link::putCopy(StringRef bytes) try {
    if (PQputCopyData(connection_, reinterpret_cast<char const*>(bytes.begin()), bytes.size()) != 1)
        throw lost();
    flush();
} catch (...) {
    fail(currentError());
    throw;
}

Future<Answer> Link::endCopy(Exchange& exchange) try {
    Future<Answer> answering = answerOf(exchange);
    PQputCopyEnd(connection_, nullptr);
    exchange.isCopyingIn = false;
    flush();
    poked_.set(); // an early error has arrived already
    return answering;
} catch (...) {
    fail(currentError());
    throw;
}

} // namespace flow::net::postgres::internals
