// The machine's files: each operation is a system call on a ThreadPool that all files of the loop share.
//
// The first call of files() on a loop makes a RealFiles, which the loop owns. When the loop ends, ~RealFiles() stops
// the pool. Each operation holds a reference to its RealFile, so the descriptor stays open until the last operation has
// ended, even if the program drops file and future before. The pool also closes descriptors. FileCall makes the errors.

#include "flow/file/async_file.h"
#include "flow/file/detail/file_call.h"
#include "flow/threads/thread_pool.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace flow {
namespace {

/// Returns the result of call(), a system call. Repeats it while it fails with EINTR or EAGAIN.
template <class Call>
auto completed(FileCall const& of, Error denied, Call call) {
    for (;;) {
        auto result = call();
        if (result >= 0)
            return result;
        if (errno != EINTR && errno != EAGAIN)
            throw of.error(errno, denied);
    }
}

void check(FileCall const& of, std::error_code failure) {
    if (failure)
        throw of.error(failure.value(), file_not_readable());
}

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() {
        if (number_ >= 0)
            ::close(number_);
    }
    int number() const { return number_; }

private:
    int number_ = -1;
};

int flagsOf(OpenMode mode) {
    switch (mode) {
    case OpenMode::Read:
        return O_RDONLY;
    case OpenMode::ReadWrite:
        return O_RDWR;
    case OpenMode::Create:
        return O_RDWR | O_CREAT;
    case OpenMode::CreateNew:
        return O_RDWR | O_CREAT | O_EXCL;
    case OpenMode::Append:
        return O_RDWR | O_CREAT | O_APPEND;
    }
    return 0;
}

struct stat statusOf(FileCall const& of, int file) {
    struct stat status;
    completed(of, file_not_readable(), [&] { return ::fstat(file, &status); });
    return status;
}

class RealFile final : public AsyncFile {
    /// Runs function() on a thread of the pool. The file stays open until the function has ended.
    template <class F>
    auto call(F function) {
        return threads_->runToEnd([self = Reference<RealFile>::addRef(this), f = std::move(function)] { return f(); });
    }

public:
    RealFile(Reference<ThreadPool> threads, std::string path, OpenMode mode)
        : threads_(std::move(threads)), path_(std::move(path)), mode_(mode) {}
    // Closes the file on a thread of the pool: freeing the blocks of a removed file can take long.
    ~RealFile() override {
        if (descriptor_.number() < 0)
            return;
        try {
            (void)threads_->runToEnd(
                [last = std::move(descriptor_)]() mutable { Descriptor closed = std::move(last); });
        } catch (std::bad_alloc const&) { // the lambda's destructor has closed the file on the loop's thread
        }
    }

    /// Opens the file. Called on a thread of the pool.
    void open(int permissions) {
        FileCall opening = named("open");
        int flags = O_CLOEXEC | flagsOf(mode_);
        Error denied = isWritable() ? file_not_writable() : file_not_readable();
        Descriptor opened(completed(opening, denied, [&] { return ::open(path_.c_str(), flags, permissions); }));
        if (S_ISDIR(statusOf(opening, opened.number()).st_mode)) // the system opens a directory, but cannot read it
            throw opening.error(EISDIR);
        descriptor_ = std::move(opened);
    }

    Future<Standalone<StringRef>> read(std::int64_t offset, int length, std::source_location caller) override {
        FLOW_ASSERT_AT(caller, offset >= 0 && length >= 0, "AsyncFile::read() of a negative offset or length");
        // A read beyond the last offset gives no bytes; the system would report an error.
        length = static_cast<int>(std::min<std::int64_t>(length, kLastOffset - offset));
        return call([this, offset, bytes = makeString(length)] {
            int count = 0;
            while (count < bytes.size()) {
                std::uint8_t* rest = mutateString(bytes) + count;
                auto left = static_cast<std::size_t>(bytes.size() - count);
                ssize_t got = completed(named("read"), file_not_readable(),
                                        [&] { return ::pread(descriptor_.number(), rest, left, offset + count); });
                if (got == 0)
                    break;
                count += static_cast<int>(got);
            }
            return Standalone<StringRef>(bytes.substr(0, count), bytes.arena());
        });
    }
    Future<Void> write(std::int64_t offset, Standalone<StringRef> bytes, std::source_location caller) override {
        FLOW_ASSERT_AT(caller, offset >= 0, "AsyncFile::write() to a negative offset");
        if (!isWritable() || mode_ == OpenMode::Append)
            return named("write").notOpenForThis();
        if (offset > kLastOffset - bytes.size())
            return named("write").error(EFBIG);
        return put(std::move(bytes), [file = descriptor_.number(), offset](StringRef rest, int count) {
            return ::pwrite(file, rest.begin(), static_cast<std::size_t>(rest.size()), offset + count);
        });
    }
    Future<Void> append(Standalone<StringRef> bytes) override {
        if (mode_ != OpenMode::Append)
            return named("append").notOpenForThis();
        return put(std::move(bytes), [file = descriptor_.number()](StringRef rest, int) {
            return ::write(file, rest.begin(), static_cast<std::size_t>(rest.size()));
        });
    }
    Future<Void> sync() override {
        // Writes the bytes, and only the metadata that reads need, such as the size.
        return call(
            [this] { completed(named("sync"), io_error(), [&] { return ::fdatasync(descriptor_.number()); }); });
    }
    Future<Void> truncate(std::int64_t size, std::source_location caller) override {
        FLOW_ASSERT_AT(caller, size >= 0, "AsyncFile::truncate() to a negative size");
        if (!isWritable())
            return named("truncate").notOpenForThis();
        return call([this, size] {
            completed(named("truncate"), file_not_writable(), [&] { return ::ftruncate(descriptor_.number(), size); });
        });
    }
    Future<std::int64_t> size() override {
        return call([this] { return std::int64_t{statusOf(named("size"), descriptor_.number()).st_size}; });
    }
    Future<bool> tryLock() override {
        return call([this] {
            while (::flock(descriptor_.number(), LOCK_EX | LOCK_NB) != 0)
                if (errno == EWOULDBLOCK)
                    return false;
                else if (errno != EINTR)
                    throw named("lock").error(errno, io_error());
            return true;
        });
    }

private:
    static constexpr std::int64_t kLastOffset = std::numeric_limits<std::int64_t>::max();

    bool isWritable() const { return mode_ != OpenMode::Read; }
    FileCall named(std::string_view call) const { return {call, path_}; }
    /// Calls write(rest, count) on a thread until all bytes are written. `rest` is the bytes after the first `count`.
    template <class Write>
    Future<Void> put(Standalone<StringRef> bytes, Write write) {
        return call([this, bytes = std::move(bytes), write] {
            FileCall writing = named(mode_ == OpenMode::Append ? "append" : "write");
            for (int count = 0; count < bytes.size();)
                count += static_cast<int>(
                    completed(writing, file_not_writable(), [&] { return write(bytes.substr(count), count); }));
        });
    }

    Reference<ThreadPool> threads_;
    std::string path_;
    OpenMode mode_;
    Descriptor descriptor_;
};

void syncNames(std::string const& path) {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    FileCall syncing{"sync", path};
    Descriptor directory(completed(syncing, file_not_readable(), [&] { return ::open(path.c_str(), kFlags); }));
    completed(syncing, io_error(), [&] { return ::fsync(directory.number()); });
}

FileInfo infoOf(std::string const& path) {
    struct stat status;
    completed({"info", path}, file_not_readable(), [&] { return ::stat(path.c_str(), &status); });
    FileInfo info;
    if (S_ISDIR(status.st_mode))
        info.kind = FileKind::Directory;
    if (!S_ISREG(status.st_mode))
        return info;
    info.kind = FileKind::File;
    info.permissions = static_cast<int>(status.st_mode & 07777);
    info.size = status.st_size;
    info.modified = static_cast<double>(status.st_mtim.tv_sec) + static_cast<double>(status.st_mtim.tv_nsec) / 1e9;
    return info;
}

std::vector<std::string> sortedNames(std::string const& directory) {
    std::vector<std::string> names;
    std::error_code failure;
    std::filesystem::directory_iterator each(directory, failure);
    while (!failure && each != std::filesystem::directory_iterator()) {
        names.push_back(each->path().filename().string());
        each.increment(failure);
    }
    check({"list", directory}, failure);
    std::sort(names.begin(), names.end());
    return names;
}

class RealFiles final : public FileSystem, LoopOwned {
public:
    explicit RealFiles(Loop& home) : home_(home), threads_(makeReference<ThreadPool>(home)) {
        home_.provide<FileSystem>(this);
        end = [](LoopOwned* owned) { delete static_cast<RealFiles*>(owned); };
        home_.add(*this);
    }
    ~RealFiles() {
        threads_->stop();
        if (home_.service<FileSystem>() == this)
            home_.provide<FileSystem>(nullptr);
    }

    Future<Reference<AsyncFile>> open(std::string path, OpenMode mode, int permissions) override {
        auto file = makeReference<RealFile>(threads_, std::move(path), mode);
        return threads_->runToEnd([file, permissions]() -> Reference<AsyncFile> {
            file->open(permissions);
            return file;
        });
    }
    Future<FileInfo> info(std::string path) override {
        return threads_->runToEnd([path = std::move(path)] { return infoOf(path); });
    }
    Future<Void> setPermissions(std::string path, int permissions) override {
        return threads_->runToEnd([path = std::move(path), permissions] {
            completed({"setPermissions", path}, file_not_writable(),
                      [&] { return ::chmod(path.c_str(), static_cast<mode_t>(permissions)); });
        });
    }
    Future<Void> rename(std::string from, std::string to) override {
        return threads_->runToEnd([from = std::move(from), to = std::move(to)] {
            completed({"rename", from, to}, file_not_writable(), [&] { return ::rename(from.c_str(), to.c_str()); });
        });
    }
    Future<Void> remove(std::string path) override {
        return threads_->runToEnd([path = std::move(path)] {
            completed({"remove", path}, file_not_writable(), [&] { return ::unlink(path.c_str()); });
        });
    }
    Future<Void> removeDirectory(std::string path) override {
        return threads_->runToEnd([path = std::move(path)] {
            completed({"removeDirectory", path}, file_not_writable(), [&] { return ::rmdir(path.c_str()); });
        });
    }
    Future<bool> exists(std::string path) override {
        return threads_->runToEnd([path = std::move(path)] {
            std::error_code failure;
            bool isThere = std::filesystem::exists(path, failure);
            check({"exists", path}, failure);
            return isThere;
        });
    }
    Future<std::vector<std::string>> list(std::string directory) override {
        return threads_->runToEnd([directory = std::move(directory)] { return sortedNames(directory); });
    }
    Future<Void> makeDirectory(std::string path) override {
        return threads_->runToEnd([path = std::move(path)] {
            if (::mkdir(path.c_str(), 0777) != 0 && !(errno == EEXIST && std::filesystem::is_directory(path)))
                throw FileCall{"makeDirectory", path}.error(errno);
        });
    }
    Future<Void> syncDirectory(std::string path) override {
        return threads_->runToEnd([path = std::move(path)] { syncNames(path); });
    }

private:
    Loop& home_;
    Reference<ThreadPool> threads_;
};

} // namespace

FileSystem& files() {
    Loop& current = Loop::current();
    if (FileSystem* provided = current.service<FileSystem>())
        return *provided;
    current.useMachines("files");
    return *new RealFiles(current); // the loop deletes it
}

} // namespace flow
