#pragma once
// AsyncFile and FileSystem: files without blocking the loop.
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
// Order. An operation begins when it is called and takes effect at some moment before its future is ready. Operations
// that are under way together take effect in any order, even if they use the same file. If the second must follow the
// first, wait for the first.
//
// Atomicity. Reads and writes are not atomic. A read sees any part of a write that is under way. A write that fails, or
// that is under way when the power fails, may have written any part of its bytes. rename() is atomic.
//
// Durability. Only data that sync() and syncDirectory() cover is safe when the power fails. Any part of the other data
// may survive.
//
// Cancel safety. Dropping a future drops the answer only. The operation may happen or not, at any time until the file
// is closed, even after operations that you call later. Operations own their bytes, so no buffer is freed too early.
//
// Lifetime. A file belongs to the loop on which it was made. An operation keeps its file open and its loop running; a
// file is closed when its last Reference and its last operation are gone. When the loop ends, it waits for operations
// that run; operations that wait for a thread never happen. The futures of all these operations never become ready.
//
// Errors. file_not_found, file_exists, directory_not_empty, file_not_readable, file_not_writable (denied, or not opened
// for it), file_too_large, disk_full, platform_error (too few file descriptors or threads) and io_error (any other
// error). what() has the call, the path and the reason: open "/data/log": Permission denied. Calls throw
// std::bad_alloc. Negative offsets, lengths and sizes end the program.
//
// More: Lines (flow/file/lines.h), BufferedWriter (flow/file/buffered_writer.h), Journal (flow/file/journal.h), and in
// flow/file/file_tools.h files for one process at a time, temporary files, and the removal of a directory with all that
// is in it.

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
    /// Closes the file. This does not make written data durable: only sync() does.
    virtual ~AsyncFile() = default;

    /// Reads `length` bytes from `offset` on. Reads fewer bytes at the end of the file, and none beyond the end.
    virtual Future<Standalone<StringRef>> read(std::int64_t offset, int length,
                                               std::source_location caller = std::source_location::current()) = 0;
    /// Writes all of the bytes. The file grows as needed, and the bytes between its end and `offset` read as zeros;
    /// writing no bytes does nothing. Copies of a Standalone share its bytes: do not change them until the write ends.
    virtual Future<Void> write(std::int64_t offset, Standalone<StringRef> bytes,
                               std::source_location caller = std::source_location::current()) = 0;
    /// Adds the bytes at the end of the file, wherever other appends have moved it. Only for a file that was opened
    /// with OpenMode::Append; of such a file, write() fails with file_not_writable.
    virtual Future<Void> append(Standalone<StringRef> bytes) = 0;
    /// Makes data durable. When the future is ready, all writes and truncates of this file that had ended at the call
    /// survive a loss of power, also those through other handles. If sync() fails, any part of these changes may be
    /// lost, and a later sync() does not save them: write the data again.
    virtual Future<Void> sync() = 0;
    /// Cuts the file to `size` bytes, or extends it by zeros.
    virtual Future<Void> truncate(std::int64_t size, std::source_location caller = std::source_location::current()) = 0;
    virtual Future<std::int64_t> size() = 0;
    /// Takes the lock of the file, and returns true, unless another open file has it, in this process or another one of
    /// this machine. The lock lasts until this file is closed. Code that does not call tryLock() is not stopped.
    virtual Future<bool> tryLock() = 0;

protected:
    AsyncFile() = default;
};

enum class OpenMode : unsigned char {
    Read,      // a file that exists
    ReadWrite, // like Read, also for writing
    Create,    // like ReadWrite; makes an empty file if there is none
    CreateNew, // like Create; fails with file_exists if there is a file, also one that another process has just made
    Append,    // like Create, for append() in the place of write()
};

enum class FileKind : unsigned char { File, Directory, Other };

/// What FileSystem::info() finds. Only a file has a size, a time and permissions.
struct FileInfo {
    FileKind kind = FileKind::Other;
    int permissions = 0; // such as 0644: what the owner, the group and all others may do
    std::int64_t size = 0;
    double modified = 0; // when its bytes changed last, or when it was made: seconds, comparable with wallTime()
};

class FileSystem {
public:
    FileSystem(FileSystem const&) = delete;
    FileSystem& operator=(FileSystem const&) = delete;

    /// A file that is made has these permissions, without those that the system forbids (umask).
    virtual Future<Reference<AsyncFile>> open(std::string path, OpenMode mode, int permissions = 0666) = 0;
    virtual Future<FileInfo> info(std::string path) = 0;
    virtual Future<Void> setPermissions(std::string path, int permissions) = 0;
    /// Renames a file, and replaces a file with the name `to`. At every moment, also after a loss of power, `to` is one
    /// of the two files. `from` may come back if the directories are not synced. Open files stay open.
    virtual Future<Void> rename(std::string from, std::string to) = 0;
    /// Removes the name of a file. Code that has the file open can go on using it.
    virtual Future<Void> remove(std::string path) = 0;
    /// Finds out if there is a file or a directory with this path.
    virtual Future<bool> exists(std::string path) = 0;
    /// Lists the names in a directory, of files and directories, sorted.
    virtual Future<std::vector<std::string>> list(std::string directory) = 0;
    /// Removes a directory, which must be empty.
    virtual Future<Void> removeDirectory(std::string path) = 0;
    /// Makes a directory, if there is none yet, in a directory that exists. Fails with file_exists if a file is there.
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

/// Returns the files of the current loop.
FileSystem& files();

} // namespace flow
