#pragma once
// Faults: the probability of each kind of fault in a simulated world. All probabilities are 0 at first.
//
//     Faults faults;
//     faults.connectionReset = 0.001;              // one message in a thousand breaks its connection
//     World world(seed, faults);
//
//     World other(seed, Faults::swarm(seed));      // some of the faults, with random probabilities
//
// If everything fails all the time, hardly any operation gets far enough to fail in an interesting way. So swarm()
// leaves out half of the kinds of faults, at random (Groce et al., "Swarm testing", 2012).

#include "flow/base/random.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace flow {

// Each fault has a name, a text and a number. The text begins with the unit of the fault's probability, for example
// "per message". The number is the highest probability that swarm() gives to the fault.
#define FLOW_FAULTS(X)                                                                                                 \
    X(processKill, "per second of a process: it is killed, and started again after a while", 0.02)                     \
    X(processReboot, "per second of a process: it is killed, and started again at once", 0.02)                         \
    X(powerLoss, "per second of a process: it is killed, and its disk loses what was not synced", 0.1)                 \
    X(blackout, "per second of a process: it and some others lose power in the same moment", 0.005)                    \
    X(processPause, "per second of a process: nothing of it runs for a while", 0.03)                                   \
    X(processSlow, "per second of a process: for a while each of its turns takes long", 0.02)                          \
    X(addressSwap, "per second of a process: it and another are rebooted with each other's address", 0.005)            \
    X(clockJump, "per second of a process: its clock jumps ahead", 0.01)                                               \
    X(systemClockJump, "per second of a process: its calendar clock jumps ahead or back", 0.02)                        \
    X(clockDrift, "per second of a process: its clock begins to run faster or slower", 0.02)                           \
    X(allocationFailure, "per second of a process: one of its next allocations fails", 0.01)                           \
    X(partitionOneWay, "per second of a process: another one hears nothing of it for a while", 0.02)                   \
    X(partitionTwoWay, "per second of a process: some others and it hear nothing of each other for a while", 0.02)     \
    X(clog, "per message: it and all that follow it on its way wait for a while", 0.002)                               \
    X(latencySpike, "per message: it takes much longer", 0.01)                                                         \
    X(slowLink, "per connection: it has little bandwidth", 0.1)                                                        \
    X(connectionRefused, "per connection: it is refused", 0.05)                                                        \
    X(connectionHalfOpen, "per connection: from some message on nothing arrives, without an error", 0.02)              \
    X(connectionReset, "per message: its connection breaks", 0.001)                                                    \
    X(messageCorruption, "per message: one of its bits is wrong", 0.0005)                                              \
    X(shortRead, "per read of a connection: it gives less than has come", 0.1)                                         \
    X(mergedRead, "per message behind the one that is read: the read gives it as well", 0.5)                           \
    X(datagramLoss, "per datagram: it is lost", 0.1)                                                                   \
    X(datagramDuplicate, "per datagram: it comes twice", 0.05)                                                         \
    X(datagramReorder, "per datagram: others overtake it", 0.1)                                                        \
    X(diskTornWrite, "per unsynced write at a crash: only some of its sectors are there", 1)                           \
    X(diskLostWrite, "per unsynced write at a crash: it is not there", 0.5)                                            \
    X(diskReorderedWrite, "per file at a crash: unsynced writes reached it in another order, and not all did", 1)      \
    X(diskLostName, "per unsynced change of a name at a crash: it and all later ones of its directory are undone",     \
      0.8)                                                                                                             \
    X(diskMisdirectedWrite, "per write: it goes to another place of the file", 0.0003)                                 \
    X(diskBitFlip, "per read: one of its bits is wrong from here on", 0.0002)                                          \
    X(diskError, "per operation on a file but sync: io_error", 0.001)                                                  \
    X(diskSyncError, "per sync: io_error, and of what was not synced something may be lost, for good", 0.001)          \
    X(diskFull, "per write: there is no space", 0.001)                                                                 \
    X(diskSlow, "per operation on a file: it takes long", 0.01)                                                        \
    X(diskSlowSync, "per sync: it takes long", 0.02)                                                                   \
    X(buggify, "per visit of an armed site of buggify(): it is true", 0.25)

enum class FaultKind : std::uint8_t {
#define FLOW_FAULT(name, meaning, most) name,
    FLOW_FAULTS(FLOW_FAULT)
#undef FLOW_FAULT
};

struct Faults {
#define FLOW_FAULT(name, meaning, most) double name = 0;
    FLOW_FAULTS(FLOW_FAULT)
#undef FLOW_FAULT

    double of(FaultKind kind) const;
    /// Draws a random swarm from the seed: each kind is left out with probability 1/2, buggify with 1/4. The draws are
    /// independent, so a new kind does not change the others.
    static Faults swarm(std::uint64_t seed);
    /// Returns the faults that are not 0, as `name = value` with commas between.
    std::string toString() const;
};

inline constexpr const char* kFaultNames[] = {
#define FLOW_FAULT(name, meaning, most) #name,
    FLOW_FAULTS(FLOW_FAULT)
#undef FLOW_FAULT
};
inline constexpr double Faults::* kFaultProbabilities[] = {
#define FLOW_FAULT(name, meaning, most) &Faults::name,
    FLOW_FAULTS(FLOW_FAULT)
#undef FLOW_FAULT
};

inline double Faults::of(FaultKind kind) const {
    return this->*kFaultProbabilities[static_cast<std::size_t>(kind)];
}

inline constexpr std::size_t kFaultKinds = std::size(kFaultNames);
inline const char* faultName(FaultKind kind) {
    return kFaultNames[static_cast<std::size_t>(kind)];
}

/// The number of injected faults of each kind.
class FaultCounts {
public:
    std::uint64_t& operator[](FaultKind kind) { return counts_[static_cast<std::size_t>(kind)]; }
    std::uint64_t operator[](FaultKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }

    std::uint64_t total() const;
    /// Returns the kinds with a number above 0, as `name = count` with commas between.
    std::string toString() const;

private:
    std::array<std::uint64_t, kFaultKinds> counts_{};
};

/// Decides which faults are injected, and counts them. A World is a FaultSource.
class FaultSource {
public:
    /// Returns true if a fault of this kind is injected now. `what` is 0 or the target's id, the same in every run.
    virtual bool injects(FaultKind kind, std::uint64_t what = 0) = 0;
    /// Returns the generator for the details of the last fault of this kind, such as its bit or its duration.
    virtual DeterministicRandom& random(FaultKind kind) = 0;
    /// Returns the generator for choices other than faults. To draw many numbers, seed another generator from it.
    virtual DeterministicRandom& random() = 0;

protected:
    ~FaultSource() = default;
};

/// The random numbers of faults. Each kind has its own generator, and each injected fault seeds a generator for its own
/// details. If a fault is left out, the other faults stay the same for as long as the program behaves as before.
class FaultDice {
public:
    explicit FaultDice(std::uint64_t seed);

    /// Returns true with the probability `likely`. Later draws stay the same if the caller does not inject the fault.
    bool injects(FaultKind kind, double likely) {
        if (likely <= 0)
            return false;
        auto place = static_cast<std::size_t>(kind);
        std::uint64_t number = whether_[place].randomUInt64();
        if (static_cast<double>(number >> 11) * 0x1.0p-53 >= likely)
            return false;
        how_[place] = DeterministicRandom(number);
        return true;
    }
    DeterministicRandom& how(FaultKind kind) { return how_[static_cast<std::size_t>(kind)]; }

private:
    std::vector<DeterministicRandom> whether_;
    std::vector<DeterministicRandom> how_;
};

/// A FaultSource for tests without a World.
class PlainFaults final : public FaultSource {
public:
    explicit PlainFaults(std::uint64_t seed, Faults const& some = {}) : faults(some), random_(seed), dice_(seed) {}

    bool injects(FaultKind kind, std::uint64_t what = 0) override;
    DeterministicRandom& random(FaultKind kind) override { return dice_.how(kind); }
    DeterministicRandom& random() override { return random_; }

    Faults faults;
    FaultCounts counts;

private:
    DeterministicRandom random_;
    FaultDice dice_;
};

} // namespace flow
