#include "flow/file/file_tools.h"

#include "flow/combine/race.h"
#include "flow/sim/world.h"
#include "flow/tasks/scope.h"
#include "flow/wait/delay.h"
#include "tests/flow/file/machines.h"

#include <string>

using namespace flow;
using namespace flow::test;

namespace {

Future<Void> locks(std::string here) {
    Reference<AsyncFile> first = co_await openLocked(here + "lock");
    CHECK(co_await first->tryLock()); // again, by the same
    Reference<AsyncFile> second = co_await files().open(here + "lock", OpenMode::Create);
    CHECK_FALSE(co_await second->tryLock());
    Future<Reference<AsyncFile>> loser = openLocked(here + "lock");
    auto raced = co_await race(loser, delay(0.05));
    CHECK(raced.index() == 1);
    loser = Future<Reference<AsyncFile>>();
    Future<Reference<AsyncFile>> waiting = openLocked(here + "lock");
    first.clear();
    Reference<AsyncFile> third = co_await std::move(waiting);
    CHECK_FALSE(co_await second->tryLock());
}

Future<Void> temporaries(std::string here) {
    Reference<AsyncFile> one = co_await openTemporary(here);
    Reference<AsyncFile> other = co_await openTemporary(here);
    co_await one->write(0, "one"_sr);
    CHECK(co_await other->size() == 0);
    CHECK(co_await one->read(0, 9) == "one"_sr);
    std::vector<std::string> names = co_await files().list(here);
    CHECK(names.empty());
    CHECK(co_await codeOf(openTemporary(here + "none")) == error_code_file_not_found);
}

Future<Void> trees(std::string here) {
    co_await files().makeDirectory(here + "d");
    co_await files().makeDirectory(here + "d/e");
    co_await files().makeDirectory(here + "d/empty");
    (void)co_await make(here + "d/e/f", "text"_sr);
    (void)co_await make(here + "g", "text"_sr);
    co_await removeTree(here + "d");
    co_await removeTree(here + "g");
    std::vector<std::string> names = co_await files().list(here);
    CHECK(names.empty());
    CHECK(co_await codeOf(removeTree(here + "d")) == error_code_file_not_found);
}

} // namespace

FILES_TEST("a lock is one open file's", locks)
FILES_TEST("temporary files have no name", temporaries)
FILES_TEST("removal of a directory with what is in it", trees)

TEST_CASE("files: the removal of a tree does not follow links") {
    RealMachine machine;
    std::string here = machine.here();
    std::filesystem::create_directories(here + "d");
    std::filesystem::create_directories(here + "other/kept");
    std::filesystem::create_directory_symlink(here + "other", here + "d/link");
    machine.loop.run(removeTree(here + "d"));
    CHECK_FALSE(std::filesystem::exists(here + "d"));
    CHECK(std::filesystem::exists(here + "other/kept"));
}

TEST_CASE("files: a cancel leaves no temporary file behind") {
    auto cancelAfter = [](double seconds, bool* ended) -> Future<Void> {
        Future<Reference<AsyncFile>> opening = openTemporary("/");
        co_await delay(seconds);
        *ended = opening.isReady();
        opening = Future<Reference<AsyncFile>>();
        co_await joinShielded();
        std::vector<std::string> names = co_await files().list("/");
        CHECK(names.empty());
    };
    bool ended = false;
    for (int step = 0; !ended; ++step) {
        CAPTURE(step);
        PlainFaults faults(1);
        SimDisk disk(faults, {.seconds = 0.001});
        SimLoop loop;
        loop.provide<FileSystem>(&disk);
        loop.run(cancelAfter(step * 0.0005, &ended));
        CHECK(step < 100);
    }
}

TEST_CASE("files: a lock ends with the process, and a removed directory does not come back with what was in it") {
    PlainFaults faults(1);
    SimDisk disk(faults);
    Reference<AsyncFile> old;
    auto prepare = []() -> Future<Reference<AsyncFile>> {
        co_await files().makeDirectory("/d");
        (void)co_await make("/d/f", "text"_sr);
        co_await files().syncDirectory("/");
        co_await files().syncDirectory("/d");
        co_return co_await openLocked("/lock");
    };
    auto replace = []() -> Future<Void> {
        co_await removeTree("/d");
        co_await files().makeDirectory("/d");
        co_await files().syncDirectory("/");
    };
    {
        SimLoop loop;
        loop.provide<FileSystem>(&disk);
        old = loop.run(prepare());
        disk.kill();
    }
    disk.boot();
    SimLoop loop;
    loop.provide<FileSystem>(&disk);
    auto fresh = loop.run(openLocked("/lock"));
    loop.run(replace());
    old.clear(); // takes no lock of others away
    auto other = loop.run(files().open("/lock", OpenMode::Create));
    CHECK_FALSE(loop.run(other->tryLock()));
    faults.faults.diskLostName = 1; // the removal of /d/f was not synced
    disk.crash();
    disk.boot();
    CHECK(loop.run(files().exists("/d")));
    CHECK_FALSE(loop.run(files().exists("/d/f")));
}
