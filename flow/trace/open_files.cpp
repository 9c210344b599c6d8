#include "flow/trace/detail/open_file.h"

#include <algorithm>
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

bool OpenFiles::flushAll() noexcept {
    bool hasFlushed = false;
    for (OpenFile* each : files_)
        hasFlushed |= each->flush();
    return hasFlushed;
}

void OpenFiles::flushNow() noexcept {
    std::lock_guard lock(mutex_);
    flushAll();
}

// nondeterminism: the thread only writes out lines, and nothing of the program depends on when it does so.
void OpenFiles::flushSoon() noexcept {
    std::lock_guard lock(mutex_);
    if (hasThread_)
        return;
    sigset_t all, before; // signals are for the threads of the program
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread([this] { flushUntilNoneWaits(); }).detach(); // nondeterminism: see above
        hasThread_ = true;
    } catch (...) { // there can be no more threads
        flushAll();
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void OpenFiles::flushUntilNoneWaits() noexcept {
    for (;;) {
        std::this_thread::sleep_for(std::chrono::seconds(1)); // nondeterminism: see above
        std::lock_guard lock(mutex_);
        if (flushAll())
            continue;
        hasThread_ = false;
        return;
    }
}

void OpenFiles::lockAll() {
    mutex_.lock();
    for (OpenFile* each : files_)
        each->mutex_.lock();
}

void OpenFiles::unlockAll(bool inChild) noexcept {
    for (OpenFile* each : files_) {
        if (inChild)
            each->waiting_.clear(); // the parent writes these lines
        each->mutex_.unlock();
    }
    if (inChild)
        hasThread_ = false;
    mutex_.unlock();
}

} // namespace flow::trace
