#include "flow/file/lines.h"

#include "flow/combine/race.h"
#include "flow/core/stream.h"
#include "flow/wait/delay.h"
#include "tests/flow/file/machines.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"
#include "tests/flow/support/death.h"

#include <stdexcept>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::test;

namespace {

Future<std::string> joined(Lines* lines) {
    std::string all;
    while (Optional<std::string> line = co_await lines->next())
        all += "[" + *line + "]";
    co_return all;
}

Future<Void> linesOfFiles(std::string here) {
    Reference<AsyncFile> file = co_await make(here + "f", "one\n\ntwo\r\nthr\ree\nlast"_sr);
    Lines lines(file);
    CHECK(co_await joined(&lines) == "[one][][two][thr\ree][last]");
    CHECK_FALSE((co_await lines.next()).present());
    Reference<AsyncFile> empty = co_await make(here + "g", ""_sr);
    Lines none(empty);
    CHECK(co_await joined(&none) == "");
    Reference<AsyncFile> limited = co_await make(here + "i", "abcd\r\nab\r"_sr); // "\r" counts only without "\n"
    Lines fours(limited, 4);
    CHECK(co_await joined(&fours) == "[abcd][ab\r]");
    std::string many, expected;
    for (int i = 0; i < 5000; ++i) { // more than one read
        many += std::string(static_cast<std::size_t>(i % 40), 'x') + "\n";
        expected += "[" + std::string(static_cast<std::size_t>(i % 40), 'x') + "]";
    }
    Reference<AsyncFile> large = co_await make(here + "h", many);
    Lines others(large, 39);
    CHECK(co_await joined(&others) == expected);
}

const std::vector<std::string> kRests = {"\nb\n", "", std::string(100000, 'a')};

Future<Void> longLines(std::string here) {
    for (std::string const& rest : kRests) {
        Reference<AsyncFile> file = co_await files().open(here + "f", OpenMode::Create);
        co_await file->truncate(0);
        co_await file->write(0, "first\naaaaaaaaaaa" + rest);
        Lines lines(file, 10);
        Optional<std::string> first = co_await lines.next();
        CHECK(*first == "first");
        for (int i = 0; i < 2; ++i) {
            Future<Optional<std::string>> reading = keep(lines.next());
            ErrorOr<Optional<std::string>> next = co_await tryGet(std::move(reading));
            REQUIRE(next.isError());
            CHECK(next.getError().code() == error_code_value_too_large);
            CHECK(next.getError().what() == std::string("a line has more than 10 bytes"));
        }
    }
}

/// Gives what is sent to it.
struct Pieces : ReferenceCounted<Pieces> {
    PromiseStream<Standalone<StringRef>> sent;
    FutureStream<Standalone<StringRef>> stream = sent.getFuture();
    auto read(int) -> Future<Standalone<StringRef>> { return next(stream); }
    static Future<Standalone<StringRef>> next(FutureStream<Standalone<StringRef>> from) {
        Standalone<StringRef> bytes = co_await from;
        co_return bytes;
    }
};

Future<Void> raceForLines(Reference<Pieces> pieces) {
    Lines lines(pieces);
    auto late = co_await race(lines.next(), delay(1.0));
    CHECK(late.index() == 1);
    pieces->sent.send("ha"_sr);
    auto half = co_await race(lines.next(), delay(1.0));
    CHECK(half.index() == 1);
    pieces->sent.send("lf\nsecond\nth"_sr);
    co_await delay(1.0);
    auto other = co_await race(delay(0), lines.next(), Future<Void>(Void()));
    CHECK(other.index() == 1);
    CHECK(*std::get<1>(other) == "half");
    auto lost = co_await race(Future<Void>(Void()), lines.next());
    CHECK(lost.index() == 0);
    Optional<std::string> second = co_await lines.next();
    CHECK(*second == "second");
    pieces->sent.sendError(io_error());
    Future<Optional<std::string>> reading = keep(lines.next());
    ErrorOr<Optional<std::string>> third = co_await tryGet(std::move(reading));
    CHECK(third.getError() == io_error());
}

} // namespace

FILES_TEST("the lines of a file", linesOfFiles)
FILES_TEST("a line that is too long", longLines)

TEST_CASE("lines: what loses a race has taken no line") {
    Balance balance;
    SimLoop loop;
    loop.run(raceForLines(makeReference<Pieces>()));
}

TEST_CASE("lines: cancelled anywhere") {
    cancelEverywhere("Lines::next", [](Inputs& in) {
        auto pieces = makeReference<Pieces>();
        auto& lines = in.keep<Lines>(pieces);
        in.onStep([pieces] { pieces->sent.send("li"_sr); });
        in.onStep([pieces] { pieces->sent.send("ne\n"_sr); });
        return keep(lines.next());
    });
}

TEST_CASE("lines: lines that are there leave others their turns") {
    SimMachine machine;
    auto file = machine.loop.run(make("/f", std::string(10000, '\n')));
    Lines lines(file, 10);
    auto both = [](Lines* all) -> Future<int> {
        Future<std::string> reading = joined(all);
        co_await delay(0, TaskPriority::DefaultYield);
        int turns = 0;
        for (; !reading.isReady(); ++turns)
            co_await delay(0, TaskPriority::DefaultYield);
        co_return turns;
    };
    CHECK(machine.loop.run(both(&lines)) > 5);
}

TEST_CASE("lines: they end while one is awaited; and two may not be") {
    SimLoop loop;
    auto pieces = makeReference<Pieces>();
    auto lines = std::make_unique<Lines>(pieces);
    Future<Optional<std::string>> first = keep(lines->next());
    CHECK_NAMES_CALLER((void)keep(lines->next()));
    lines.reset();
    CHECK(first.getError() == broken_promise());
    CHECK_NAMES_CALLER(Lines(Reference<AsyncFile>()));
    CHECK_NAMES_CALLER(Lines(Reference<Pieces>()));
}

TEST_CASE("lines: an exception of the read is thrown as it is, each time") {
    SimLoop loop;
    Balance balance;
    struct Garbled : std::runtime_error {
        using runtime_error::runtime_error;
    };
    struct Reader : ReferenceCounted<Reader> {
        Future<Standalone<StringRef>> read(int) { throw Garbled("garbled"); }
    };
    Lines lines(makeReference<Reader>());
    for (int i = 0; i < 2; ++i)
        CHECK_THROWS_AS((void)loop.run(keep(lines.next())), Garbled);
}
