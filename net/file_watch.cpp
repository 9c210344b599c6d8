// A path is followed name by name, as the kernel does it. Each folder is watched before its entry is read, so a change
// after the read causes an event. Events of names that belong to no path are ignored. After an event of a name, all
// paths are followed again, because another folder or link may lead to other files.

#include "net/file_watch.h"

#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "net/detail/address_error.h"

#include <cerrno>
#include <filesystem>
#include <list>
#include <sys/inotify.h>
#include <sys/stat.h>

namespace flow::net {
namespace {

constexpr std::uint32_t kNameEvents = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
constexpr std::uint32_t kContentEvents = IN_CLOSE_WRITE | IN_ATTRIB;
constexpr int kMostLinks = 40; // the kernel's limit

[[noreturn]] void throwErrorOf(char const* call) {
    char const* limit = errno == ENOSPC   ? "; see fs.inotify.max_user_watches"
                        : errno == EMFILE ? "; see fs.inotify.max_user_instances"
                                          : "";
    throw platform_error().withSentence(
        format("FileWatch: %s: %s%s", call, std::string(errorOfCall(errno).what()).c_str(), limit));
}

int openInotify() {
    if (Loop::current().isSimulated())
        throw client_invalid_operation().withSentence(
            "a FileWatch in a simulation, which has no inotify: the test says itself that something has changed");
    int made = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (made < 0)
        throwErrorOf("inotify_init1()");
    return made;
}

std::list<std::string> namesOf(std::filesystem::path const& path) {
    std::list<std::string> names;
    for (std::filesystem::path const& name : path.relative_path())
        if (!name.empty() && name != ".")
            names.push_back(name);
    return names;
}

} // namespace

FileWatch::FileWatch(std::vector<std::string> paths, std::source_location caller)
    : inotify_(openInotify(), FileDescriptor::Owned) {
    FLOW_ASSERT_AT(caller, !paths.empty(), "a FileWatch without a path");
    for (std::string& each : paths) {
        FLOW_ASSERT_AT(caller, !each.empty(), "a FileWatch with an empty path");
        paths_.push_back({std::filesystem::absolute(each), {}});
    }
    follow();
}

FileWatch::Watched* FileWatch::watch(std::string const& path, std::uint32_t events) {
    int number = ::inotify_add_watch(inotify_.number(), path.c_str(), events | IN_MASK_ADD);
    if (number < 0 && (errno == ENOSPC || errno == ENOMEM))
        throwErrorOf("inotify_add_watch()");
    if (number < 0)
        return nullptr; // the file is gone, or this program may not read it
    before_.erase(number);
    return &watched_[number];
}

FileWatch::Identity FileWatch::follow(std::string const& path) {
    std::list<std::string> left = namesOf(path);
    std::filesystem::path at = "/";
    for (int links = 0; !left.empty();) {
        std::string name = std::move(left.front());
        left.pop_front();
        if (name == "..") {
            at = at.parent_path();
            continue;
        }
        if (Watched* folder = watch(at, left.empty() ? kNameEvents | kContentEvents : kNameEvents))
            folder->names[name] |= left.empty();
        at /= name;
        struct stat info;
        if (::lstat(at.c_str(), &info) != 0)
            return {};
        if (!S_ISLNK(info.st_mode))
            continue;
        std::error_code failed;
        std::filesystem::path target = std::filesystem::read_symlink(at, failed);
        if (failed || ++links > kMostLinks)
            return {};
        at = target.is_absolute() ? "/" : at.parent_path();
        left.splice(left.begin(), namesOf(target));
    }
    if (Watched* target = watch(at, kNameEvents | kContentEvents))
        target->isTarget = true;
    struct stat info;
    if (::stat(at.c_str(), &info) != 0 || (S_ISREG(info.st_mode) && info.st_size == 0))
        return {};
    return {info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

bool FileWatch::follow() {
    bool isOther = false;
    before_.swap(watched_);
    watched_.clear();
    for (Path& each : paths_) {
        Identity target = follow(each.text);
        isOther |= target != each.target;
        each.target = target;
    }
    for (auto const& [number, unused] : before_)
        ::inotify_rm_watch(inotify_.number(), number);
    before_.clear();
    return isOther;
}

bool FileWatch::takeEvents() {
    alignas(inotify_event) char events[4096];
    ssize_t size = ::read(inotify_.number(), events, sizeof events);
    bool isOnPath = false, isChange = false;
    for (ssize_t at = 0; at < size;) {
        auto const* event = reinterpret_cast<inotify_event const*>(events + at);
        at += static_cast<ssize_t>(sizeof *event + event->len);
        if (event->mask & IN_Q_OVERFLOW)
            isOnPath = isChange = true;
        auto watched = watched_.find(event->wd);
        if (watched == watched_.end())
            continue;
        isChange |= watched->second.isTarget && (event->mask & (kNameEvents | kContentEvents));
        if (event->mask & IN_IGNORED) { // the folder, the file or its disk is gone
            watched_.erase(watched);
            isOnPath = true;
        } else if (auto name = watched->second.names.find(event->len ? event->name : "");
                   name != watched->second.names.end()) {
            isOnPath = true;
            isChange |= name->second && !(event->mask & IN_CREATE); // a new file counts when it has bytes
        }
    }
    return (isOnPath && follow()) || isChange;
}

bool FileWatch::look() noexcept {
    try {
        hasChanged_ = hasChanged_ || error_.isValid() || takeEvents();
    } catch (...) {
        error_ = currentError();
        hasChanged_ = true;
    }
    return hasChanged_;
}

Future<Void> FileWatch::lookUntilChanged(FileWatch* self, NoThrowOnCancel) {
    try {
        while (!self->look())
            co_await self->inotify_.readable();
    } catch (...) {
        self->error_ = currentError();
    }
    self->waiting_.wakeInTurn(TaskPriority::DefaultDelay);
}

void FileWatch::startLooking() {
    if (!looking_.isValid() || looking_.isReady())
        looking_ = lookUntilChanged(this, {});
}

void FileWatch::park(WaiterNode& waiter, Changed& op) {
    waiting_.park(waiter, op);
    startLooking();
}

Void FileWatch::take() {
    if (error_.isValid())
        throw error_;
    hasChanged_ = false;
    if (waiting_.isWaitedFor()) // another operation waits for the next change
        startLooking();
    return Void();
}

void FileWatch::Changed::describe(Description& out) const {
    out.text = "a change of " + watch->paths_.front().text;
}

} // namespace flow::net
