// A journal on the simulated disk. tests/sim/kv/journal_simulation.cpp runs one under random faults.
#include "flow/file/journal.h"

#include "flow/combine/all.h"
#include "flow/combine/errors.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/disk.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace flow;

namespace {

/// All that is to be synced is lost for good with the one sync that fails, and all that is not synced with the power.
class OneSyncFails final : public FaultSource {
public:
    explicit OneSyncFails(int number) : left_(number) {}

    bool injects(FaultKind kind, std::uint64_t) override {
        if (kind == FaultKind::diskSyncError) {
            isLosing = isArmed && left_-- == 0;
            hasFailed |= isLosing;
            return isLosing;
        }
        return isLosing && (kind == FaultKind::diskLostWrite || kind == FaultKind::diskLostName);
    }
    DeterministicRandom& random(FaultKind) override { return random_; }
    DeterministicRandom& random() override { return random_; }

    bool isArmed = false;
    bool hasFailed = false;
    bool isLosing = false;

private:
    int left_;
    DeterministicRandom random_{1};
};

enum class Change { Append, Replace, Snapshot };

Future<Void> begin(Reference<Journal> journal, Change change) {
    switch (change) {
    case Change::Append:
        return journal->append(std::string(600, 'b'));
    case Change::Replace:
        return journal->replace({std::string(600, 'b'), std::string(600, 'c')});
    default:
        return journal->snapshot(std::string(600, 's'));
    }
}

/// After a failed sync it opens the journal again and goes on, as a server does that starts again.
Future<Void> goOn(OneSyncFails* faults, Change change) {
    Reference<Journal> journal = co_await Journal::open("/log");
    co_await journal->append(std::string(600, 'a'));
    faults->isArmed = true;
    Future<Void> changing = begin(journal, change);
    ErrorOr<Void> changed = co_await tryGet(std::move(changing));
    faults->isArmed = false;
    if (changed.isError())
        journal = co_await Journal::open("/log");
    co_await journal->append("acknowledged");
}

/// Damages a copy of the journal.
Future<Void> wipe(std::string path) {
    Reference<AsyncFile> file = co_await files().open(path, OpenMode::ReadWrite);
    co_await file->truncate(0);
    co_await file->sync();
}

Future<std::string> lastRecord() {
    Reference<Journal> journal = co_await Journal::open("/log");
    co_return journal->records().empty() ? std::string() : journal->records().back();
}

} // namespace

TEST_CASE("journal: what was acknowledged after a failed sync survives the damage of either copy") {
    for (Change change : {Change::Append, Change::Replace, Change::Snapshot})
        for (char const* damaged : {"/log1", "/log2"})
            for (int failing = 0;; ++failing) { // data and names of either copy
                INFO(int(change) << " " << damaged << " " << failing);
                OneSyncFails faults(failing);
                SimDisk disk(faults);
                {
                    SimLoop loop;
                    loop.provide<FileSystem>(&disk);
                    loop.run(goOn(&faults, change));
                    loop.run(wipe(damaged));
                }
                faults.isLosing = true;
                disk.crash();
                faults.isLosing = false;
                disk.boot();
                SimLoop loop;
                loop.provide<FileSystem>(&disk);
                CHECK(loop.run(lastRecord()) == "acknowledged");
                if (!faults.hasFailed) {
                    CHECK(failing == (change == Change::Append ? 2 : 4));
                    break;
                }
            }
}

namespace {

/// Counts the syncs, which it lets succeed.
class CountsSyncs final : public FaultSource {
public:
    bool injects(FaultKind kind, std::uint64_t) override {
        count += kind == FaultKind::diskSyncError;
        return false;
    }
    DeterministicRandom& random(FaultKind) override { return random_; }
    DeterministicRandom& random() override { return random_; }

    int count = 0;

private:
    DeterministicRandom random_{1};
};

// These stand outside the coroutines: gcc 12 cannot have braces in their frames.
const std::vector<std::string> kNew = {"new"};
const std::vector<std::string> kNewAndLast = {"new", "last"};

Future<Void> appendMany(CountsSyncs* faults) {
    Reference<Journal> journal = co_await Journal::open("/log");
    int before = faults->count;
    std::vector<Future<Void>> appends;
    for (int i = 0; i < 100; ++i)
        appends.push_back(journal->append(std::to_string(i)));
    appends[50] = Future<Void>(); // only the answer is dropped
    Future<Void> replacing = journal->replace(kNew);
    Future<Void> last = journal->append("last");
    for (Future<Void>& each : appends)
        if (each.isValid())
            co_await each;
    CHECK(journal->length() == 100);
    CHECK(faults->count - before == 4); // the first record alone, then all others; each in two files
    co_await last;
    CHECK(replacing.isReady());
    CHECK(journal->length() == 2);
    journal = co_await Journal::open("/log");
    CHECK(journal->records() == kNewAndLast);
}

Future<Void> failOnce(OneSyncFails* faults) {
    Reference<Journal> journal = co_await Journal::open("/log");
    faults->isArmed = true;
    Future<Void> first = journal->append("a");
    Future<Void> second = journal->append("b");
    CHECK((co_await tryGet(first)).isError());
    CHECK((co_await tryGet(second)).isError());
    Future<Void> third = journal->append("c");
    CHECK((third.isReady() && third.isError()));
    CHECK((co_await tryGet(journal->replace(kNew))).isError());
}

} // namespace

TEST_CASE("journal: appends that come together share a sync, and a replace keeps its place among them") {
    CountsSyncs faults;
    SimDisk disk(faults, {.seconds = 0.001});
    SimLoop loop;
    loop.provide<FileSystem>(&disk);
    loop.run(appendMany(&faults));
}

TEST_CASE("journal: after an error of the disk all calls fail") {
    OneSyncFails faults(0);
    SimDisk disk(faults);
    SimLoop loop;
    loop.provide<FileSystem>(&disk);
    loop.run(failOnce(&faults));
}

TEST_CASE("journal: the last reference ends a write that is under way") {
    test::Balance balance;
    CountsSyncs faults;
    SimDisk disk(faults, {.seconds = 0.001});
    SimLoop loop;
    loop.provide<FileSystem>(&disk);
    Reference<Journal> journal = loop.run(Journal::open("log"));
    Future<Void> append = journal->append("a");
    Future<Void> more = journal->append("b");
    journal.clear();
    append = more = Future<Void>();
    loop.run();
}

namespace {

/// The numbers from 1 to last(). A snapshot says only its last number.
struct Numbers {
    explicit Numbers(Journal const& journal) : number(journal.lastSnapshot() ? std::stoi(*journal.lastSnapshot()) : 0) {
        for (std::string const& record : journal.records())
            isWhole &= std::stoi(record) == ++number;
    }
    int number;
    bool isWhole = true;
};

struct Done {
    int begun = 0;
    int acknowledged = 0;
    bool ended = false;
};

/// Writes 1 to 8, with a snapshot after each third number. The last number has the size of several sectors.
Future<Void> count(Done* done) {
    Reference<Journal> journal = co_await Journal::open("/log");
    for (int i = 1; i <= 8; ++i) {
        done->begun = i;
        co_await journal->append(std::to_string(i) + std::string(i * 200, ' '));
        done->acknowledged = i;
        if (i % 3 == 0)
            co_await journal->snapshot(std::to_string(i) + std::string(1000, ' '));
    }
    done->ended = true;
}

Future<int> readNumbers() {
    Reference<Journal> journal = co_await Journal::open("/log");
    Numbers there(*journal);
    CHECK(there.isWhole);
    CHECK(journal->length() == journal->records().size());
    co_return there.number;
}

Future<Void> trim() {
    Reference<Journal> journal = co_await Journal::open("/log");
    CHECK(!journal->lastSnapshot());
    Future<Void> one = journal->append("1"), both = journal->append("2");
    Future<Void> snapshot = journal->snapshot("2"), three = journal->append("3");
    co_await three;
    CHECK(snapshot.isReady());
    CHECK(journal->length() == 1);
    journal = co_await Journal::open("/log");
    CHECK(journal->lastSnapshot() == "2");
    CHECK(journal->records() == std::vector<std::string>(1, "3"));
    CHECK(journal->length() == 1);
    co_await journal->snapshot("");
    co_await journal->append("4");
    journal = co_await Journal::open("/log");
    CHECK(journal->lastSnapshot() == "");
    CHECK(journal->length() == 1);
    co_await journal->replace(kNewAndLast);
    journal = co_await Journal::open("/log");
    CHECK(!journal->lastSnapshot());
    CHECK(journal->records() == kNewAndLast);
}

} // namespace

TEST_CASE("journal: a snapshot takes the place of the records before it") {
    CountsSyncs faults;
    SimDisk disk(faults, {.seconds = 0.001});
    SimLoop loop;
    loop.provide<FileSystem>(&disk);
    loop.run(trim());
}

TEST_CASE("journal: a kill or a loss of power at any step leaves the last snapshot and the records behind it") {
    Faults some;
    some.diskTornWrite = some.diskLostWrite = some.diskReorderedWrite = some.diskLostName = 0.5;
    for (bool powerLost : {false, true}) {
        Done done;
        for (int step = 0; !done.ended; ++step) {
            INFO(powerLost << " " << step);
            PlainFaults faults(static_cast<std::uint64_t>(step), some);
            SimDisk disk(faults, {.seconds = 0.001});
            done = Done();
            {
                SimLoop loop;
                loop.provide<FileSystem>(&disk);
                Future<Void> counting = count(&done);
                loop.run(delay(step * 0.0015));
                powerLost ? disk.crash() : disk.kill();
            }
            disk.boot();
            SimLoop loop;
            loop.provide<FileSystem>(&disk);
            int there = loop.run(readNumbers());
            CHECK(there >= done.acknowledged);
            CHECK(there <= done.begun);
            CHECK(step < 1000);
        }
    }
}

namespace {

/// Leaves a journal while it is opened or changed, and opens it again at once.
Future<Void> leaveAt(double seconds, int change, SimDisk* disk, bool* ended) {
    Future<Reference<Journal>> opening = Journal::open("/log");
    Reference<Journal> journal = co_await opening;
    co_await journal->append("1");
    Future<Void> changing;
    if (change == 0) {
        journal.clear();
        opening = Journal::open("/log");
        changing = success(opening);
    } else {
        changing = change == 1 ? journal->append("2") : journal->snapshot("1");
    }
    co_await delay(seconds);
    *ended = changing.isReady();
    opening = Future<Reference<Journal>>();
    changing = Future<Void>();
    journal.clear();
    disk->speed.seconds = 0.001; // so much of what is under way happens later
    journal = co_await Journal::open("/log");
    int next = Numbers(*journal).number + 1;
    CHECK(next >= 2);
    co_await journal->append(std::to_string(next));
    co_await delay(1); // what was under way has happened
    co_await journal->append(std::to_string(next + 1));
    journal.clear();
    int there = co_await readNumbers();
    CHECK(there == next + 1);
    std::vector<std::string> names = co_await files().list("/");
    CHECK(names.size() == 2);
}

} // namespace

TEST_CASE("journal: one that is left at any step, and opened again at once, loses nothing") {
    for (int change = 0; change < 3; ++change)
        for (int seed = 0; seed < 20; ++seed) {
            bool ended = false;
            for (int step = 0; !ended; ++step) {
                INFO(change << " " << seed << " " << step);
                test::Balance balance;
                PlainFaults faults(static_cast<std::uint64_t>(seed));
                SimDisk disk(faults, {.seconds = 0.02});
                SimLoop loop;
                loop.provide<FileSystem>(&disk);
                loop.run(leaveAt(step * 0.02, change, &disk, &ended));
                CHECK(step < 100);
            }
        }
}
