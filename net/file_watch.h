#pragma once
// FileWatch: waits until files or folders have changed, to load certificates or a configuration again.
//
//     net::FileWatch files({"server.pem", "server.key"});
//     for (;;) {
//         co_await files.changed();
//         reload();                                          // reads them; if one is wrong, keeps what it has
//     }
//     auto first = co_await race(files.changed(), signals({SIGHUP}));
//
// It watches the paths, not the files that are there now. So it sees a file that was written and closed, one that took
// the place of another by rename() (as editors and tools for certificates do), one that was removed or made anew, other
// permissions, and another file because a folder or a symbolic link in the path was replaced (as Kubernetes does). Of a
// folder it sees the same changes of its entries, but not those in folders below. A path need not exist yet.
//
// changed() is ready if there was a change since the last one was taken, or since the constructor: so make the
// FileWatch first, and then read the files. Many changes may be one. A change may be seen although the content is the
// same, such as after too many events (the system's queue overflows), and while a tool has written only some of several
// files. A file that is open for writing counts when it is closed.
//
// It stands on inotify: changes by other machines (NFS), and through mmap(), are not seen. A folder of the path that
// this program may not read is not watched.
//
// Cancel safety. changed() is an operation in place: one that loses a race leaves the change to the next. A change ends
// one wait, the oldest. Only a wait keeps the loop running. A FileWatch must outlive its operations, and belongs to the
// loop on which it first waits. The constructor and the wait look up the names of the paths with blocking calls: use
// it for a few paths on local disks.
//
// Errors. The constructor and changed() throw platform_error with a sentence if the system's limit of watches is
// reached (fs.inotify.max_user_watches, max_user_instances). In a simulation, which has no inotify, the constructor
// throws client_invalid_operation: there a test says itself that something has changed.

#include "net/file_descriptor.h"

#include <map>
#include <string>
#include <vector>

namespace flow {
struct NoThrowOnCancel;
}

namespace flow::net {

class FileWatch {
public:
    struct Changed {
        using Result = Void;
        FileWatch* watch;

        bool isReady() const { return watch->waiting_.isNext(*this) && watch->look(); }
        void park(WaiterNode& waiter) { watch->park(waiter, *this); }
        Void take() const { return watch->take(); }
        void describe(Description& out) const;
        static void noneWaits(Source<Changed>& source) { static_cast<Waiting&>(source).owner.looking_ = {}; }
    };

    /// Watches at least one path. A path that is not absolute begins at the present working directory.
    explicit FileWatch(std::vector<std::string> paths, std::source_location caller = std::source_location::current());
    FileWatch(FileWatch const&) = delete;
    FileWatch& operator=(FileWatch const&) = delete;

    Changed changed() { return {this}; }

private:
    /// What tells a file from its successor. All zeros: there is no file, or one without bytes, into which somebody may
    /// be about to write.
    struct Identity {
        std::uint64_t device = 0, inode = 0;
        std::int64_t size = 0, seconds = 0, nanoseconds = 0;
        friend bool operator==(Identity const&, Identity const&) = default;
    };
    struct Path {
        std::string text;
        Identity target;
    };
    /// A file or folder that inotify watches.
    struct Watched {
        bool isTarget = false;             // a path ends here: each event counts
        std::map<std::string, bool> names; // names of paths in this folder; true: the last name of a path
    };
    struct Waiting : Source<Changed> {
        explicit Waiting(FileWatch& o) : owner(o) { wakeWhenFirstLeaves(TaskPriority::DefaultDelay); }
        FileWatch& owner;
    };

    /// Takes some events of inotify. Returns true if there was a change or an error.
    bool look() noexcept;
    bool takeEvents();
    /// Follows all paths anew. Returns true if one ends at another file than before.
    bool follow();
    Identity follow(std::string const& path);
    Watched* watch(std::string const& path, std::uint32_t events);
    void park(WaiterNode& waiter, Changed& op);
    Void take();
    void startLooking();
    static Future<Void> lookUntilChanged(FileWatch* self, NoThrowOnCancel);

    FileDescriptor inotify_;
    std::vector<Path> paths_;
    std::map<int, Watched> watched_, before_; // by inotify's number; before_: those that follow() has not seen again
    bool hasChanged_ = false;
    Error error_;
    Waiting waiting_{*this};
    Future<Void> looking_; // as long as a changed() waits
};

} // namespace flow::net
