#include "net/http/open_file.h"

#include "flow/base/error.h"
#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/loop.h"
#include "flow/threads/run_blocking.h"
#include "net/http/body.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace flow::net::http {
namespace {

/// Fills `to` with the bytes of the file from `offset` on. Blocks.
void readWhole(int descriptor, std::uint64_t offset, StringRef to) {
    for (std::size_t have = 0; have < static_cast<std::size_t>(to.size());) {
        ssize_t count = ::pread(descriptor, mutateString(to) + have, static_cast<std::size_t>(to.size()) - have,
                                static_cast<off_t>(offset + have));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            throw io_error();
        have += static_cast<std::size_t>(count);
    }
}

/// True if a later change would get another time: the clock for the times of files may tick only 100 times a second.
bool isSettled(timespec changed) {
    constexpr std::int64_t kTick = 20'000'000; // nanoseconds
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now); // nondeterminism: files outside of a simulation have real times
    return (now.tv_sec - changed.tv_sec) * 1'000'000'000 + now.tv_nsec - changed.tv_nsec > kTick;
}

class FileSource final : public BodySource {
public:
    FileSource(std::shared_ptr<OpenFile> file, std::uint64_t offset, std::uint64_t size)
        : file_(std::move(file)), offset_(offset), left_(size) {}

    Future<Bytes> next() override {
        if (left_ == 0)
            return Bytes();
        Future<Bytes> piece = file_->read(offset_, left_);
        return piece.isReady() ? taken(piece.get()) : wait(Reference<FileSource>::addRef(this), std::move(piece));
    }

    std::optional<std::size_t> trySendTo(Connection& connection, StringRef before) override {
        constexpr std::uint64_t kLookAhead = 1 << 20; // bytes
        if (offset_ >= knownTo_) {
            std::uint64_t size = std::min(left_, kLookAhead);
            if (left_ == 0 || !file_->isInMemory(offset_, size))
                return {};
            knownTo_ = offset_ + size;
        }
        auto sent = connection.trySendFile(before, file_->descriptor(), offset_, knownTo_ - offset_);
        std::size_t ofFile = sent.value_or(0) - std::min<std::size_t>(sent.value_or(0), before.size());
        offset_ += ofFile;
        left_ -= ofFile;
        return sent;
    }

private:
    static Future<Bytes> wait(Reference<FileSource> source, Future<Bytes> piece) {
        Bytes bytes = co_await std::move(piece);
        co_return source->taken(std::move(bytes));
    }
    Bytes taken(Bytes bytes) {
        offset_ += static_cast<std::uint64_t>(bytes.size());
        left_ -= static_cast<std::uint64_t>(bytes.size());
        return bytes;
    }

    std::shared_ptr<OpenFile> file_;
    std::uint64_t offset_, left_;
    std::uint64_t knownTo_ = 0; // the bytes before this offset are in the page cache
};

} // namespace

OpenFile::OpenFile(int descriptor) : descriptor_(descriptor) {
    try {
        if (::fstat(descriptor_, &facts_) != 0 || !S_ISREG(facts_.st_mode))
            throw file_not_found();
        // ctime, not mtime: a program can set mtime back.
        tag_ = format("%s\"%llx-%llx\"", isSettled(facts_.st_ctim) ? "" : "W/", static_cast<unsigned long long>(size()),
                      static_cast<unsigned long long>(facts_.st_ctim.tv_sec) * 1'000'000'000 +
                          static_cast<unsigned long long>(facts_.st_ctim.tv_nsec));
        if (size() <= kKept) {
            kept_ = makeString(static_cast<int>(size()));
            readWhole(descriptor_, 0, kept_);
        }
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

OpenFile::~OpenFile() {
    ::close(descriptor_);
}

bool OpenFile::isCurrent() const {
    struct stat now;
    return ::fstat(descriptor_, &now) == 0 && now.st_nlink != 0 && now.st_size == facts_.st_size &&
           now.st_ctim.tv_sec == facts_.st_ctim.tv_sec && now.st_ctim.tv_nsec == facts_.st_ctim.tv_nsec;
}

Future<Bytes> OpenFile::read(std::uint64_t offset, std::uint64_t size) {
    size = std::min(size, kPiece);
    if (isKept())
        return kept(offset, std::min(size, this->size() - offset));
    Bytes bytes = makeString(static_cast<int>(size));
    if (std::size_t count = readNow(mutateString(bytes), offset, size))
        return Bytes(bytes.substr(0, static_cast<int>(count)), bytes.arena());
    return runBlocking([self = shared_from_this(), bytes, offset] {
        readWhole(self->descriptor_, offset, bytes);
        return bytes;
    });
}

std::size_t OpenFile::readNow(std::uint8_t* to, std::uint64_t offset, std::uint64_t size) const {
    if (Loop::current().isSimulated()) // a simulation must not depend on the page cache
        return 0;
    iovec piece{to, size};
    return static_cast<std::size_t>(
        std::max<ssize_t>(::preadv2(descriptor_, &piece, 1, static_cast<off_t>(offset), RWF_NOWAIT), 0));
}

bool OpenFile::isInMemory(std::uint64_t offset, std::uint64_t size) const {
    std::uint8_t byte;
    return readNow(&byte, offset + size - 1, 1) == 1 && readNow(&byte, offset, 1) == 1;
}

Bytes OpenFile::kept(std::uint64_t offset, std::uint64_t size) const {
    return {kept_.substr(static_cast<int>(offset), static_cast<int>(size)), kept_.arena()};
}

Body Body::file(std::shared_ptr<OpenFile> file, std::uint64_t offset, std::uint64_t size) {
    if (file->isKept())
        return file->kept(offset, size);
    return from(makeReference<FileSource>(std::move(file), offset, size), size);
}

FileFolder::FileFolder(std::string const& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0)
        throw file_not_found().withSentence("there is no such folder, or it cannot be read: " + path);
}

FileFolder::~FileFolder() {
    ::close(descriptor_);
}

std::shared_ptr<OpenFile> FileFolder::open(std::string const& path) const {
    int at = descriptor_;
    auto closeFolder = [&] {
        if (at != descriptor_)
            ::close(at);
    };
    // Open the parts of the path one by one. openat2() would do it in one call, but older kernels do not have it, and
    // seccomp may forbid it.
    for (std::size_t start = 0; start < path.size();) {
        std::size_t end = std::min(path.find('/', start), path.size());
        std::string part = path.substr(start, end - start);
        start = end + 1;
        if (part.empty() || part == ".")
            continue;
        int next = part == ".." ? -1 : ::openat(at, part.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        int reason = part == ".." ? ENOENT : errno;
        closeFolder();
        if (next < 0 && (reason == EMFILE || reason == ENFILE || reason == ENOMEM))
            throw platform_error();
        if (next < 0)
            throw file_not_found();
        at = next;
    }
    struct stat facts;
    bool isFolder = at == descriptor_ || (::fstat(at, &facts) == 0 && S_ISDIR(facts.st_mode));
    if (isFolder)
        closeFolder();
    return isFolder ? nullptr : std::make_shared<OpenFile>(at);
}

} // namespace flow::net::http
