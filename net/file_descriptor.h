#pragma once
// FileDescriptor: waits until a file descriptor that another library has opened is readable or writable.
//
//     net::FileDescriptor socket(PQsocket(connection));               // borrowed: libpq closes it
//     while (PQisBusy(connection)) {
//         co_await socket.readable();
//         PQconsumeInput(connection);
//     }
//
//     net::FileDescriptor events(inotify_init1(IN_NONBLOCK | IN_CLOEXEC), net::FileDescriptor::Owned);   // closed at
//     the end auto first = co_await race(events.readable(), delay(5.0));
//
// readable() and writable() are operations in place, for actors, coroutines, fibers and callbacks. They report by
// level: a wait ends if the kernel has something at that time, however little was read before. The end of the stream
// and an error make both ready. A wait may also end although nothing is ready, so the library's calls must not block:
// this class changes no flag of the descriptor. A file for which the kernel cannot wait (regular files, /dev/null) is
// always ready.
//
// At most one task waits for readable() and one for writable(); a second one is a failed assertion. All tasks of a loop
// use the same FileDescriptor for the same descriptor.
//
// An Owned descriptor costs less: nobody else closes it, so it stays registered in the kernel between its waits. If a
// library owns a descriptor and many waits come, use a copy: FileDescriptor(fcntl(number, F_DUPFD_CLOEXEC, 0), Owned).
//
// Cancel safety. A wait takes nothing. The rest is for Borrowed descriptors. When no wait is left, because they were
// cancelled or have lost a race, nothing of the descriptor is registered in the kernel, and its owner may close it
// immediately. The same holds after the destructor. A wait that has ended well needs no such care: the owner may close
// the descriptor.
//
// Errors. A wait fails with operation_obsolete if the descriptor was closed before the wait, or if its number is
// another file's by then; so do all later waits. (With io_uring, and after a cancel, files without a number of their
// own, such as eventfds, are not distinguished.) A library that opens another descriptor, as libpq may while it
// connects, gets another FileDescriptor, also if the number is the same. A descriptor must not be closed while a wait
// is parked: then only the cancel of this wait is sure to end it. Nothing else is resumed.
//
// Lifetime. A FileDescriptor must outlive its operations; its destructor fails waits with broken_promise. It belongs to
// the loop on which it first waits. When that loop ends, waits stay pending. In a simulation a wait fails with
// client_invalid_operation, unless the test has provided a stand-in: net/descriptor_watcher.h.

#include "flow/wait/source.h"
#include "net/descriptor_watcher.h"

#include <source_location>
#include <sys/types.h>

namespace flow::net {

class FileDescriptor final : PolledDescriptor {
public:
    enum Ownership : std::uint8_t { Borrowed, Owned };

    struct Wait {
        using Result = Void;
        FileDescriptor* descriptor;
        bool isWriter;
        std::source_location caller;

        bool isReady() const { return descriptor->isReadyFor(*this); }
        void park(WaiterNode& waiter) { descriptor->park(waiter, *this); }
        Void take() const {
            descriptor->noneWaits(isWriter);
            return Void();
        }
        void describe(Description& out) const;
        static void noneWaits(Source<Wait>& source) {
            auto& side = static_cast<Side&>(source);
            side.owner.noneWaits(&side == &side.owner.writer_);
        }
    };

    /// An Owned descriptor is closed by the destructor.
    explicit FileDescriptor(int number, Ownership ownership = Borrowed);
    ~FileDescriptor();

    Wait readable(std::source_location caller = std::source_location::current()) { return {this, false, caller}; }
    Wait writable(std::source_location caller = std::source_location::current()) { return {this, true, caller}; }
    int number() const { return descriptor(); }

private:
    struct Side : Source<Wait> {
        explicit Side(FileDescriptor& o) : owner(o) { wakeWhenFirstLeaves(TaskPriority::ReadSocket); }
        FileDescriptor& owner;
        bool isReady = false; // the kernel has reported it, and the waiter has not resumed yet
    };
    /// The file behind the number when this object was made.
    struct File {
        bool isOpen = false;
        dev_t device = 0;
        ino_t inode = 0;
        static File of(int number);
        friend bool operator==(File const&, File const&) = default;
    };

    Side& sideOf(bool isWriter) { return isWriter ? writer_ : reader_; }
    bool isReadyFor(Wait const& wait) {
        Side& side = sideOf(wait.isWriter);
        return isAlwaysReady_ || (side.isReady && side.isNext(wait));
    }
    void park(WaiterNode& waiter, Wait& wait);
    /// Called when a wait has ended or was cancelled.
    void noneWaits(bool isWriter) noexcept;
    /// Changes the request to these events, or ends it.
    void want(Wanted wanted) noexcept;
    /// Asks the loop's watcher for these events. Throws the error of the wait.
    void ask(Wanted wanted, std::source_location caller = {});
    void removeFromWatcher() noexcept;

    void onNews(News news) noexcept override;
    bool isAwaited() const override { return reader_.isWaitedFor() || writer_.isWaitedFor(); }
    void onPollerEnd() noexcept override;

    File file_;
    Ownership ownership_;
    bool isAlwaysReady_ = false;
    bool isGone_ = false;                  // the number was closed, or is another file's
    bool stays_ = false;                   // onNews() does not end the request
    Wanted asked_;                         // the events that onNews() has not reported yet, or all if the request stays
    DescriptorWatcher* watcher_ = nullptr; // null: it has nothing of this descriptor
    Side reader_{*this}, writer_{*this};
};

} // namespace flow::net
