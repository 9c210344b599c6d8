#include "net/examples/patterns/clone.h"

#include "flow/base/parse_number.h"
#include "flow/flow.h"
#include "flow/sync/ticks.h"

using namespace flow;
using namespace flow::net;

namespace {

constexpr double kBeat = 1; // seconds between two BEATs

/// Returns options for messages with a whole table, which may have many parts.
MessageOptions forTables() {
    MessageOptions options = beating();
    options.limits.parts = 1'000'000;
    return options;
}

/// Returns a random term, so that a restarted server has another term.
std::string newTerm() {
    DeterministicRandom* random = Loop::current().isSimulated() ? deterministicRandom() : nondeterministicRandom();
    return std::to_string(random->randomUInt64());
}

std::uint64_t numberOf(std::string_view text) {
    return parseNumber<std::uint64_t>(text).value_or(0);
}

} // namespace

CloneServer::CloneServer(CloneEndpoints const& endpoints)
    : snapshots_(SocketType::Rep, forTables()), changes_(SocketType::Pub, beating()),
      sets_(SocketType::Pull, beating()), term_(newTerm()) {
    snapshots_.bind(endpoints.snapshots);
    changes_.bind(endpoints.changes);
    sets_.bind(endpoints.sets);
}

Future<Void> CloneServer::run() {
    Scope scope;
    scope.spawn(giveSnapshots());
    scope.spawn(takeSets());
    scope.spawn(beat());
    co_await scope.join();
}

/// Returns a message: the term, the number of the last change, and all keys with their values.
Message CloneServer::snapshot() const {
    Message message(term_);
    message.add(std::to_string(last_));
    for (auto const& [key, value] : table_)
        message.add(key).add(value);
    return message;
}

Future<Void> CloneServer::giveSnapshots() {
    for (;;) {
        (void)co_await snapshots_.receive();
        co_await snapshots_.send(snapshot());
    }
}

Future<Void> CloneServer::takeSets() {
    for (;;) {
        Message set = co_await sets_.receive();
        if (set.parts() != 2)
            continue;
        table_[std::string(set[0])] = set[1];
        Message change("SET");
        change.add(term_).add(std::to_string(++last_)).add(set[0]).add(set[1]);
        co_await changes_.send(change);
    }
}

Future<Void> CloneServer::beat() {
    Ticks beats(kBeat);
    for (;;) {
        co_await beats.next();
        Message beat("BEAT");
        beat.add(term_).add(std::to_string(last_));
        co_await changes_.send(beat);
    }
}

// -------------------------------------------------------------------------------------------------------------------

Replica::Replica(CloneEndpoints const& endpoints)
    : changes_(SocketType::Sub, beating()), sets_(SocketType::Push, beating()),
      asker_(endpoints.snapshots, {}, forTables()) {
    changes_.subscribe("");
    changes_.connect(endpoints.changes);
    sets_.connect(endpoints.sets);
}

Future<Void> Replica::set(std::string_view key, std::string_view value) {
    return sets_.send(std::move(Message(key).add(value)));
}

/// Asks for the table. Changes that come before the table wait in the socket. follow() skips changes that the table
/// has.
Future<Void> Replica::fetch() {
    ErrorOr<Message> asked = co_await tryGet(asker_.ask(Message("TABLE")));
    if (asked.isError(error_code_timed_out) || (!asked.isError() && asked.get().parts() < 2))
        co_return; // after the next change or BEAT, follow() calls this function again
    Message table = std::move(asked).get();
    term_ = table[0];
    last_ = numberOf(table[1]);
    table_.clear();
    for (auto part = ++ ++table.begin(); part != table.end(); ++part) {
        std::string& value = table_[std::string(*part)];
        if (++part == table.end())
            break;
        value = *part;
    }
}

Future<Void> Replica::follow() {
    for (;;) {
        Message news = co_await changes_.receive(); // SET or BEAT, the term, the number; if SET, the key and the value
        bool isSet = news[0] == "SET" && news.parts() == 5;
        if (!isSet && news.parts() != 3)
            continue;
        std::uint64_t number = numberOf(news[2]);
        if (news[1] == term_ && number <= last_)
            continue;
        if (isSet && news[1] == term_ && number == last_ + 1) {
            table_[std::string(news[3])] = news[4];
            last_ = number;
        } else {
            co_await fetch();
        }
    }
}
