#pragma once
// Outbox: events, kept in a Journal until they are removed.
//
//     Reference<Outbox> outbox = co_await Outbox::open("/var/lib/webhooks/events");
//     co_await outbox->put(letter);              // when this is ready, the event survives kill -9 and a loss of power
//     co_await outbox->remove(letter.number);
//
// letters() has a change at once, and the journal has it when the future is ready. After an error of the disk every
// call fails: end the program, and open the Outbox again.

#include "flow/file/journal.h"
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
    static flow::Future<flow::Reference<Outbox>> open(std::string path);

    std::map<std::uint64_t, Letter> const& letters() const { return letters_; }
    /// Returns a number that no event has had.
    std::uint64_t nextNumber() { return ++last_; }
    /// Adds the event, or puts it in the place of the one with its number.
    flow::Future<flow::Void> put(Letter letter);
    flow::Future<flow::Void> remove(std::uint64_t number);
    /// Waits until the journal has failed, with error().
    auto broken() { return broken_.wait(); }
    flow::Error error() const { return error_; }

private:
    struct Change;
    struct State;
    void apply(Change const& change);
    flow::Future<flow::Void> write(Change change);

    flow::Reference<flow::Journal> journal_;
    std::map<std::uint64_t, Letter> letters_;
    std::uint64_t last_ = 0;
    std::size_t changes_ = 0; // since the last snapshot
    flow::Event broken_;
    flow::Error error_;
};
