// names_ has the names as programs see them, storedNames_ has the stored names, and unstoredNames_ has the changes
// between the two, in order. For the content of one file, DiskFile has seen_, stored_ and unstored_.
//
// operate() runs every operation: it waits for a random part of its duration, runs its effect, waits for the rest, and
// completes its future. kill() ends all operations and the life of the disk. crash() calls kill(), and then drops
// unsynced changes: storeSome() draws which changes of names reach the disk, loseCache() which of a file.

#include "flow/sim/disk.h"

#include "flow/coro/coroutine.h"
#include "flow/file/detail/file_call.h"

#include <cerrno>
#include <filesystem>
#include <memory>
#include <new>

namespace flow {

namespace {

// The limits of ext4: 2^32 - 1 blocks.
constexpr std::int64_t kLargestFile = 0xFFFF'FFFF * std::int64_t{4096};
constexpr std::size_t kLongestName = 255;

/// Returns the path from the root, without a final slash; empty if `path` is empty. A path ends at a NUL, as in C.
std::string normal(std::string const& path) {
    if (*path.c_str() == '\0')
        return {};
    std::string full = (std::filesystem::path("/") / path.c_str()).lexically_normal().string();
    if (full.size() > 1 && full.back() == '/')
        full.pop_back();
    return full;
}

std::string directoryOf(std::string const& path) {
    return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

/// The promise of an operation. If the operation is abandoned, its waiter waits forever.
template <class T>
class Answer {
public:
    Answer() = default;
    Answer(Answer&&) noexcept = default;
    ~Answer() {
        if (promise_.isValid() && promise_.canBeSet())
            promise_.send(Never());
    }

    Future<T> future() const { return promise_.getFuture(); }
    bool isAwaited() const { return promise_.getFutureReferenceCount() != 0; }
    void send(ErrorOr<T> result) {
        if (result.isError())
            promise_.sendError(result.getError());
        else
            promise_.send(std::move(result).get());
    }

private:
    Promise<T> promise_;
};

struct Timing {
    double before; // until the operation takes effect
    double after;
};

/// Thrown by an effect to fail like a system call. operate() makes an Error of it, with the call and the path.
struct Failure {
    int number; // errno
    bool isInjected = false;
};

/// The name of a call and its path, for the text of its error.
struct Call {
    char const* name;
    std::shared_ptr<std::string const> path, to = {};

    Error error(Failure const& failure) const {
        Error error = FileCall{name, *path, to ? std::string_view(*to) : std::string_view()}.error(failure.number);
        return failure.isInjected ? error.asInjectedFault() : error;
    }
};
Call callOf(char const* name, std::string const& path) {
    return {name, std::make_shared<std::string const>(path)};
}

/// Waits, calls effect(), waits again, and sends the result or the error. Without memory for a timer, sends bad_alloc.
template <class T, class Effect>
Future<Void> perform(DeterministicRandom& random, Timing timing, Answer<T> answer, Effect effect, Propagate = {}) {
    ErrorOr<T> result;
    try {
        co_await delay(timing.before, TaskPriority::DiskIOComplete);
        if (!answer.isAwaited() && random.coinflip())
            co_return;
        try {
            result = effect();
        } catch (...) {
            result = ErrorOr<T>::failed(currentError());
        }
        co_await delay(timing.after, TaskPriority::DiskIOComplete);
    } catch (std::bad_alloc&) {
        result = ErrorOr<T>::failed(currentError());
    }
    answer.send(std::move(result));
}

} // namespace

// -------------------------------------------------------------------------------------------------------------------
// Operations

double SimDisk::duration(Sort sort) {
    bool slow = sort == Sort::Sync ? dice_.injects(FaultKind::diskSlowSync) : dice_.injects(FaultKind::diskSlow);
    double usual = speed.seconds > 0 ? 2 * speed.seconds * random_.random01() : 0;
    return slow ? usual + speed.slowSeconds : usual;
}

template <class Call, class Effect>
auto SimDisk::operate(Sort sort, Call call, Effect effect) {
    using T = std::invoke_result_t<Effect&>;
    if (!isOn_)
        return Future<T>(Never());
    double seconds = duration(sort);
    double before = seconds * random_.random01();
    auto mayFail = [this, sort, call = std::move(call), effect = std::move(effect)]() -> T {
        try {
            risks_.reset();
            if (sort == Sort::Other && dice_.injects(FaultKind::diskError))
                throw Failure{EIO, true};
            return effect();
        } catch (Failure const& failure) {
            throw call.error(failure);
        }
    };
    Answer<T> answer;
    Future<T> future = answer.future();
    if (!operations_)
        operations_.emplace(OnError::Report);
    operations_->spawn(perform(random_, {before, seconds - before}, std::move(answer), std::move(mayFail)));
    return future;
}

class SimDisk::File final : public AsyncFile {
public:
    File(SimDisk& disk, std::shared_ptr<std::string const> path, Reference<DiskFile> content, OpenMode mode)
        : disk_(disk), life_(disk.lives_), path_(std::move(path)), content_(std::move(content)), mode_(mode) {}
    ~File() override {
        if (content_->lockedBy == this)
            content_->lockedBy = nullptr;
    }

    Future<Standalone<StringRef>> read(std::int64_t offset, int length, std::source_location caller) override {
        FLOW_ASSERT_AT(caller, offset >= 0 && length >= 0, "AsyncFile::read() of a negative offset or length");
        return operate(Sort::Other, "read", [content = content_, offset, length, dice = &disk_.dice_] {
            return Standalone<StringRef>(content->read(offset, length, *dice));
        });
    }
    Future<Void> write(std::int64_t offset, Standalone<StringRef> bytes, std::source_location caller) override {
        FLOW_ASSERT_AT(caller, offset >= 0, "AsyncFile::write() to a negative offset");
        if (!isWritable() || mode_ == OpenMode::Append)
            return named("write").notOpenForThis();
        if (!bytes.empty() && offset > kLargestFile - bytes.size())
            return named("write").error(EFBIG);
        return put("write", std::move(bytes), [offset] { return offset; });
    }
    Future<Void> append(Standalone<StringRef> bytes) override {
        if (mode_ != OpenMode::Append)
            return named("append").notOpenForThis();
        return put("append", std::move(bytes), [content = content_] { return content->size(); });
    }
    Future<Void> sync() override {
        return operate(Sort::Sync, "sync", [content = content_, changes = content_->changes(), dice = &disk_.dice_] {
            if (dice->injects(FaultKind::diskSyncError)) {
                content->storeSome(changes, *dice);
                throw Failure{EIO, true};
            }
            content->store(changes, *dice);
            return Void();
        });
    }
    Future<Void> truncate(std::int64_t size, std::source_location caller) override {
        FLOW_ASSERT_AT(caller, size >= 0, "AsyncFile::truncate() to a negative size");
        if (!isWritable())
            return named("truncate").notOpenForThis();
        if (size > kLargestFile)
            return named("truncate").error(EFBIG);
        return operate(Sort::Other, "truncate", [content = content_, size] {
            content->truncate(size);
            content->modified = wallTime();
            return Void();
        });
    }
    Future<std::int64_t> size() override {
        return operate(Sort::Other, "size", [content = content_] { return content->size(); });
    }
    Future<bool> tryLock() override {
        return operate(Sort::Other, "lock", [self = Reference<File>::addRef(this)] {
            DiskFile& file = *self->content_;
            if (file.lockedBy && file.lockedBy != self.getPtr() && file.lockedIn == self->life_)
                return false;
            file.lockedBy = self.getPtr();
            file.lockedIn = self->life_;
            return true;
        });
    }

private:
    bool isWritable() const { return mode_ != OpenMode::Read; }
    FileCall named(std::string_view call) const { return {call, *path_}; }
    /// Writes the bytes at place().
    template <class Place>
    Future<Void> put(char const* name, Standalone<StringRef> bytes, Place place) {
        return operate(Sort::Other, name, [content = content_, place, bytes = std::move(bytes), dice = &disk_.dice_] {
            if (bytes.empty())
                return Void();
            std::int64_t offset = place();
            if (offset > kLargestFile - bytes.size())
                throw Failure{EFBIG};
            content->modified = wallTime();
            if (dice->injects(FaultKind::diskFull)) {
                content->write(offset, bytes.substr(0, dice->random(FaultKind::diskFull).randomInt(0, bytes.size())));
                throw Failure{ENOSPC, true};
            }
            content->write(offset, bytes);
            return Void();
        });
    }
    template <class Effect>
    Future<std::invoke_result_t<Effect&>> operate(Sort sort, char const* name, Effect effect) {
        if (life_ != disk_.lives_)
            return Never();
        return disk_.operate(sort, Call{name, path_}, std::move(effect));
    }

    SimDisk& disk_;
    int life_; // the life in which the file was opened
    std::shared_ptr<std::string const> path_;
    Reference<DiskFile> content_;
    OpenMode mode_;
};

SimDisk::SimDisk(FaultSource& dice, DiskSpeed const& diskSpeed)
    : speed(diskSpeed), dice_(dice), random_(dice.random().randomUInt64()) {}

Future<Reference<AsyncFile>> SimDisk::open(std::string path, OpenMode mode, int permissions) {
    Call opening = callOf("open", path);
    return operate(Sort::Other, opening,
                   [this, given = opening.path, path = normal(path), mode, permissions]() -> Reference<AsyncFile> {
                       needDirectory(directoryOf(path));
                       bool isThere = isDirectory(path) || names_.contains(path);
                       if (isThere && mode == OpenMode::CreateNew)
                           throw Failure{EEXIST};
                       if (!isThere && mode != OpenMode::Read && mode != OpenMode::ReadWrite) {
                           auto made = makeReference<DiskFile>();
                           made->modified = wallTime();
                           made->permissions = permissions & ~022;
                           change({{}, path, {made}});
                       }
                       if (isDirectory(path))
                           throw Failure{EISDIR};
                       return makeReference<File>(*this, given, need(path).file, mode);
                   });
}

Future<FileInfo> SimDisk::info(std::string path) {
    return operate(Sort::Other, callOf("info", path), [this, path = normal(path)] {
        FileInfo found;
        found.kind = isDirectory(path) ? FileKind::Directory : FileKind::File;
        if (found.kind == FileKind::Directory)
            return found;
        DiskFile const& file = *need(path).file;
        found.permissions = file.permissions;
        found.size = file.size();
        found.modified = file.modified;
        return found;
    });
}

Future<Void> SimDisk::setPermissions(std::string path, int permissions) {
    return operate(Sort::Other, callOf("setPermissions", path), [this, path = normal(path), permissions] {
        if (!isDirectory(path))
            need(path).file->permissions = permissions;
        return Void();
    });
}

Future<Void> SimDisk::rename(std::string from, std::string to) {
    Call renaming = callOf("rename", from);
    renaming.to = std::make_shared<std::string const>(to);
    return operate(Sort::Other, std::move(renaming), [this, from = normal(from), to = normal(to)] {
        if (isDirectory(from))
            throw unsupported_operation();
        Entry entry = need(from);
        needDirectory(directoryOf(to));
        if (isDirectory(to))
            throw Failure{EISDIR};
        if (from != to)
            change({from, to, entry});
        return Void();
    });
}

Future<Void> SimDisk::remove(std::string path) {
    return operate(Sort::Other, callOf("remove", path), [this, path = normal(path)] {
        if (isDirectory(path))
            throw Failure{EISDIR};
        (void)need(path);
        change({path, {}, {}});
        return Void();
    });
}

Future<Void> SimDisk::removeDirectory(std::string path) {
    return operate(Sort::Other, callOf("removeDirectory", path), [this, path = normal(path)] {
        needDirectory(path);
        if (path == "/")
            throw Failure{EBUSY};
        auto inside = names_.lower_bound(path + "/");
        if (inside != names_.end() && inside->first.starts_with(path + "/"))
            throw Failure{ENOTEMPTY};
        change({path, {}, {}});
        return Void();
    });
}

Future<bool> SimDisk::exists(std::string path) {
    return operate(Sort::Other, callOf("exists", path),
                   [this, path = normal(path)] { return isDirectory(path) || names_.contains(path); });
}

Future<std::vector<std::string>> SimDisk::list(std::string directory) {
    return operate(Sort::Other, callOf("list", directory), [this, directory = normal(directory)] {
        needDirectory(directory);
        std::string before = directory == "/" ? directory : directory + "/";
        std::vector<std::string> found;
        for (auto each = names_.lower_bound(before); each != names_.end() && each->first.starts_with(before); ++each)
            if (each->first.find('/', before.size()) == std::string::npos)
                found.push_back(each->first.substr(before.size()));
        return found;
    });
}

Future<Void> SimDisk::makeDirectory(std::string path) {
    return operate(Sort::Other, callOf("makeDirectory", path), [this, path = normal(path)] {
        if (isDirectory(path))
            return Void();
        needDirectory(directoryOf(path));
        if (names_.contains(path))
            throw Failure{EEXIST};
        change({{}, path, {}});
        return Void();
    });
}

Future<Void> SimDisk::syncDirectory(std::string path) {
    return operate(Sort::Sync, callOf("sync", path), [this, path = normal(path), changes = nameChanges_] {
        needDirectory(path);
        bool fails = dice_.injects(FaultKind::diskSyncError);
        std::vector<NameChange> unstored = takeUnstored(path, changes);
        if (fails) {
            storeSome(unstored);
            throw Failure{EIO, true};
        }
        for (NameChange const& each : unstored)
            each.apply(storedNames_);
        return Void();
    });
}

void SimDisk::kill() {
    isOn_ = false;
    ++lives_;
    operations_.reset();
}

void SimDisk::crash() {
    kill();
    risks_.reset();
    loseNames();
    for (auto const& [path, entry] : names_)
        if (!entry.isDirectory())
            entry.file->loseCache(dice_);
}

void SimDisk::boot() {
    isOn_ = true;
}

// The world calls risks() after each turn of a process that is due to lose power, so the result is cached.
unsigned SimDisk::risks() const {
    if (risks_)
        return *risks_;
    unsigned all = unstoredNames_.empty() ? 0 : Attachment::kUnsyncedName;
    for (auto const& [path, entry] : names_)
        if (std::size_t changes = entry.isDirectory() ? 0 : entry.file->unstored(); changes > 0)
            all |= changes > 1 ? Attachment::kUnsyncedWrites : Attachment::kUnsyncedWrite;
    return *(risks_ = all);
}

// -------------------------------------------------------------------------------------------------------------------
// Names

bool SimDisk::isDirectory(std::string const& path) const {
    if (path.size() - path.rfind('/') - 1 > kLongestName && isDirectory(directoryOf(path)))
        throw Failure{ENAMETOOLONG};
    auto found = names_.find(path);
    return path == "/" || (found != names_.end() && found->second.isDirectory());
}

void SimDisk::needDirectory(std::string const& path) const {
    if (!isDirectory(path))
        throw Failure{reasonOfMissing(path)};
}

/// Returns the errno for a path that does not exist, or that must be a directory and is a file.
int SimDisk::reasonOfMissing(std::string path) const {
    while (!path.empty() && !names_.contains(path) && path != "/")
        path = directoryOf(path);
    auto found = names_.find(path);
    return found == names_.end() || found->second.isDirectory() ? ENOENT : ENOTDIR;
}

SimDisk::Entry const& SimDisk::need(std::string const& path) const {
    auto found = names_.find(path);
    if (found == names_.end())
        throw Failure{reasonOfMissing(path)};
    return found->second;
}

bool SimDisk::NameChange::touches(Paths const& directories) const {
    return (!goes.empty() && directories.contains(directoryOf(goes))) ||
           (!comes.empty() && directories.contains(directoryOf(comes)));
}

void SimDisk::NameChange::addDirectories(Paths& directories) const {
    for (std::string const& path : {goes, comes})
        if (!path.empty())
            directories.insert(directoryOf(path));
}

void SimDisk::NameChange::apply(Names& names) const {
    if (!goes.empty()) {
        names.erase(goes);
        // The content of a removed directory is removed too, even if the removal of the content is not stored.
        auto inside = names.lower_bound(goes + "/");
        while (inside != names.end() && inside->first.starts_with(goes + "/"))
            inside = names.erase(inside);
    }
    if (!comes.empty())
        names[comes] = entry;
}

void SimDisk::change(NameChange nameChange) {
    nameChange.number = nameChanges_++;
    nameChange.apply(names_);
    unstoredNames_.push_back(std::move(nameChange));
}

// A change depends on all earlier changes in the directories that it touches, so these are taken too.
std::vector<SimDisk::NameChange> SimDisk::takeUnstored(std::string const& directory, std::uint64_t below) {
    Paths directories{directory};
    std::vector<bool> isTaken(unstoredNames_.size());
    for (std::size_t i = unstoredNames_.size(); i-- > 0;) {
        NameChange const& each = unstoredNames_[i];
        isTaken[i] = each.number < below && each.touches(directories);
        if (isTaken[i])
            each.addDirectories(directories);
    }
    std::vector<NameChange> taken, rest;
    for (std::size_t i = 0; i < isTaken.size(); ++i)
        (isTaken[i] ? taken : rest).push_back(std::move(unstoredNames_[i]));
    unstoredNames_ = std::move(rest);
    return taken;
}

void SimDisk::storeSome(std::vector<NameChange> const& changes) {
    Paths old; // directories that have lost a change: none of their later changes reaches the disk
    for (NameChange const& each : changes)
        if (each.touches(old) || dice_.injects(FaultKind::diskLostName))
            each.addDirectories(old);
        else
            each.apply(storedNames_);
}

void SimDisk::loseNames() {
    storeSome(unstoredNames_);
    unstoredNames_.clear();
    names_.clear();
    for (auto const& [path, entry] : storedNames_) // a directory comes before its content
        if (isDirectory(directoryOf(path)))
            names_.emplace(path, entry);
    storedNames_ = names_;
}

void ProcessDisk::started(Process& process) {
    disk.boot();
    process.ownLoop().provide<FileSystem>(&disk);
}

void ProcessDisk::stopped(Process&, bool powerLost) {
    if (powerLost)
        disk.crash();
    else
        disk.kill();
}

} // namespace flow
