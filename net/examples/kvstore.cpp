// kvstore PORT DIRECTORY: a server of keys and values in a RocksDB database; each connection is a fiber.
// PORT 0: a free port. SIGTERM and SIGINT end the program cleanly.
//
//     $ kvstore 4500 /tmp/store &
//     $ nc -N 127.0.0.1 4500
//     SET colour dark blue
//     OK
//     GET colour
//     VALUE dark blue
//     SCAN co 10                     keys from "co" on, at most ten; without a number a hundred
//     colour dark blue
//     END
//     DEL colour
//     OK
//     GET colour
//     NONE
//
// A key has no blank. Keys and values have no line end. A line has at most 64 KiB. The answer to a failed request is
// ERROR and the reason. The connection stays open, unless a line was too long or has no end. Answers come in the order
// of the requests. A change that was answered with OK survives the end of the program, but not always a loss of power.

#include "flow/base/parse_number.h"
#include "flow/fiber/fiber_thread_pool.h"
#include "flow/flow.h"
#include "flow/wait/signals.h"
#include "net/serve.h"

#include <csignal>
#include <cstdio>
#include <memory>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <string>
#include <string_view>

using namespace flow;
using namespace flow::net;

namespace {

constexpr std::uint32_t kLongestLine = 64 << 10;
constexpr int kScanned = 100;      // the number of keys for a SCAN without a number
constexpr int kScannedAtOnce = 64; // the most keys that one call on a thread reads

std::string_view takeWord(std::string_view& text) {
    std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    return word;
}

std::string outcome(rocksdb::Status const& status) {
    if (status.ok())
        return "OK\n";
    std::string why = status.ToString();
    std::replace(why.begin(), why.end(), '\n', ' ');
    return "ERROR " + why + "\n";
}

/// The database. Its calls run on threads, so the loop never waits for a disk. A call may outlive its fiber, so it owns
/// the objects that it uses.
class Store {
public:
    explicit Store(std::shared_ptr<rocksdb::DB> db) : db_(std::move(db)), pool_(Loop::current(), {.name = "kvstore"}) {}

    /// Returns the answer to a line. For SCAN, first writes the keys and values to the connection.
    std::string answer(std::string_view line, Connection& connection) {
        std::string_view rest = line;
        std::string_view command = takeWord(rest);
        std::string key(takeWord(rest));
        if (command == "SCAN" && key.empty() == rest.empty())
            return scan(key, rest, connection);
        if (key.empty() || (command != "SET" && !rest.empty()))
            return "ERROR write SET KEY VALUE, GET KEY, DEL KEY or SCAN [FIRST NUMBER]\n";
        if (command == "SET")
            return call([db = db_, key, value = std::string(rest)] { return outcome(db->Put({}, key, value)); });
        if (command == "DEL")
            return call([db = db_, key] { return outcome(db->Delete({}, key)); });
        if (command == "GET")
            return call([db = db_, key] { return get(*db, key); });
        return "ERROR there is no such command\n";
    }

private:
    template <class F>
    std::string call(F action) {
        return fiber::wait(pool_.run(std::move(action)));
    }

    static std::string get(rocksdb::DB& db, std::string const& key) {
        std::string value;
        rocksdb::Status status = db.Get({}, key, &value);
        if (status.IsNotFound())
            return "NONE\n";
        return status.ok() ? "VALUE " + value + "\n" : outcome(status);
    }

    std::string scan(std::string const& first, std::string_view number, Connection& connection) {
        auto wanted = number.empty() ? kScanned : parseNumber<int>(number).value_or(-1);
        if (wanted < 0)
            return "ERROR the number of keys is no number\n";
        std::shared_ptr<rocksdb::Iterator> place(db_->NewIterator({}),
                                                 [db = db_](rocksdb::Iterator* end) { delete end; });
        call([place, first] { return place->Seek(first), std::string(); });
        while (wanted > 0) {
            int count = std::min(wanted, kScannedAtOnce);
            wanted -= count;
            std::string text = call([place, count] { return some(*place, count); });
            if (text.empty())
                break;
            fiber::wait(connection.write(Bytes(StringRef(text)))); // waits if the other side reads slowly
        }
        return place->status().ok() ? "END\n" : outcome(place->status());
    }
    static std::string some(rocksdb::Iterator& place, int count) {
        std::string text;
        for (; count > 0 && place.Valid(); --count, place.Next())
            text += place.key().ToString() + " " + place.value().ToString() + "\n";
        return text;
    }

    std::shared_ptr<rocksdb::DB> db_;
    FiberThreadPool pool_;
};

/// Refuses a line that is too long. Reads all other bytes, because closing with unread bytes might lose the answer.
void refuseLongLine(Connection& connection) {
    fiber::wait(connection.write("ERROR the line is too long\n"_sr));
    connection.shutdownWrite();
    Future<Void> enough = delay(5.0);
    for (;;) {
        auto first = fiber::wait(race(connection.read(), enough));
        if (first.index() != 0 || std::get<0>(first).empty())
            return;
    }
}

/// Refuses a last line without an end, because it may be incomplete. The other side has ended its writing.
void refuseHalfLine(Connection& connection) {
    (void)fiber::wait(connection.read()); // reads the line: with unread bytes, the connection would fail
    fiber::wait(connection.write("ERROR the last line has no end\n"_sr));
}

void serveConnection(Store& store, Connection& connection, Event& ending) {
    for (;;) {
        Bytes line;
        try {
            auto next = fiber::wait(race(connection.readUntil("\n"_sr, kLongestLine), ending.wait()));
            if (next.index() == 1)
                return;
            line = std::get<0>(std::move(next));
        } catch (Error& error) {
            if (error.code() == error_code_connection_cut_off)
                return refuseHalfLine(connection);
            if (error.code() != error_code_value_too_large)
                throw;
        }
        if (line.empty())
            return refuseLongLine(connection);
        std::string_view text = line.toStringView();
        text.remove_suffix(text.ends_with("\r\n") ? 2 : 1);
        std::string answer = store.answer(text, connection);
        fiber::wait(connection.write(Bytes(StringRef(answer))));
    }
}

void serve(std::uint16_t port, Store& store) {
    Reference<Listener> listener = transport().listen(Address(0x7F000001, port));
    Future<int> stop = keep(signals({SIGTERM, SIGINT}));
    std::printf("listening at %s\n", listener->localAddress().toString().c_str());
    std::fflush(stdout);
    auto start = [&store](Reference<Connection> connection, Event* ending) {
        try {
            return fiber::spawn([&store, connection, ending] { serveConnection(store, *connection, *ending); });
        } catch (std::bad_alloc&) { // there are too many stacks
            return Future<Void>(platform_error());
        }
    };
    fiber::wait(serveUntil(listener, start, success(stop), 1.0));
}

std::unique_ptr<rocksdb::DB> open(char const* directory) {
    rocksdb::Options options;
    options.create_if_missing = true;
    rocksdb::DB* db = nullptr;
    rocksdb::Status status = rocksdb::DB::Open(options, directory, &db);
    if (!status.ok())
        std::fprintf(stderr, "kvstore: %s: %s\n", directory, status.ToString().c_str());
    return std::unique_ptr<rocksdb::DB>(db);
}

} // namespace

int main(int argc, char** argv) {
    auto port = argc == 3 ? parseNumber<std::uint16_t>(argv[1]) : std::nullopt;
    if (!port) {
        std::fprintf(stderr, "usage: %s PORT DIRECTORY\n", argv[0]);
        return 2;
    }
    auto db = open(argv[2]);
    if (!db)
        return 1;
    try {
        RealLoop loop;
        Store store(std::move(db));
        loop.run(fiber::spawn([&] { serve(*port, store); }));
        return 0;
    } catch (Error& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}
