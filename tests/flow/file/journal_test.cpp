// A journal on the simulated disk. tests/sim/kv/journal_simulation.cpp runs one under random faults.
#include "flow/file/journal.h"

#include "flow/combine/errors.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/disk.h"
#include "flow/sim/sim_loop.h"
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

/// After a failed sync it opens the journal again and goes on, as a server does that starts again.
Future<Void> goOn(OneSyncFails* faults, bool replaces) {
    Reference<Journal> journal = co_await Journal::open("/log");
    co_await journal->append(std::string(600, 'a'));
    faults->isArmed = true;
    Future<Void> changing = replaces ? journal->replace({std::string(600, 'b'), std::string(600, 'c')})
                                     : journal->append(std::string(600, 'b'));
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
    for (bool replaces : {false, true})
        for (char const* damaged : {"/log1", "/log2"})
            for (int failing = 0;; ++failing) { // data and names of either copy
                INFO(replaces << " " << damaged << " " << failing);
                OneSyncFails faults(failing);
                SimDisk disk(faults);
                {
                    SimLoop loop;
                    loop.provide<FileSystem>(&disk);
                    loop.run(goOn(&faults, replaces));
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
                    CHECK(failing == (replaces ? 4 : 2));
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
