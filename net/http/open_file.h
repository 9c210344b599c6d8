#pragma once
// OpenFile: an open file of which responses are made, shared by all that send it.
//
//     FileFolder folder("/srv/www");
//     std::shared_ptr<OpenFile> file = co_await runBlocking([&] { return folder.open("a/b.html"); });
//     response.body = Body::file(file, 0, file->size());
//
// The descriptor closes when the last pointer goes. A file of at most kKept bytes is read when it is opened, and needs
// no further call of the system. The pieces of a larger file come from the memory of the system (the page cache) if
// they are there; else, and always on a simulated loop, they are read by runBlocking(). A server on a real network
// sends them straight from there (Connection::trySendFile()).
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
    static constexpr std::uint64_t kKept = 32 * 1024;  // bytes: to send more from here costs more than sendfile()
    static constexpr std::uint64_t kPiece = 64 * 1024; // bytes in one read()

    /// Takes the descriptor of a regular file. Blocks; throws file_not_found for anything else than a file.
    explicit OpenFile(int descriptor);
    OpenFile(OpenFile const&) = delete;
    OpenFile& operator=(OpenFile const&) = delete;
    ~OpenFile();

    std::uint64_t size() const { return static_cast<std::uint64_t>(facts_.st_size); }
    std::int64_t modified() const { return facts_.st_mtim.tv_sec; } // seconds since 1970
    /// The entity tag: other bytes or another file have another tag. It is weak (W/"...") if the file was opened so
    /// soon after a change that one more change could leave the same time.
    std::string const& tag() const { return tag_; }
    int descriptor() const { return descriptor_; }
    /// True if all bytes of the file are in memory.
    bool isKept() const { return !kept_.empty(); }
    /// Returns some of the bytes of a file that is kept, without a copy.
    Bytes kept(std::uint64_t offset, std::uint64_t size) const;
    /// False if the file has been changed, replaced or removed since it was opened. Asks the system, without a wait.
    bool isCurrent() const;

    /// Reads some of the `size` bytes at `offset`, at least one. Fails with io_error, also if the file has become
    /// shorter. `size` is not 0.
    Future<Bytes> read(std::uint64_t offset, std::uint64_t size);

    /// True if it is likely that these bytes can be read without a wait for the disk: the first one and the last one
    /// are in the memory of the system. Always false on a simulated loop.
    bool isInMemory(std::uint64_t offset, std::uint64_t size) const;

private:
    /// Reads what is in the memory of the system; 0: read it on another thread.
    std::size_t readNow(std::uint8_t* to, std::uint64_t offset, std::uint64_t size) const;

    int const descriptor_;
    struct stat facts_;
    std::string tag_;
    Bytes kept_; // the whole file, or nothing
};

/// A folder of files to serve. Follows no symbolic link inside of the folder, and no "..": no path leads out.
class FileFolder {
public:
    /// Throws file_not_found if `path` is no folder. The path itself may have links.
    explicit FileFolder(std::string const& path);
    FileFolder(FileFolder const&) = delete;
    FileFolder& operator=(FileFolder const&) = delete;
    ~FileFolder();

    /// Opens "a/b.html", or "/a/b.html", which is the same. Blocks. Returns null if the path is a folder. Throws
    /// file_not_found, also for what is no regular file; platform_error if no descriptor is left.
    std::shared_ptr<OpenFile> open(std::string const& path) const;

private:
    int const descriptor_;
};

} // namespace flow::net::http
