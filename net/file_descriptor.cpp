// The watcher gets a request for one event, and a new one for each wait. So a library may do with its descriptor what
// it likes while nothing waits. For an Owned descriptor the request for reading stays instead, if the watcher has such
// requests: so most waits need no system call. An event for which nothing waits ends the request until the next wait,
// since the kernel would report it again and again. noneWaits() is called when a wait has ended in any way: it asks for
// the event of the wait on the other side, if there is one, and ends a request for which no wait is left.

#include "net/file_descriptor.h"

#include "flow/base/format.h"
#include "net/detail/address_error.h"
#include "net/transport.h"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace flow::net {
namespace {

DescriptorWatcher& watcherOfThisLoop() {
    Loop& loop = Loop::current();
    if (auto* watcher = loop.service<DescriptorWatcher>())
        return *watcher;
    if (loop.isSimulated())
        throw client_invalid_operation().withSentence("a FileDescriptor waits in a simulation, which has no "
                                                      "descriptors: provide a DescriptorWatcher as a stand-in");
    (void)transport(); // makes a RealNetwork, which provides its poller
    if (auto* watcher = loop.service<DescriptorWatcher>())
        return *watcher;
    throw unsupported_operation().withSentence("a FileDescriptor waits on a loop without the machine's network");
}

} // namespace

FileDescriptor::File FileDescriptor::File::of(int number) {
    struct stat info;
    if (::fstat(number, &info) != 0)
        return {};
    return {true, info.st_dev, info.st_ino};
}

FileDescriptor::FileDescriptor(int number, Ownership ownership)
    : PolledDescriptor(number), file_(File::of(number)), ownership_(ownership) {}

FileDescriptor::~FileDescriptor() {
    isGone_ = true; // a waiter that fails below starts no request
    removeFromWatcher();
    if (ownership_ == Owned && number() >= 0)
        ::close(number());
}

void FileDescriptor::Wait::describe(Description& out) const {
    out.text = format("descriptor %d to be %s", descriptor->number(), isWriter ? "writable" : "readable");
}

void FileDescriptor::park(WaiterNode& waiter, Wait& wait) {
    Side& side = sideOf(wait.isWriter);
    FLOW_ASSERT_AT(wait.caller, isAlwaysReady_ || !side.isWaitedFor(),
                   wait.isWriter ? "two tasks wait for one FileDescriptor to be writable"
                                 : "two tasks wait for one FileDescriptor to be readable");
    if (!isAlwaysReady_)
        ask({asked_.reading || !wait.isWriter, asked_.writing || wait.isWriter}, wait.caller);
    side.park(waiter, wait);
    if (isAlwaysReady_)
        side.wakeInTurn(TaskPriority::DefaultDelay);
}

void FileDescriptor::ask(Wanted wanted, std::source_location caller) {
    DescriptorWatcher& watcher = watcherOfThisLoop();
    FLOW_ASSERT_AT(caller, !watcher_ || watcher_ == &watcher, "a FileDescriptor waits on another loop than before");
    bool isSame = watcher.noticesReuse(*this); // otherwise another object may have taken the request's place
    if (stays_ && wanted == asked_ && isSame)
        return;
    if (!isGone_ && !isSame)
        isGone_ = !file_.isOpen || (ownership_ == Borrowed && File::of(number()) != file_);
    int error = isGone_ ? ENOENT : ownership_ == Owned ? watcher.watch(*this, wanted) : ENOTSUP;
    stays_ = error == 0;
    if (error == ENOTSUP)
        error = watcher.watchOnce(*this, wanted);
    FLOW_ASSERT_AT(
        caller, error != EEXIST,
        "a FileDescriptor waits for a file for which another FileDescriptor, or a socket of this loop, waits");
    if (error == 0) {
        watcher_ = &watcher;
        asked_ = wanted;
    } else if (error == EPERM) {
        isAlwaysReady_ = true;
    } else {
        removeFromWatcher();
        isGone_ = error == ENOENT || error == EBADF;
        if (!isGone_)
            throw errorOfCall(error);
        throw operation_obsolete().withSentence(
            format("descriptor %d was closed before the wait: its number is free, or another file's", number()));
    }
}

void FileDescriptor::noneWaits(bool isWriter) noexcept {
    sideOf(isWriter).isReady = false;
    if (stays_)
        want({asked_.reading, writer_.isWaitedFor()});
    else
        want({reader_.isWaitedFor() && !reader_.isReady, writer_.isWaitedFor() && !writer_.isReady});
}

void FileDescriptor::want(Wanted wanted) noexcept {
    if (wanted == asked_ || isGone_)
        return;
    if (!wanted.isAny())
        return removeFromWatcher();
    try {
        ask(wanted);
    } catch (...) { // the other wait ends too: its library finds out what is wrong
        onNews({wanted.reading, wanted.writing});
    }
}

void FileDescriptor::removeFromWatcher() noexcept {
    asked_ = {};
    stays_ = false;
    if (watcher_)
        std::exchange(watcher_, nullptr)->remove(*this);
}

void FileDescriptor::onNews(News news) noexcept {
    bool isUnwanted = (news.readable && asked_.reading && !reader_.isWaitedFor()) ||
                      (news.writable && asked_.writing && !writer_.isWaitedFor());
    if (!stays_)
        asked_ = {};
    else if (isUnwanted)
        want({reader_.isWaitedFor(), writer_.isWaitedFor()});
    auto wake = [](Side& side) {
        side.isReady = side.isWaitedFor();
        side.wakeForNews(TaskPriority::ReadSocket);
    };
    if (news.readable)
        wake(reader_);
    if (news.writable)
        wake(writer_);
}

void FileDescriptor::onPollerEnd() noexcept {
    watcher_ = nullptr;
    asked_ = {};
    stays_ = false;
    reader_.abandonAll();
    writer_.abandonAll();
}

} // namespace flow::net
