#pragma once
// DiskFaults: how likely it is that a SimDisk misbehaves, and how.
//
//     DiskFaults faults;
//     faults.tornWrite = 0.3;
//     SimDisk disk(random, faults, [&](DiskFault fault) { count[nameOf(fault)]++; });
//
// Those of the first group happen when the power goes or a sync fails, and only to what had not been synced.
// misdirectedWrite and bitFlip are failing hardware: they damage what was synced as well.

#include "flow/base/random.h"

#include <functional>
#include <utility>

namespace flow {

/// Probabilities from 0 to 1, and durations in seconds.
struct DiskFaults {
    double lostWrite = 0;       // of each write and truncate: nothing of it is there
    double tornWrite = 0;       // of each write: some of its sectors of 512 bytes are there, others not
    double reorderedWrites = 0; // of each file: they went to the disk in some other order, and only the first ones did
    double lostName = 0;        // of each name made, changed or removed: that and all later ones of its directory

    double misdirectedWrite =
        0;              // of each write, as it comes to the disk: to another place in the file; seen after a crash
    double bitFlip = 0; // of each read: a bit of what it reads is wrong from here on

    double ioError = 0;   // of each operation but sync: fails with io_error and does nothing
    double diskFull = 0;  // of each write: fails with disk_full and writes a part
    double syncError = 0; // of each sync and syncDirectory: fails with io_error; of the writes as when the power goes

    double slowOperation = 0; // of each operation but sync: takes `slowSeconds` longer
    double slowSync = 0;      // the same of each sync and syncDirectory
    double slowSeconds = 1;
    double seconds = 0; // that an operation takes, on average
};

enum class DiskFault : unsigned char {
    LostWrite,
    TornWrite,
    ReorderedWrites,
    LostName,
    MisdirectedWrite,
    BitFlip,
    IoError,
    DiskFull,
    SyncError,
    SlowOperation,
    SlowSync,
};
inline constexpr int kDiskFaultKinds = static_cast<int>(DiskFault::SlowSync) + 1;

constexpr const char* nameOf(DiskFault fault) {
    constexpr const char* kNames[kDiskFaultKinds] = {"lostWrite",        "tornWrite",     "reorderedWrites", "lostName",
                                                     "misdirectedWrite", "bitFlip",       "ioError",         "diskFull",
                                                     "syncError",        "slowOperation", "slowSync"};
    return kNames[static_cast<int>(fault)];
}

namespace detail {

/// Decides what goes wrong, and tells of it.
struct DiskDice {
    DeterministicRandom& random;
    DiskFaults const& faults;
    std::function<void(DiskFault)> onFault;

    bool strikes(double DiskFaults::* probability, DiskFault fault) {
        double likely = faults.*probability;
        if (likely <= 0 || random.random01() >= likely)
            return false;
        if (onFault)
            onFault(fault);
        return true;
    }
};

} // namespace detail
} // namespace flow
