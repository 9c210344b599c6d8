#include "flow/file/file_tools.h"

#include "flow/base/format.h"
#include "flow/base/random.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"

namespace flow {

Future<Reference<AsyncFile>> openLocked(std::string path, OpenMode mode) {
    constexpr double kPause = 0.02; // seconds
    Reference<AsyncFile> file = co_await files().open(path, mode);
    for (;;) {
        bool isMine = co_await file->tryLock();
        if (isMine)
            co_return file;
        co_await delay(kPause);
    }
}

Future<Reference<AsyncFile>> openTemporary(std::string directory) {
    constexpr int kForThisUser = 0600;
    for (;;) {
        auto number = static_cast<unsigned long long>(deterministicRandom()->randomUInt64());
        std::string path = directory + format("/.%016llx.tmp", number);
        Future<Reference<AsyncFile>> opening = files().open(path, OpenMode::CreateNew, kForThisUser);
        ErrorOr<Reference<AsyncFile>> file = co_await tryGet(std::move(opening));
        if (file.isError() && file.getError().code() != error_code_file_exists)
            throw file.getError();
        if (file.isError())
            continue;
        co_await files().remove(path);
        co_return file.get();
    }
}

Future<Void> removeTree(std::string path) {
    Future<Void> removing = files().removeDirectory(path);
    ErrorOr<Void> removed = co_await tryGet(std::move(removing));
    if (!removed.isError())
        co_return;
    if (removed.getError().code() == error_code_file_not_found) { // or it is no directory
        co_await files().remove(path);
        co_return;
    }
    if (removed.getError().code() != error_code_directory_not_empty)
        throw removed.getError();
    std::vector<std::string> names = co_await files().list(path);
    for (std::string const& name : names)
        co_await removeTree(path + "/" + name);
    co_await files().removeDirectory(path);
}

} // namespace flow
