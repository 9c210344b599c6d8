// "journal": numbers go into a journal one after the other, on a disk that damages one of its two copies at a time, and
// whose syncs fail now and then, so that what is seen of the other copy may not be on it. What is in both must come out
// again, wherever the power fails, and wherever the journal is left and opened again.
#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "flow/file/journal.h"
#include "flow/sim/disk.h"
#include "flow/sim/simulation.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace kv {
using namespace flow;

namespace {

constexpr int kWindow = 60;              // numbers that stay when the journal is replaced
constexpr std::size_t kRecords = 80;     // with so many it is
constexpr double kMisdirected = 0.1;     // per write while it is replaced, if both copies are whole
constexpr double kPowerLoss = 0.5;       // a second
constexpr double kSyncError = 0.005;     // a sync: it opens the journal again and goes on
constexpr double kLeft = 0.01;           // an append: the journal is left, and opened again
constexpr std::size_t kRecordBytes = 83; // four fill a sector

std::string recordOf(int number) {
    std::string record = format("%d", number);
    record.resize(kRecordBytes, ' ');
    return record;
}

class Keeper {
public:
    explicit Keeper(World& world) : world_(world) {
        Faults faults = world.faults();
        faults.diskBitFlip = faults.diskMisdirectedWrite = 0;
        faults.powerLoss = kPowerLoss;
        faults.diskSyncError = kSyncError;
        world.setFaults(faults);
        world.addInvariant([this]() -> std::optional<std::string> {
            if (damages() > healed_)
                damage(0); // until it has been found
            return {};
        });
    }

    Future<Void> run() {
        damage(0); // if the last life has ended while it was replaced
        Reference<Journal> journal = co_await Journal::open("/journal");
        int last = lastOf(*journal);
        if (losses() > losses_) { // so that it has read what the disk really holds, and made it good
            losses_ = losses();
            healed_ = damages();
        }
        std::size_t held = journal->lastSnapshot() ? kWindow : 0; // numbers that the snapshot has
        for (int next = last + 1;; ++next) {
            if (held + journal->length() < kRecords && deterministicRandom()->random01() < kLeft) {
                Future<Void> appending = journal->append(recordOf(next));
                co_await delay(0.001 * deterministicRandom()->random01());
                appending = Future<Void>();
                journal.clear();
                journal = co_await Journal::open("/journal");
                next = lastOf(*journal);
                held = journal->lastSnapshot() ? kWindow : 0;
                continue;
            }
            if (held + journal->length() < kRecords) {
                co_await journal->append(recordOf(next));
            } else {
                if (damages() == healed_)
                    damage(kMisdirected);
                Future<Void> trimming = trim(*journal, next);
                co_await trimming;
                held = hasSnapshotAt(next) ? kWindow : 0;
                damage(0);
            }
            acknowledged_ = next;
            co_await delay(0.01 * deterministicRandom()->random01());
        }
    }

private:
    std::uint64_t damages() const { return world_.faultCounts()[FaultKind::diskMisdirectedWrite]; }
    std::uint64_t losses() const { return world_.faultCounts()[FaultKind::powerLoss]; }
    void damage(double probability) {
        Faults faults = world_.faults();
        faults.diskMisdirectedWrite = probability;
        world_.setFaults(faults);
    }

    static bool hasSnapshotAt(int last) { return last % 2 == 0; }
    /// Leaves the last numbers, as records or as the state of a snapshot.
    static Future<Void> trim(Journal& journal, int last) {
        std::vector<std::string> records;
        for (int number = std::max(1, last - kWindow + 1); number <= last; ++number)
            records.push_back(recordOf(number));
        if (!hasSnapshotAt(last))
            return journal.replace(std::move(records));
        std::string state;
        for (std::string const& record : records)
            state += record;
        return journal.snapshot(state);
    }
    int lastOf(Journal const& journal) {
        int last = 0;
        std::string all = journal.lastSnapshot().value_or("");
        for (std::string const& record : journal.records())
            all += record;
        for (std::size_t at = 0; at < all.size(); at += kRecordBytes) {
            int number = std::atoi(all.substr(at, kRecordBytes).c_str());
            if (last != 0 && number != last + 1)
                world_.fail(format("behind %d stands %d", last, number));
            last = number;
        }
        if (last < acknowledged_)
            world_.fail(format("%d numbers were acknowledged, and %d are there", acknowledged_, last));
        return last;
    }

    World& world_;
    int acknowledged_ = 0;
    std::uint64_t healed_ = 0; // damages that are
    std::uint64_t losses_ = 0;
};

Future<Void> simulate(World& world) {
    Keeper keeper(world);
    auto main = [&]() -> Future<Void> { return keeper.run(); };
    Process& process = world.add({.name = "keeper", .main = main, .restartAfter = 0.1});
    process.attach<ProcessDisk>(world);
    world.start(process);
    co_await delay(60);
    world.stopAll(); // its main refers to what is here
}

Simulation const registered("journal", simulate);

} // namespace
} // namespace kv
