#pragma once
// OpenFile: an open file that responses send and share.
//
//     FileFolder folder("/srv/www");
//     std::shared_ptr<OpenFile> file = co_await runBlocking([&] { return folder.open("a/b.html"); });
//     response.body = Body::file(file, 0, file->size());
//
// The descriptor is closed with the last pointer. The constructor reads a file of at most kKept bytes into memory. The
// pieces of a larger file come from the page cache of the kernel. runBlocking() reads pieces that are not there, and
// all pieces on a simulated loop. On a real network, Connection::trySendFile() sends them straight from the page cache.
//
// Threads: open() blocks, and may run on any thread. The other functions belong to the thread of a loop.

#include "net/connection.h"

#include <cstdint>
#include <memory>
#include <string>
#include <sys/stat.h>

namespace flow::net::http {

class OpenFile : public std::enable_shared_from_this<OpenFile> {
public:
    static constexpr std::uint64_t kKept = 32 * 1024;  // bytes: sendfile() is cheaper for larger files
    static constexpr std::uint64_t kPiece = 64 * 1024; // bytes in one read()

    /// Takes ownership of the descriptor. Blocks. Throws file_not_found if it is no regular file.
    explicit OpenFile(int descriptor);
    OpenFile(OpenFile const&) = delete;
    OpenFile& operator=(OpenFile const&) = delete;
    ~OpenFile();

    std::uint64_t size() const { return static_cast<std::uint64_t>(facts_.st_size); }
    std::int64_t modified() const { return facts_.st_mtim.tv_sec; } // seconds since 1970
    /// Returns the entity tag: other bytes or another file have another tag. The tag is weak (W/"...") if the file was
    /// opened so soon after a change that a second change could have the same time.
    std::string const& tag() const { return tag_; }
    int descriptor() const { return descriptor_; }
    /// True if all bytes of the file are in memory.
    bool isKept() const { return !kept_.empty(); }
    /// Returns bytes of a file that is in memory, without a copy.
    Bytes kept(std::uint64_t offset, std::uint64_t size) const;
    /// False if the file was changed, replaced or removed since it was opened. Calls fstat().
    bool isCurrent() const;

    /// Reads at least one of the `size` (not 0) bytes at `offset`. Fails with io_error, also if the file got shorter.
    Future<Bytes> read(std::uint64_t offset, std::uint64_t size);

    /// True if the first and the last of these bytes are in the page cache, so that a read probably does not wait for
    /// the disk. Always false on a simulated loop.
    bool isInMemory(std::uint64_t offset, std::uint64_t size) const;

private:
    /// Reads from the page cache. Returns 0 if the bytes must be read on another thread.
    std::size_t readNow(std::uint8_t* to, std::uint64_t offset, std::uint64_t size) const;

    int const descriptor_;
    struct stat facts_;
    std::string tag_;
    Bytes kept_; // the whole file, or empty
};

/// A folder of files to serve. No path leads out of the folder: ".." and symbolic links inside of it are not followed.
class FileFolder {
public:
    /// Throws file_not_found if `path` is no folder. `path` itself may have symbolic links.
    explicit FileFolder(std::string const& path);
    FileFolder(FileFolder const&) = delete;
    FileFolder& operator=(FileFolder const&) = delete;
    ~FileFolder();

    /// Opens "a/b.html"; "/a/b.html" is the same. Blocks. Returns null for a folder. Throws file_not_found if there is
    /// no regular file at the path, and platform_error if no descriptor is left.
    std::shared_ptr<OpenFile> open(std::string const& path) const;

private:
    int const descriptor_;
};

} // namespace flow::net::http
