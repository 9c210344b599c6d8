#pragma once
// FileWatch: waits until files or folders have changed, to load certificates or a configuration again.
//
//     net::FileWatch files({"server.pem", "server.key"});
//     for (;;) {
//         co_await files.changed();
//         reload();                                          // reads them; if one is wrong, keeps the old content
//     }
//     auto first = co_await race(files.changed(), signals({SIGHUP}));
//
// FileWatch watches the paths, not the files that are there now. It reports a file that was written and closed,
// replaced by rename() (as editors and tools for certificates do), removed or made anew, or that has other permissions.
// It also reports another file because a folder or a symbolic link in the path was replaced (as Kubernetes does). For a
// folder it reports the same changes of its entries, but not those in folders below. A path need not exist yet.
//
// changed() is ready if something has changed since the last changed() was ready, or since the constructor. So make the
// FileWatch first, and then read the files. Many changes may be reported as one. A change may be reported although no
// content has changed, such as after an overflow of the system's queue of events, and while a tool has written only
// some of several files. A file that is open for writing counts when it is closed.
//
// FileWatch uses inotify, which does not report changes by other machines (NFS) or through mmap(). A folder of the path
// that this program may not read is not watched.
//
// Cancel safety. changed() is an operation in place: an operation that loses a race leaves the change to the next one.
// A change ends only the oldest wait. Only a wait keeps the loop running. A FileWatch must outlive its operations, and
// belongs to the loop on which it first waits. The constructor and the wait look up the names of the paths with
// blocking calls: use it for a few paths on local disks.
//
// Errors. The constructor and changed() throw platform_error with a sentence if the system's limit of watches is
// reached (fs.inotify.max_user_watches, max_user_instances). In a simulation, which has no inotify, the constructor
// throws client_invalid_operation: a test must report a change by other means.

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
    /// The values that distinguish a file from its successor. All are 0 if there is no file, or if the file is empty: a
    /// program may be about to write to it.
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
    /// Follows all paths anew. Returns true if a path ends at another file than before.
    bool follow();
    Identity follow(std::string const& path);
    Watched* watch(std::string const& path, std::uint32_t events);
    void park(WaiterNode& waiter, Changed& op);
    Void take();
    void startLooking();
    static Future<Void> lookUntilChanged(FileWatch* self, NoThrowOnCancel);

    FileDescriptor inotify_;
    std::vector<Path> paths_;
    std::map<int, Watched> watched_, before_; // by inotify's watch descriptor; before_: follow() looks for them again
    bool hasChanged_ = false;
    Error error_;
    Waiting waiting_{*this};
    Future<Void> looking_; // runs as long as a changed() waits
};

} // namespace flow::net
