// A journal on the simulated disk. tests/sim/kv/journal_simulation.cpp runs one under random faults.
#include "flow/file/journal.h"

#include "flow/combine/errors.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/disk.h"
#include "flow/sim/sim_loop.h"

#include <doctest/doctest.h>

#include <string>

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
