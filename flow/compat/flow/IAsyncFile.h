#pragma once
// IAsyncFile and IAsyncFileSystem under the old header name: files without blocking the loop.
//
//     IAsyncFileSystem* system = IAsyncFileSystem::filesystem();
//     auto flags = IAsyncFile::OPEN_READWRITE | IAsyncFile::OPEN_CREATE;
//     Reference<IAsyncFile> file = co_await system->open("log", flags, 0644);
//     co_await file->write(bytes, length, 0);
//     co_await file->sync();
//     int count = co_await file->read(buffer, sizeof buffer, 0);        // fewer bytes only at the end of the file
//
// The file system is that of the current loop (flow/file/async_file.h defines atomicity, durability and cancel safety),
// so a simulated process has its own disk. A program can set another: `g_network->setGlobal(INetwork::enFileSystem,
// system)`. write() copies its bytes when it is called. A buffer for read() must exist until the future is ready or
// dropped. `mode` has no effect. Only OPEN_READWRITE and the flags with a comment have an effect.

#include "../../file/async_file.h"
#include "network.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

class IAsyncFile {
public:
    enum {
        OPEN_READONLY = 0x1,
        OPEN_READWRITE = 0x2,
        OPEN_CREATE = 0x4,    // makes an empty file if the file does not exist
        OPEN_EXCLUSIVE = 0x8, // with OPEN_CREATE: fails with io_error if the file exists
        // With OPEN_CREATE: writes to the file NAME.part; the first sync() renames it to NAME.
        OPEN_ATOMIC_WRITE_AND_CREATE = 0x10,
        OPEN_UNBUFFERED = 0x10000,
        OPEN_UNCACHED = 0x20000,
        OPEN_LOCK = 0x40000,
        OPEN_CACHED_READ_ONLY = 0x80000,
        OPEN_NO_AIO = 0x100000,
        OPEN_LARGE_PAGES = 0x200000,
    };

    virtual ~IAsyncFile() = default;
    virtual void addref() = 0;
    virtual void delref() = 0;
    /// Returns the number of bytes that were read.
    virtual flow::Future<int> read(void* data, int length, std::int64_t offset) = 0;
    virtual flow::Future<flow::Void> write(void const* data, int length, std::int64_t offset) = 0;
    virtual flow::Future<flow::Void> zeroRange(std::int64_t offset, std::int64_t length) {
        return writeZeros(this, offset, length);
    }
    virtual flow::Future<flow::Void> truncate(std::int64_t size) = 0;
    virtual flow::Future<flow::Void> sync() = 0;
    /// Does nothing: there is no buffer.
    virtual flow::Future<flow::Void> flush() { return flow::Void(); }
    virtual flow::Future<std::int64_t> size() const = 0;
    virtual std::string getFilename() const = 0;

private:
    static flow::Future<flow::Void> writeZeros(IAsyncFile* file, std::int64_t offset, std::int64_t length) {
        constexpr std::int64_t kMost = 1 << 20; // at a time
        auto self = flow::Reference<IAsyncFile>::addRef(file);
        std::string zeros(static_cast<std::size_t>(std::min(kMost, length)), '\0');
        while (length > 0) {
            auto count = static_cast<int>(std::min(kMost, length));
            co_await self->write(zeros.data(), count, offset);
            offset += count;
            length -= count;
        }
    }
};

class IAsyncFileSystem {
public:
    virtual ~IAsyncFileSystem() = default;
    virtual flow::Future<flow::Reference<IAsyncFile>> open(std::string const& filename, std::int64_t flags,
                                                           std::int64_t mode) = 0;
    /// Deletes a file. With `mustBeDurable`, the file does not come back after a power loss.
    virtual flow::Future<flow::Void> deleteFile(std::string const& filename, bool mustBeDurable) = 0;
    virtual flow::Future<flow::Void> renameFile(std::string const& from, std::string const& to) = 0;
    /// Returns the time of the last change. Not for simulated disks.
    virtual flow::Future<std::time_t> lastWriteTime(std::string const& filename) = 0;

    static IAsyncFileSystem* filesystem();
};

namespace flow::compat {

/// Returns the folder of a file.
inline std::string folderOf(std::string const& path) {
    std::size_t slash = path.rfind('/');
    if (slash == std::string::npos)
        return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

class LoopFile final : public IAsyncFile, ReferenceCounted<LoopFile> {
    using Counted = ReferenceCounted<LoopFile>;
    friend Counted;

public:
    LoopFile(Reference<AsyncFile> file, std::string name, bool isPart)
        : file_(std::move(file)), name_(std::move(name)), isPart_(isPart) {}

    void addref() override { Counted::addref(); }
    void delref() override { Counted::delref(); }
    Future<int> read(void* data, int length, std::int64_t offset) override {
        return readInto(file_, data, length, offset);
    }
    Future<Void> write(void const* data, int length, std::int64_t offset) override {
        return file_->write(offset, StringRef(static_cast<std::uint8_t const*>(data), length));
    }
    Future<Void> truncate(std::int64_t size) override { return file_->truncate(size); }
    Future<Void> sync() override {
        if (isPart_)
            return syncPart(Reference<LoopFile>::addRef(this));
        return file_->sync();
    }
    Future<std::int64_t> size() const override { return file_->size(); }
    std::string getFilename() const override { return name_; }

private:
    static Future<int> readInto(Reference<AsyncFile> file, void* data, int length, std::int64_t offset) {
        Standalone<StringRef> bytes = co_await file->read(offset, length);
        if (bytes.size() > 0)
            std::memcpy(data, bytes.begin(), static_cast<std::size_t>(bytes.size()));
        co_return bytes.size();
    }
    static Future<Void> syncPart(Reference<LoopFile> self) {
        co_await self->file_->sync();
        if (!std::exchange(self->isPart_, false)) // another sync() has renamed it
            co_return;
        co_await files().rename(self->name_ + ".part", self->name_);
        co_await files().syncDirectory(folderOf(self->name_));
    }

    Reference<AsyncFile> file_;
    std::string name_;
    bool isPart_;
};

class LoopFileSystem final : public IAsyncFileSystem {
public:
    Future<Reference<IAsyncFile>> open(std::string const& filename, std::int64_t flags, std::int64_t) override {
        return openFile(filename, flags);
    }
    Future<Void> deleteFile(std::string const& filename, bool mustBeDurable) override {
        return removeFile(filename, mustBeDurable);
    }
    Future<Void> renameFile(std::string const& from, std::string const& to) override {
        return files().rename(from, to);
    }
    Future<std::time_t> lastWriteTime(std::string const& filename) override {
        FLOW_ASSERT_TRUE(!Loop::current().isSimulated());
        std::error_code failed;
        auto time = std::filesystem::last_write_time(filename, failed);
        if (failed)
            return failed == std::errc::no_such_file_or_directory ? file_not_found() : io_error();
        // nondeterminism: it is the time of the file, and the loop is not simulated
        auto seconds = std::chrono::file_clock::to_sys(time).time_since_epoch();
        return static_cast<std::time_t>(std::chrono::duration_cast<std::chrono::seconds>(seconds).count());
    }

private:
    static Future<Reference<IAsyncFile>> openFile(std::string name, std::int64_t flags) {
        bool creates = (flags & IAsyncFile::OPEN_CREATE) != 0;
        bool isPart = creates && (flags & IAsyncFile::OPEN_ATOMIC_WRITE_AND_CREATE) != 0;
        if (creates && (flags & IAsyncFile::OPEN_EXCLUSIVE) != 0) {
            bool exists = co_await files().exists(name); // gcc 12 translates a co_await in a condition wrongly
            if (exists)
                throw io_error();
        }
        OpenMode mode = creates                                ? OpenMode::Create
                        : (flags & IAsyncFile::OPEN_READWRITE) ? OpenMode::ReadWrite
                                                               : OpenMode::Read;
        std::string place = isPart ? name + ".part" : name; // gcc 12 translates that wrongly in a co_await
        Reference<AsyncFile> file = co_await files().open(place, mode);
        if (isPart)
            co_await file->truncate(0);
        co_return Reference<IAsyncFile>(new LoopFile(std::move(file), std::move(name), isPart));
    }
    static Future<Void> removeFile(std::string name, bool mustBeDurable) {
        co_await files().remove(name);
        if (mustBeDurable)
            co_await files().syncDirectory(folderOf(name));
    }
};

} // namespace flow::compat

inline IAsyncFileSystem* IAsyncFileSystem::filesystem() {
    static flow::compat::LoopFileSystem ofLoop;
    void* own = g_network->global(INetwork::enFileSystem);
    return own ? static_cast<IAsyncFileSystem*>(own) : &ofLoop;
}

#include "flow.h" // as in Flow; must be last, because it includes this file
