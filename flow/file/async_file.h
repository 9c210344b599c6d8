#pragma once
// AsyncFile and FileSystem: asynchronous files, which do not block the loop.
//
//     Reference<AsyncFile> file = co_await files().open("log", OpenMode::Create);
//     co_await file->write(0, "hello"_sr);
//     co_await file->sync();                           // the bytes survive a loss of power
//     co_await files().syncDirectory(".");             // the name of a new file survives too
//     Standalone<StringRef> bytes = co_await file->read(0, 4096);
//
// files() returns the FileSystem of the current loop. Loop::current().provide<FileSystem>(&disk) sets it, for example
// to the disk of a simulated process. In a simulated process without a disk, files() ends the program. On other loops
// the default is the machine's files, with calls on a few threads that end with the loop.
//
// Order. An operation takes effect between its call and the completion of its future. Operations that are under way
// together take effect in any order, even on the same file. To order two operations, wait for the first.
//
// Atomicity. Reads and writes are not atomic. A read may see any part of a write that is under way. A write that fails,
// or that is under way when the power fails, may have written any part of its bytes. rename() is atomic.
//
// Durability. If the power fails, only data that sync() and syncDirectory() cover is safe; other data may be lost.
//
// Cancel safety. Dropping a future drops only the answer. The operation may happen or not, at any time until the file
// is closed, even after later operations. Operations own their bytes, so no buffer is freed too early.
//
// Lifetime. A file belongs to the loop on which it was made. An operation keeps its file open and its loop running. A
// file is closed after the end of its last Reference and its last operation. The destructor of the loop waits for
// running operations. Queued operations never happen. The futures of all these operations never become ready.
//
// Errors. file_not_found, file_exists, directory_not_empty, file_not_readable, file_not_writable (denied, or not opened
// for it), file_too_large, disk_full, platform_error (too few file descriptors or threads) and io_error (any other
// error). what() has the call, the path and the reason: open "/data/log": Permission denied. Calls throw
// std::bad_alloc. Negative offsets, lengths and sizes end the program.
//
// More: Lines (flow/file/lines.h), BufferedWriter (flow/file/buffered_writer.h), Journal (flow/file/journal.h). Locked
// and temporary files, and removing a directory tree, are in flow/file/file_tools.h.

#include "flow/core/future.h"
#include "flow/memory/reference.h"
#include "flow/memory/standalone.h"

#include <cstdint>
#include <string>
#include <vector>

namespace flow {

class AsyncFile : public ThreadSafeReferenceCounted<AsyncFile> {
public:
    AsyncFile(AsyncFile const&) = delete;
    AsyncFile& operator=(AsyncFile const&) = delete;
    /// Closes the file. Only sync() makes written data durable.
    virtual ~AsyncFile() = default;

    /// Reads `length` bytes at `offset`, or fewer if the file ends before.
    virtual Future<Standalone<StringRef>> read(std::int64_t offset, int length,
                                               std::source_location caller = std::source_location::current()) = 0;
    /// Writes all bytes. The file grows as needed, and bytes between its old end and `offset` read as zeros. Writing no
    /// bytes does nothing. Copies of a Standalone share its bytes: do not change them until the write ends.
    virtual Future<Void> write(std::int64_t offset, Standalone<StringRef> bytes,
                               std::source_location caller = std::source_location::current()) = 0;
    /// Adds the bytes at the end of the file. Only for a file of OpenMode::Append. Its write() fails with
    /// file_not_writable.
    virtual Future<Void> append(Standalone<StringRef> bytes) = 0;
    /// Makes data durable. When the future is ready, all writes and truncates of this file that had ended at the call
    /// survive a loss of power, also writes and truncates through other handles. If sync() fails, any part of these
    /// changes may be lost, and a later sync() does not save them: write the data again.
    virtual Future<Void> sync() = 0;
    /// Cuts the file to `size` bytes, or extends it by zeros.
    virtual Future<Void> truncate(std::int64_t size, std::source_location caller = std::source_location::current()) = 0;
    virtual Future<std::int64_t> size() = 0;
    /// Locks the file and returns true, unless another open file has the lock, in this process or another process of
    /// this machine. The lock lasts until this file is closed. It does not stop code that does not call tryLock().
    virtual Future<bool> tryLock() = 0;

protected:
    AsyncFile() = default;
};

enum class OpenMode : unsigned char {
    Read,      // an existing file, for reading
    ReadWrite, // an existing file, for reading and writing
    Create,    // like ReadWrite, but makes an empty file if there is none
    CreateNew, // like Create, but fails with file_exists if there is a file; only one of several callers succeeds
    Append,    // like Create, but with append() instead of write()
};

enum class FileKind : unsigned char { File, Directory, Other };

/// The result of FileSystem::info(). Only a file has a size, a time and permissions.
struct FileInfo {
    FileKind kind = FileKind::Other;
    int permissions = 0; // the mode bits, such as 0644
    std::int64_t size = 0;
    double modified = 0; // the last change of the bytes, or the creation: seconds, like wallTime()
};

class FileSystem {
public:
    FileSystem(FileSystem const&) = delete;
    FileSystem& operator=(FileSystem const&) = delete;

    /// Opens a file. A new file has these permissions, without the permissions that the system forbids (umask).
    virtual Future<Reference<AsyncFile>> open(std::string path, OpenMode mode, int permissions = 0666) = 0;
    virtual Future<FileInfo> info(std::string path) = 0;
    virtual Future<Void> setPermissions(std::string path, int permissions) = 0;
    /// Renames a file, and replaces a file with the name `to`. At every moment, even after a loss of power, `to` is one
    /// of the two files. Without a sync of the directories, `from` may come back. Open files stay open.
    virtual Future<Void> rename(std::string from, std::string to) = 0;
    /// Removes the name of a file. If the file is open, it stays usable.
    virtual Future<Void> remove(std::string path) = 0;
    virtual Future<bool> exists(std::string path) = 0;
    /// Returns the names of the files and directories in a directory, sorted.
    virtual Future<std::vector<std::string>> list(std::string directory) = 0;
    /// Removes an empty directory.
    virtual Future<Void> removeDirectory(std::string path) = 0;
    /// Makes a directory in an existing one. Does nothing if it exists. Fails with file_exists if `path` is a file.
    virtual Future<Void> makeDirectory(std::string path) = 0;
    /// Makes the names in a directory durable. When the future is ready, files and directories that were made, renamed
    /// or removed before the call stay so after a loss of power. The content of files is not covered: use
    /// AsyncFile::sync(). If the call fails, a loss of power may undo any of these changes, although programs see them
    /// until then. A later call does not save them: make the files anew under other names, and rename them.
    virtual Future<Void> syncDirectory(std::string path) = 0;

protected:
    FileSystem() = default;
    ~FileSystem() = default;
};

FileSystem& files();

} // namespace flow
