#pragma once
// SimDisk: the disk of a simulated machine. Faults are injected into it, and it outlives the processes that use it.
//
//     Process& server = world.add({.name = "server", .main = serve});
//     server.attach<ProcessDisk>(world);   // files() of this process is this disk
//     world.start(server);
//
//     PlainFaults faults(seed);            // or by hand, without a world:
//     SimDisk disk(faults);
//     loop.provide<FileSystem>(&disk);
//     disk.crash();                        // the power fails: operations that are running never end
//     disk.boot();                         // the next process finds what has survived
//
// SimDisk is a FileSystem (flow/file/async_file.h). Without faults, all written data survives a crash. With faults, a
// crash may lose unsynced data, as on a real disk. Durations are measured by the clock of the calling loop. All random
// numbers come from the generators of the faults: the same seed gives the same run.
//
// An operation takes effect as a whole, at a random moment of its duration. So operations that run at the same time may
// take effect in any order. If the future of an operation is dropped, a random bit decides if it takes effect.
//
// After kill() or crash(), operations have no effect and never end. After boot() they work again, but not on files that
// were opened before the kill() or crash(). The disk must outlive its files. "/a" and "a" are the same path.
//
// Permissions are stored but not enforced, as for root; the umask is 022. kill() and crash() release all locks, and
// lose no permissions and no times.

#include "flow/base/seconds.h"
#include "flow/file/async_file.h"
#include "flow/sim/detail/disk_file.h"
#include "flow/sim/process.h"
#include "flow/tasks/scope.h"

#include <map>
#include <optional>
#include <set>

namespace flow {

struct DiskSpeed {
    Seconds seconds = 0;     // the mean; an operation takes between 0 and twice the mean
    Seconds slowSeconds = 1; // added if the fault diskSlow or diskSlowSync is injected
};

class SimDisk final : public FileSystem {
public:
    /// The faults must outlive the disk.
    explicit SimDisk(FaultSource& faults, DiskSpeed const& diskSpeed = {});

    /// May be changed at any time.
    DiskSpeed speed;

    Future<Reference<AsyncFile>> open(std::string path, OpenMode mode, int permissions = 0666) override;
    Future<FileInfo> info(std::string path) override;
    Future<Void> setPermissions(std::string path, int permissions) override;
    /// Fails with unsupported_operation for a directory.
    Future<Void> rename(std::string from, std::string to) override;
    Future<Void> remove(std::string path) override;
    Future<Void> removeDirectory(std::string path) override;
    Future<bool> exists(std::string path) override;
    Future<std::vector<std::string>> list(std::string directory) override;
    Future<Void> makeDirectory(std::string path) override;
    Future<Void> syncDirectory(std::string path) override;

    /// Simulates a kill of the process. The machine runs on: after boot() all data is there, also unsynced data.
    void kill();
    /// Simulates a power failure. After boot() the synced data is there; the faults decide which other data is lost.
    void crash();
    /// Lets a new process use the disk.
    void boot();
    /// Returns the kinds of data that crash() could destroy now: see Attachment::risks() (flow/sim/process.h).
    unsigned risks() const;

private:
    class File;
    enum class Sort { Sync, Other };

    struct Entry {
        bool isDirectory() const { return !file; }
        Reference<DiskFile> file;
    };
    using Names = std::map<std::string, Entry>; // the keys are paths without a slash at the end
    using Paths = std::set<std::string>;
    /// A change of the names by one operation, which removes the name `goes`, adds the name `comes`, or both.
    struct NameChange {
        /// Returns true if a name in one of `directories` changes.
        bool touches(Paths const& directories) const;
        void addDirectories(Paths& directories) const;
        void apply(Names& names) const;

        std::string goes;
        std::string comes;
        Entry entry; // the entry of the name that comes
        std::uint64_t number = 0;
    };

    /// Runs effect() after a random time, and returns the future of its result. `call` is for the text of its error.
    template <class Call, class Effect>
    auto operate(Sort sort, Call call, Effect effect);
    double duration(Sort sort);

    // These functions throw a Failure, with the errno of a system call; operate() makes an Error of it.

    /// Returns true if `path` is a directory. Throws if the name is longer than a file system allows.
    bool isDirectory(std::string const& path) const;
    /// Throws if `path` is no directory.
    void needDirectory(std::string const& path) const;
    int reasonOfMissing(std::string path) const;
    Entry const& need(std::string const& path) const;

    void change(NameChange nameChange);
    /// Takes from unstoredNames_ the changes, with a number below `below`, that a sync of `directory` stores.
    std::vector<NameChange> takeUnstored(std::string const& directory, std::uint64_t below);
    /// Stores some of the changes; the others are lost for good.
    void storeSome(std::vector<NameChange> const& changes);
    void loseNames();

    FaultSource& dice_;
    DeterministicRandom random_; // for durations and dropped operations, which are not faults
    bool isOn_ = true;
    int lives_ = 0; // the number of lives that have ended, each by kill() or crash()
    Names names_;   // all names except the root
    Names storedNames_;
    std::vector<NameChange> unstoredNames_;
    std::uint64_t nameChanges_ = 0;
    mutable std::optional<unsigned> risks_; // empty if risks() must compute the risks again
    /// The operations of this life. The last member, so that it is destroyed first.
    std::optional<Scope> operations_;
};

/// The disk of a process. Its content outlives reboots. A power failure may lose unsynced data.
class ProcessDisk final : public Attachment {
public:
    explicit ProcessDisk(FaultSource& faults, DiskSpeed const& speed = {.seconds = 0.0001}) : disk(faults, speed) {}

    void started(Process& process) override;
    void stopped(Process& process, bool powerLost) override;
    unsigned risks() const override { return disk.risks(); }
    unsigned possibleRisks() const override { return kUnsyncedWrite | kUnsyncedWrites | kUnsyncedName; }

    SimDisk disk;
};

} // namespace flow
