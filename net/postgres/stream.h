#pragma once
// Streams of PostgreSQL: rows one by one, COPY in both directions, and notifications. Queries and Connection make them:
// net/postgres/connection.h.
//
//     postgres::Rows<Person> rows = co_await db.stream<Person>("SELECT id, name, born FROM person");
//     while (std::optional<Person> person = co_await rows.next())     // nothing: the end
//         print(*person);
//
//     postgres::CopyIn in = co_await db.copyIn("COPY person (id, name) FROM STDIN");
//     co_await in.write("7\tAnna\n"_sr);
//     std::uint64_t rows = co_await in.finish();                      // without it nothing is copied
//
//     postgres::CopyOut out = co_await db.copyOut("COPY person TO STDOUT (FORMAT csv)");
//     while (std::optional<Bytes> line = co_await out.next())
//         co_await file->write(*line);
//
//     postgres::Notifications news = co_await db.listen("orders");
//     postgres::Notification next = co_await news.next();
//
// Memory. A stream holds at most kRows rows that have not been read; then the connection receives no more. So a slow
// reader stops the server, and not the program. CopyIn::write() waits while the kernel takes no bytes.
//
// A stream has its connection alone: others wait until the last row has arrived. In a transaction, a query fails with
// client_invalid_operation while a stream of it is open. A stream that is destroyed before its end cancels the query at
// the server; a CopyIn without finish() copies nothing.
//
// next() is an operation in place. A next() that loses a race or is cancelled has taken nothing. An error of the server
// comes after the rows before it. A stream belongs to one thread, and one task reads it.

#include "flow/core/future.h"
#include "flow/memory/reference.h"
#include "flow/sync/channel.h"
#include "flow/trace/span.h"
#include "net/postgres/error.h"
#include "net/postgres/value.h"

#include <memory>
#include <optional>
#include <string>

namespace flow::net::postgres {

namespace internals {
class Link;
struct Exchange;

/// The use of a connection: as one of several tasks, or alone.
struct Use {
    Reference<Link> link;
    std::shared_ptr<void> lease = {}; // of a pool; null: not from a pool
    bool isAlone = false;             // it holds all places of the connection

    Use(Reference<Link> l, std::shared_ptr<void> held = {});
    Use(Use const&);
    Use(Use&&) noexcept;
    Use& operator=(Use const&);
    Use& operator=(Use&&) noexcept;
    ~Use();
};

/// What a connection receives for a stream, and has not given to its reader yet.
class Stream {
public:
    struct Item {
        Result row = {};
        Bytes bytes = {};
    };

    explicit Stream(Use u) : use(std::move(u)) {}
    Stream(Stream const&) = delete;
    ~Stream();

    /// Called when the server has answered all, and when the connection is lost.
    void end(Error failure);
    bool hasEnded() const { return items.isClosed() && items.size() == 0; }
    void throwIfFailed() const {
        if (error.isValid())
            throw error;
    }

    Use use;
    Exchange* exchange = nullptr; // null: the server has answered all
    Error error;                  // comes after the items
    trace::Span span;
    Channel<Item> items{64};
};

/// Waits for the next item of a stream. Read makes the value of it.
template <class T, T (*Read)(Stream::Item)>
struct NextItem {
    using Result = std::optional<T>;
    Channel<Stream::Item>::Receive receive;
    Stream* stream;

    bool isReady() const { return receive.isReady(); }
    void park(WaiterNode& waiter) { receive.park(waiter); }
    Result take() {
        if (stream->hasEnded()) {
            stream->throwIfFailed();
            return {};
        }
        return Read(receive.take());
    }
};
} // namespace internals

template <class Row>
class Rows {
public:
    static constexpr std::size_t kRows = 64;
    explicit Rows(std::unique_ptr<internals::Stream> stream) : stream_(std::move(stream)) {}

    /// Returns an operation that waits for a row. Its result is empty at the end.
    auto next() { return internals::NextItem<Row, read>{stream_->items.receive(), stream_.get()}; }

private:
    static Row read(internals::Stream::Item item) { return item.row.row<Row>(0); }
    std::unique_ptr<internals::Stream> stream_;
};

class CopyOut {
public:
    explicit CopyOut(std::unique_ptr<internals::Stream> stream) : stream_(std::move(stream)) {}

    /// Returns an operation that waits for the bytes of a row. Its result is empty at the end.
    auto next() { return internals::NextItem<Bytes, read>{stream_->items.receive(), stream_.get()}; }

private:
    static Bytes read(internals::Stream::Item item) { return std::move(item.bytes); }
    std::unique_ptr<internals::Stream> stream_;
};

class CopyIn {
public:
    explicit CopyIn(std::unique_ptr<internals::Stream> stream) : stream_(std::move(stream)) {}

    /// Sends bytes; rows may be cut anywhere. Waits while the kernel has no room. If the wait is cancelled, the bytes
    /// are sent all the same. An error of the server comes in finish().
    Future<Void> write(StringRef bytes);
    /// Ends the COPY, and returns the number of its rows. Must be the last call.
    Future<std::uint64_t> finish();

private:
    std::unique_ptr<internals::Stream> stream_;
};

struct Notification {
    std::string channel;
    std::string payload;
    int process = 0; // of the server, for the sender's connection
};

/// The notifications of a channel from the moment at which listen() has ended. If more than kMost are unread, next()
/// fails with query_failed after them. It fails with connection_failed when the connection is lost: listen again on a
/// new one, and then read what may have changed meanwhile.
class Notifications {
public:
    static constexpr std::size_t kMost = 1000;
    struct State {
        State(internals::Use use, std::string channel);
        ~State();
        void take(Notification notification);
        void end(Error failure) {
            error = failure;
            unread.close();
        }

        internals::Use use;
        std::string channel;
        Error error = {};
        Channel<Notification> unread{kMost};
    };
    struct Next {
        using Result = Notification;
        Channel<Notification>::Receive receive;
        State* state;

        bool isReady() const { return receive.isReady(); }
        void park(WaiterNode& waiter) { receive.park(waiter); }
        Notification take() {
            if (state->unread.isClosed() && state->unread.size() == 0)
                throw state->error;
            return receive.take();
        }
    };

    explicit Notifications(std::unique_ptr<State> state) : state_(std::move(state)) {}
    /// Returns an operation that waits for a notification.
    Next next() { return {state_->unread.receive(), state_.get()}; }

private:
    std::unique_ptr<State> state_;
};

} // namespace flow::net::postgres
