#pragma once
// SimDisk: a disk of a simulated machine, which fails as its faults say and outlives the processes that use it.
//
//     Process& server = world.add({.name = "server", .main = serve});
//     server.attach<ProcessDisk>(world);   // files() is that disk there
//     world.start(server);
//
//     PlainFaults faults(seed);            // or by hand, without a world:
//     SimDisk disk(faults);
//     loop.provide<FileSystem>(&disk);
//     disk.crash();                        // the power goes; what was under way never ends
//     disk.boot();                         // the next process finds what has survived
//
// It does what flow/file/async_file.h says, and no more: without faults, all that was written survives a crash. With
// them, of what was not synced anything may be missing that a file system and a disk can lose. Time is that of the loop
// on which an operation is called, chance comes from the faults' generators alone and nothing depends on addresses: the
// same seed gives the same run.
//
// An operation takes effect at some moment of the time that it takes, at once and as a whole. Each goes its own way: of
// two under way the later may come first. If its future is dropped, a coin decides whether it still happens.
//
// Between kill() or crash() and boot(), and through files that were opened before, nothing happens any more: operations
// never end. The disk must outlive its files. A path begins at the root, with or without a slash.

#include "flow/file/async_file.h"
#include "flow/lib/collection.h"
#include "flow/sim/disk_file.h"
#include "flow/sim/process.h"

#include <map>
#include <optional>
#include <set>

namespace flow {

/// How long an operation takes.
struct DiskSpeed {
    double seconds = 0;     // on average, between nothing and twice that
    double slowSeconds = 1; // more, when diskSlow or diskSlowSync injects
};

class SimDisk final : public FileSystem {
public:
    /// The faults must outlive the disk.
    explicit SimDisk(FaultSource& faults, DiskSpeed const& diskSpeed = {});

    /// May be changed at any time.
    DiskSpeed speed;

    Future<Reference<AsyncFile>> open(std::string path, OpenMode mode) override;
    /// Fails with unsupported_operation for a directory.
    Future<Void> rename(std::string from, std::string to) override;
    Future<Void> remove(std::string path) override;
    Future<bool> exists(std::string path) override;
    Future<std::vector<std::string>> list(std::string directory) override;
    Future<Void> makeDirectory(std::string path) override;
    Future<Void> syncDirectory(std::string path) override;

    /// The process was killed, the machine runs on: what the process had done is there after boot(), also without sync.
    void kill();
    /// The power has failed: what was synced is there after boot(), and of the rest what the faults leave.
    void crash();
    /// A new process may use the disk.
    void boot();
    /// Those of an Attachment.
    unsigned risks() const;

private:
    class File;
    enum class Sort { Sync, Other };

    struct Entry {
        bool isDirectory() const { return !file; }
        Reference<DiskFile> file;
    };
    using Names = std::map<std::string, Entry>; // by paths without end
    using Paths = std::set<std::string>;
    /// What one operation does to names: one goes, one comes, or both.
    struct NameChange {
        /// Whether it changes one of these directories.
        bool touches(Paths const& directories) const;
        void addDirectories(Paths& directories) const;
        void apply(Names& names) const;

        std::string goes;
        std::string comes;
        Entry entry; // of what comes
        std::uint64_t number = 0;
    };

    /// Gives what effect() returns or throws, after a while.
    template <class Effect>
    auto operate(Sort sort, Effect effect);
    double duration(Sort sort);

    /// Throws io_error for a name that is too long to be there.
    bool isDirectory(std::string const& path) const;
    /// Throws file_not_found.
    void needDirectory(std::string const& path) const;
    Entry const& need(std::string const& path) const;

    void change(NameChange nameChange);
    /// Of what is not on the disk, what a sync of the directory is for: with numbers below that.
    std::vector<NameChange> takeUnstored(std::string const& directory, std::uint64_t below);
    /// What is lost of them is lost for good.
    void storeSome(std::vector<NameChange> const& changes);
    void loseNames();

    FaultSource& dice_;
    DeterministicRandom random_; // of what is no fault: how long
    bool isOn_ = true;
    int lives_ = 0; // that have ended
    Names names_;   // all but the root
    Names storedNames_;
    std::vector<NameChange> unstoredNames_;
    std::uint64_t nameChanges_ = 0;
    mutable std::optional<unsigned> risks_; // none: an operation has taken effect since they were looked for
    /// Of this life of the process: made with its first operation, and destroyed first.
    std::optional<ActorCollection> operations_;
};

/// The disk of a process: what it holds outlives reboots; without what was not synced, where the power is lost.
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
