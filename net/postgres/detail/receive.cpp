// The receiving side of a Link.

#include "flow/combine/race.h"
#include "net/postgres/detail/link.h"

#ifdef MILLRACE_OPENSSL
#include <openssl/ssl.h>
#endif

namespace flow::net::postgres::internals {

namespace {

/// libpq must be asked again for bytes that OpenSSL has taken from the socket and decrypted.
bool hasDecrypted([[maybe_unused]] PGconn* connection) {
#ifdef MILLRACE_OPENSSL
    return PQsslInUse(connection) && SSL_pending(static_cast<SSL*>(PQsslStruct(connection, "OpenSSL"))) > 0;
#else
    return false;
#endif
}

Error errorOfResult(PGresult const* result) {
    std::string state = fieldOf(result, PG_DIAG_SQLSTATE), detail = fieldOf(result, PG_DIAG_MESSAGE_DETAIL);
    if (state.empty())
        return errorOf("", PQresultErrorMessage(result));
    return errorOf(state, fieldOf(result, PG_DIAG_MESSAGE_PRIMARY) + (detail.empty() ? "" : ". " + detail));
}

} // namespace

std::string fieldOf(PGresult const* result, int code) {
    char const* text = PQresultErrorField(result, code);
    return text ? text : "";
}

/// Runs until the connection is lost, or the Link ends.
Future<Void> Link::read(Link* self) {
    pg_conn* connection = self->connection_;
    Error error;
    try {
        while (PQstatus(connection) == CONNECTION_OK && !self->sendError_.isValid()) {
            if (!hasDecrypted(connection)) {
                auto first = co_await race(self->socket_->readable(), self->poked_.wait());
                if (first.index() == 1)
                    self->poked_.reset();
            }
            if (PQconsumeInput(connection) == 0)
                break;
            while (!self->exchanges_.empty()) {
                Stream::Item item;
                bool hasItem = false;
                if (!self->receive(item, hasItem))
                    break;
                Stream* stream = hasItem ? self->exchanges_.front().stream : nullptr;
                if (!stream)
                    continue;
                auto sending = stream->items.send(std::move(item));
                if (sending.isReady()) {
                    sending.take();
                } else {
                    ErrorOr<Void> done = co_await coro::outcome(keep(sending));
                    (void)done; // an error: the stream was dropped meanwhile
                }
            }
            self->takeNotifications();
        }
        error = self->sendError_.isValid() ? self->sendError_ : self->lost();
    } catch (...) {
        error = currentError();
        if (error == actor_cancelled())
            throw;
    }
    self->fail(error, &self->reading_);
}

/// Takes the next part of an answer. Returns false if none has arrived. `hasItem`: it is for the stream.
bool Link::receive(Stream::Item& item, bool& hasItem) {
    Exchange& front = exchanges_.front();
    if (front.isCopyingIn)
        return false;
    if (front.isCopyingOut) {
        char* bytes = nullptr;
        int count = PQgetCopyData(connection_, &bytes, 1);
        if (count == 0)
            return false;
        std::unique_ptr<char, decltype(&PQfreemem)> taken(bytes, PQfreemem);
        if (count > 0) {
            item.bytes = StringRef(std::string_view(bytes, static_cast<std::size_t>(count)));
            hasItem = true;
        }
        front.isCopyingOut = count > 0;
        return true;
    }
    if (PQisBusy(connection_))
        return false;
    Result result(PQgetResult(connection_));
    if (!result.get()) { // the end of a statement
        if (!front.isPiped)
            finish();
        return true;
    }
    switch (PQresultStatus(result.get())) {
    case PGRES_PIPELINE_SYNC:
        finish();
        break;
    case PGRES_PIPELINE_ABORTED: // a statement behind one that has failed
        break;
    case PGRES_SINGLE_TUPLE:
        item.row = std::move(result);
        hasItem = true;
        break;
    case PGRES_COPY_IN:
    case PGRES_COPY_OUT:
        beginCopy(front, std::move(result));
        break;
    case PGRES_FATAL_ERROR:
    case PGRES_BAD_RESPONSE:
        if (!front.error.isValid())
            front.error = errorOfResult(result.get());
        break;
    default:
        front.result = std::move(result);
    }
    return true;
}

void Link::beginCopy(Exchange& front, Result result) {
    bool isIn = PQresultStatus(result.get()) == PGRES_COPY_IN;
    if (front.stream && front.request) {
        (isIn ? front.isCopyingIn : front.isCopyingOut) = true;
        std::exchange(front.request, nullptr)->end({}, {std::move(result), {}});
    } else if (isIn) { // it was dropped, or is a COPY of a script
        PQputCopyEnd(connection_, "no bytes are sent for this COPY");
        flush();
    } else {
        front.isCopyingOut = true;
    }
}

/// The front has been answered.
void Link::finish() {
    if (!exchanges_.front().text.empty())
        finishPrepare(exchanges_.front());
    Exchange done = std::move(exchanges_.front());
    exchanges_.pop_front();
    if (!done.isPiped)
        PQenterPipelineMode(connection_);
    if (done.stream)
        done.stream->end(done.error);
    if (done.request) {
        Answer answer{std::move(done.result), std::move(done.place)};
        done.request->end(done.error, std::move(answer));
    }
    progress_.trigger();
}

void Link::takeNotifications() {
    while (std::unique_ptr<PGnotify, decltype(&PQfreemem)> found{PQnotifies(connection_), PQfreemem})
        for (Notifications::State* each : listeners)
            if (each->channel == found->relname)
                each->take({found->relname, found->extra, found->be_pid});
}

} // namespace flow::net::postgres::internals
