#pragma once
// What programs do with several operations of files() (flow/file/async_file.h): a file for one process at a time, a
// file that nobody else sees, and the removal of a directory with all that is in it.
//
//     Reference<AsyncFile> mine = co_await openLocked("data/lock");          // waits while another process has it
//     auto first = co_await race(openLocked("data/lock"), delay(5.0));       // or not longer than this
//     Reference<AsyncFile> file = co_await files().open("data/lock", OpenMode::Create);
//     bool isMine = co_await file->tryLock();                                // or not at all
//
//     Reference<AsyncFile> scratch = co_await openTemporary("data");         // goes when it is closed
//     co_await removeTree("data/old");
//
// The errors are those of the operations.

#include "flow/file/async_file.h"

namespace flow {

/// Opens a file, and locks it until it is closed. Tries again every 20 ms, so several waiters are served in any order.
/// Cancel-safe: a lock that comes too late ends with its file. Do not remove the file: then two could have the lock.
Future<Reference<AsyncFile>> openLocked(std::string path, OpenMode mode = OpenMode::Create);

/// Makes a file, for this user alone, and removes its name: the space is free again when the file is closed, also if
/// the program crashes. After a cancel, the loop shields the removal of the name, if it was not removed before. A crash
/// before that leaves a file `.*.tmp` in the directory.
Future<Reference<AsyncFile>> openTemporary(std::string directory);

/// Removes a file, or a directory and all that is in it. Removes a symbolic link, not what it points to. After an error
/// or a cancel, a part is left.
Future<Void> removeTree(std::string path);

} // namespace flow
