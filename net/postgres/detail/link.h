#pragma once
// Link: what owns a connection of libpq, with the queries that are sent and not answered. See
// net/postgres/connection.h.
//
// A query takes a place, sends, and waits as a Request. One coroutine, read(), receives for all of them; the answers
// come in the order of the queries. Only the Exchange of a query stays when its Request is dropped. If all exchanges
// are dropped, cleanUp() cancels them at the server, and the gate `open_` stops new queries meanwhile. All waiters
// resume in turns of the loop, so nothing destroys the Link while read() uses it.

#include "flow/core/operation.h"
#include "flow/sync/event.h"
#include "flow/sync/semaphore.h"
#include "flow/sync/trigger.h"
#include "net/postgres/connection.h"
#include "net/postgres/detail/libpq.h"

#include <deque>
#include <map>

namespace flow::net::postgres::internals {

struct Statement : ReferenceCounted<Statement> {
    std::string name;
    std::vector<std::uint32_t> parameters; // their types
    std::size_t columns = 0;
    bool isBinary = false; // the format of its results
    bool isReady = false;
    std::uint64_t used = 0; // the larger, the later
};

/// Throws invalid_option_value.
void check(Options const& options);
Future<Reference<Link>> connectLink(std::string url, Options options);

struct Answer {
    Result result = {};
    Semaphore::Permit place = {};
};

/// The wait for an answer.
class Request : public Operation<Request, Answer> {
public:
    Request(Link& link, Exchange& exchange);
    ~Request();
    void end(Error error, Answer answer);
    WaiterNode* onTurn() { return error_.isValid() ? failed(error_) : completed(std::move(answer_)); }

private:
    Link& link_;
    Exchange* exchange_; // null: it has ended
    Error error_;
    Answer answer_;
};

/// A query that is sent, and what has arrived of its answer.
struct Exchange {
    Request* request = nullptr;
    Stream* stream = nullptr;
    std::string text = {};                 // of the statement that it prepares
    std::vector<std::string> closing = {}; // names of the statements that it deallocates
    Semaphore::Permit place = {};
    Error error = {}; // the first one
    Result result = {};
    bool isPiped = true;
    bool isCopyingIn = false, isCopyingOut = false;

    bool isDropped() const { return !request && !stream; }
};

class Link final : public ReferenceCounted<Link> {
public:
    Link(OwnedConnection owned, Options options);
    ~Link();

    static Future<Result> run(Future<Use> acquiring, Sql sql, std::vector<Parameter> parameters, std::size_t columns);
    static Future<std::unique_ptr<Stream>> open(Future<Use> acquiring, StreamKind kind, Sql sql,
                                                std::vector<Parameter> parameters, std::size_t columns);
    /// Runs a statement that is not prepared, such as BEGIN.
    static Future<Result> control(Use use, std::string text);
    /// Runs a text by the simple protocol, which pipelines do not have.
    static Future<Result> script(Use use, std::string text);
    /// Takes all places.
    Semaphore::AcquireGuarded<Semaphore::Permit> alone() { return places_.permit(options.inFlight); }

    /// Ends what a dropped use has left: waits for its answers, and rolls an open transaction back. Closes the
    /// connection if that takes too long. Never fails.
    static Future<Void> settle(Use use);
    bool isSettled() const;
    /// Called when the reader of an exchange is gone.
    void drop(Exchange& exchange) noexcept;
    void putCopy(StringRef bytes);
    Future<Answer> endCopy(Exchange& exchange);
    Event& flushed() { return flushed_; }

    /// Closes the connection. `own` is the future of the caller's coroutine, if it is one of this Link.
    void fail(Error error, Future<Void>* own = nullptr) noexcept;
    void abort() noexcept { fail(operation_obsolete().withSentence("the connection was given up by its pool")); }
    bool isUsable() const { return !error_.isValid(); }
    int process() const { return process_; }

    Options const options;
    std::vector<Notifications::State*> listeners;

private:
    struct Encoded;
    /// A statement that is ready, with a place for its query.
    struct Prepared {
        Reference<Statement> statement;
        Semaphore::Permit place;
    };

    static Future<Prepared> prepare(Link* self, Use const* use, std::string text, Semaphore::Permit place);
    static Future<Void> read(Link* self);
    static Future<Void> write(Link* self);
    static Future<Void> cleanUp(Reference<Link> self);
    static Future<bool> cancelAll(Link* self);
    static Future<bool> rollBack(Use use);

    /// Throws if the connection is lost, or if this use must read a stream first.
    void check(Use const& use) const;
    Statement* ready(std::string const& text);
    void forget(std::string const& text, bool isAtServer);
    Future<Answer> query(Statement const& statement, std::vector<Parameter> const& parameters, Semaphore::Permit place);
    /// Returns the exchange of what the caller has just sent. `isSent` is false if libpq has refused it.
    Exchange& sent(bool isSent, Semaphore::Permit place, bool isPiped = true);
    Future<Answer> answerOf(Exchange& exchange);
    bool sync();
    bool sendPrepare(std::string const& text, Reference<Statement> const& statement, std::vector<std::string>& closing);
    void flush();
    bool flushSome();
    bool receive(Stream::Item& item, bool& hasItem);
    void beginCopy(Exchange& front, Result result);
    void finish();
    void finishPrepare(Exchange& done);
    void takeNotifications();
    Error lost() const;

    pg_conn* connection_;
    std::optional<FileDescriptor> socket_; // over a copy of libpq's, which may close its own at any time
    int process_;
    Error error_;     // after the loss of the connection
    Error sendError_; // of write(): read() then ends the Link
    Semaphore places_;
    Event open_{true};
    Event flushed_{true};
    Event poked_; // read() has work although nothing arrives
    Trigger progress_;
    bool isCleaning_ = false;
    std::deque<Exchange> exchanges_;
    std::map<std::string, Reference<Statement>> statements_;
    std::vector<std::string> stale_; // names of statements that the server still has
    std::uint64_t used_ = 0;
    std::uint64_t named_ = 0;
    Future<Void> reading_, writing_;
};

} // namespace flow::net::postgres::internals
