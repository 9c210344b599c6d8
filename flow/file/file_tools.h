#pragma once
// Tools on files() (flow/file/async_file.h): locked files, temporary files, and removal of trees.
//
//     Reference<AsyncFile> mine = co_await openLocked("data/lock");          // waits while another process has it
//     auto first = co_await race(openLocked("data/lock"), delay(5.0));       // waits for at most 5 s
//     Reference<AsyncFile> file = co_await files().open("data/lock", OpenMode::Create);
//     bool isMine = co_await file->tryLock();                                // does not wait
//
//     Reference<AsyncFile> scratch = co_await openTemporary("data");         // is removed when it is closed
//     co_await removeTree("data/old");
//
// A function fails with the errors of its operations.

#include "flow/file/async_file.h"

namespace flow {

/// Opens a file, and locks it until it is closed. Tries again every 20 ms, so waiters get the lock in any order.
/// Cancel-safe: a lock that comes too late ends with its file. Do not remove the file: then two could have the lock.
Future<Reference<AsyncFile>> openLocked(std::string path, OpenMode mode = OpenMode::Create);

/// Makes a file for this user alone, and removes its name: the space is freed when the file is closed, even by a crash
/// of the program. After a cancel, the loop shields the removal. A crash before it leaves a file `.*.tmp`.
Future<Reference<AsyncFile>> openTemporary(std::string directory);

/// Removes a file or a directory tree. Removes a symbolic link, not its target. An error or cancel leaves a part.
Future<Void> removeTree(std::string path);

} // namespace flow
