#include "flow/trace/detail/open_file.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <thread>

namespace flow::trace {

OpenFiles::OpenFiles() {
    ::pthread_atfork([] { all().lockAll(); }, [] { all().unlockAll(false); }, [] { all().unlockAll(true); });
    std::atexit([] { all().flushNow(); });
}

OpenFiles& OpenFiles::all() {
    static OpenFiles& made = *new OpenFiles;
    return made;
}

void OpenFiles::add(OpenFile& file) {
    std::lock_guard lock(mutex_);
    files_.push_back(&file);
}

void OpenFiles::remove(OpenFile& file) noexcept {
    std::lock_guard lock(mutex_);
    std::erase(files_, &file);
}

bool OpenFiles::flushAll(bool atEnd) noexcept {
    bool hasFlushed = false;
    for (OpenFile* each : files_)
        hasFlushed |= each->flush(atEnd);
    return hasFlushed;
}

void OpenFiles::flushNow() noexcept {
    std::lock_guard lock(mutex_);
    flushAll(true);
}

// nondeterminism: the thread only writes out lines, and nothing in the program depends on the time of the write.
void OpenFiles::flushSoon() noexcept {
    std::lock_guard lock(mutex_);
    if (hasThread_)
        return;
    sigset_t all, before; // the program's own threads receive the signals
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread([this] { flushUntilNoneWaits(); }).detach(); // nondeterminism: see above
        hasThread_ = true;
    } catch (...) { // the thread cannot be started
        flushAll(false);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void OpenFiles::flushUntilNoneWaits() noexcept {
    for (;;) {
        std::this_thread::sleep_for(std::chrono::seconds(1)); // nondeterminism: see above
        std::lock_guard lock(mutex_);
        if (flushAll(false))
            continue;
        hasThread_ = false;
        return;
    }
}

void OpenFiles::lockAll() {
    mutex_.lock();
    for (OpenFile* each : files_) {
        each->mutex_.lock();
        if (each->bursts_)
            each->bursts_->lock();
    }
}

void OpenFiles::unlockAll(bool inChild) noexcept {
    for (OpenFile* each : files_) {
        if (inChild)
            each->waiting_.clear(); // the parent writes these lines
        if (inChild && each->bursts_)
            each->bursts_->forget();
        if (each->bursts_)
            each->bursts_->unlock();
        each->mutex_.unlock();
    }
    if (inChild)
        hasThread_ = false;
    mutex_.unlock();
}

} // namespace flow::trace
