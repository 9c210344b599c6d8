#include "flow/file/file_tools.h"

#include "flow/base/format.h"
#include "flow/base/random.h"
#include "flow/coro/coroutine.h"
#include "flow/tasks/scope.h"
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

namespace {

Future<Void> removeOpened(Future<Reference<AsyncFile>> opening, std::string path) {
    ErrorOr<Reference<AsyncFile>> file = co_await tryGet(std::move(opening));
    if (!file.isError())
        (void)co_await tryGet(files().remove(path)); // fails if the file is removed already
}

/// A file that is being made. If its name was not removed, the destructor removes it.
struct Named {
    ~Named() {
        if (opening.isValid() && !opening.isError())
            shield(removeOpened(std::move(opening), std::move(path)), 5.0);
    }

    std::string path;
    Future<Reference<AsyncFile>> opening;
};

} // namespace

Future<Reference<AsyncFile>> openTemporary(std::string directory) {
    constexpr int kForThisUser = 0600;
    for (;;) {
        auto number = static_cast<unsigned long long>(deterministicRandom()->randomUInt64());
        Named file;
        file.path = directory + format("/.%016llx.tmp", number);
        file.opening = files().open(file.path, OpenMode::CreateNew, kForThisUser);
        ErrorOr<Reference<AsyncFile>> opened = co_await tryGet(file.opening);
        if (opened.isError() && opened.getError().code() != error_code_file_exists)
            throw opened.getError();
        if (opened.isError())
            continue;
        co_await files().remove(file.path);
        file.opening = Future<Reference<AsyncFile>>();
        co_return opened.get();
    }
}

Future<Void> removeTree(std::string path) {
    Future<Void> removing = files().removeDirectory(path);
    ErrorOr<Void> removed = co_await tryGet(std::move(removing));
    if (!removed.isError())
        co_return;
    if (removed.getError().code() == error_code_file_not_found) { // or it is not a directory
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
