#pragma once
// Outbox: events, kept in a store until they are removed: in a Journal, or in PostgreSQL.
//
//     Reference<Outbox> outbox = co_await openJournal("/var/lib/webhooks/events");
//     co_await outbox->put(letter);              // when this is ready, the event survives kill -9 and a loss of power
//     co_await outbox->remove(letter.number);
//
// letters() has a change at once, and the store has it when the future is ready. After an error of the store every
// call fails: end the program, and open the Outbox again.

#include "flow/flow.h"
#include "flow/sync/event.h"

#include <map>
#include <string>

struct Letter {
    std::uint64_t number = 0;
    std::string receiver;
    std::string key;  // the same for each attempt to deliver the event: receivers know by it what they have got before
    std::string type; // of the body
    std::string body;
    std::string dead; // why it was given up; "" while it is to be delivered
};

class Outbox : public flow::ReferenceCounted<Outbox> {
public:
    virtual ~Outbox() = default;

    std::map<std::uint64_t, Letter> const& letters() const { return letters_; }
    /// Returns a number that no event has had.
    std::uint64_t nextNumber() { return ++last_; }
    /// Adds the event, or puts it in the place of the one with its number.
    flow::Future<flow::Void> put(Letter letter);
    flow::Future<flow::Void> remove(std::uint64_t number);
    /// Waits until the store has failed, with error().
    auto broken() { return broken_.wait(); }
    flow::Error error() const { return error_; }

protected:
    struct Change {
        std::uint64_t number = 0;
        flow::Optional<Letter> letter = {}; // none: it was removed
    };
    void apply(Change const& change);
    /// Ready when the change survives. letters() has it already.
    virtual flow::Future<flow::Void> store(Change change) = 0;

    std::map<std::uint64_t, Letter> letters_;
    std::uint64_t last_ = 0; // the number of an event

private:
    flow::Future<flow::Void> write(Change change);

    flow::Event broken_;
    flow::Error error_;
};

/// Opens the Outbox in the journal at `path`. Fails with timed_out if another process has it.
flow::Future<flow::Reference<Outbox>> openJournal(std::string path);
/// Opens the Outbox in a database of PostgreSQL, in its table `webhook`, which it makes. `url` is that of
/// net/postgres/connection.h. It waits half a minute for a database that is away. Two processes at one database lose no
/// event, but deliver some twice. Fails with unsupported_operation if the program was built without libpq.
flow::Future<flow::Reference<Outbox>> openDatabase(std::string url);
