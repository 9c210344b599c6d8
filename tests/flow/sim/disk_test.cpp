// What is special about the simulated disk: faults, and lives. What all file systems do is in
// tests/flow/file/async_file_test.cpp, which it passes as well.
#include "flow/sim/disk.h"

#include "flow/combine/errors.h"
#include "flow/compat/wait_for_all.h"
#include "flow/core/detail/live_blocks.h"
#include "flow/coro/coroutine.h"
#include "flow/memory/allocation_failure.h"
#include "flow/sim/sim_loop.h"
#include "flow/sim/world.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <optional>
#include <ostream>

using namespace flow;

namespace {

using Names = std::vector<std::string>;
using File = Reference<AsyncFile>;

/// Lives on from one process to the next; each has a loop of its own.
struct Machine {
    explicit Machine(std::uint64_t seed = 1) : dice(seed) { boot(); }
    PlainFaults dice;
    SimDisk disk{dice};
    std::optional<SimLoop> loop;

    void boot() {
        loop.reset();
        disk.boot();
        loop.emplace();
        loop->provide<FileSystem>(&disk);
    }
    void crash() {
        disk.crash();
        boot();
    }
    template <class T>
    T run(Future<T> future) {
        return loop->run<T>(std::move(future));
    }
    template <class T>
    Error errorOf(Future<T> future) {
        ErrorOr<T> result = run(flow::errorOr(std::move(future)));
        return result.isError() ? result.getError() : Error();
    }
    File open(std::string path) { return run(disk.open(path, OpenMode::Create)); }
    std::string content(std::string path) {
        File file = run(disk.open(path, OpenMode::Read));
        return run(file->read(0, 1 << 20)).toString();
    }
    bool isThere(std::string path) { return run(disk.exists(path)); }
    /// A file that survives.
    File synced(std::string path, Standalone<StringRef> bytes) {
        File file = open(path);
        run(file->write(0, bytes));
        run(file->sync());
        run(disk.syncDirectory(path.substr(0, path.rfind('/') + 1)));
        return file;
    }
};

} // namespace

TEST_CASE("disk: without faults all that was done survives, also without sync") {
    Machine machine;
    machine.run(machine.disk.makeDirectory("d"));
    File file = machine.open("d/f");
    machine.run(file->write(0, "text"_sr));
    machine.run(machine.disk.rename("d/f", "/g"));
    machine.crash();
    CHECK(machine.run(machine.disk.list("/")) == Names({"d", "g"}));
    CHECK(machine.content("g") == "text");
    CHECK(machine.dice.counts.total() == 0);
    CHECK(machine.loop->now() == 0);
}

TEST_CASE("disk: a crash takes what was not synced, with lostWrite") {
    Machine machine;
    File file = machine.synced("/f", "synced"_sr);
    machine.dice.faults.diskLostWrite = 1;
    machine.run(file->write(0, "LOST, and longer"_sr));
    CHECK(machine.content("f") == "LOST, and longer");
    machine.crash();
    CHECK(machine.content("f") == "synced");
    CHECK(machine.dice.counts.toString() == "diskLostWrite = 1");
}

TEST_CASE("disk: a crash takes names, with lostName") {
    Machine machine;
    (void)machine.synced("/old", "old"_sr);
    (void)machine.synced("/doomed", "doomed"_sr);
    machine.dice.faults.diskLostName = 1;
    File fresh = machine.open("new");
    machine.run(fresh->write(0, "new"_sr));
    machine.run(fresh->sync());
    machine.run(machine.disk.rename("new", "old"));
    machine.run(machine.disk.remove("doomed"));
    machine.run(machine.disk.makeDirectory("d"));
    (void)machine.open("d/f");
    machine.run(machine.disk.syncDirectory("d")); // which does not say that d is in the root
    CHECK(machine.run(machine.disk.list("/")) == Names({"d", "old"}));
    machine.crash();
    CHECK(machine.run(machine.disk.list("/")) == Names({"doomed", "old"}));
    CHECK(machine.content("old") == "old");
    CHECK(machine.content("doomed") == "doomed");
    CHECK_FALSE(machine.isThere("d/f"));
    CHECK(machine.dice.counts.total() > 0);
    CHECK(machine.dice.counts[FaultKind::diskLostName] > 0);
}

TEST_CASE("disk: names are safe once their directory is synced") {
    Machine machine;
    machine.dice.faults.diskLostName = 1;
    machine.run(machine.disk.makeDirectory("d"));
    machine.run(machine.disk.syncDirectory("/"));
    (void)machine.open("d/a");
    machine.run(machine.disk.rename("d/a", "d/b"));
    machine.run(machine.disk.rename("d/b", "c"));
    machine.run(machine.disk.syncDirectory("/"));
    machine.run(machine.disk.remove("c"));
    machine.crash();
    CHECK(machine.run(machine.disk.list("/")) == Names({"c", "d"}));
    CHECK(machine.run(machine.disk.list("d")).empty());
}

TEST_CASE("disk: a rename is atomic, and names of one directory come to the disk in order") {
    int moved = 0, cut = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Machine machine(seed);
        machine.run(machine.disk.makeDirectory("d"));
        machine.run(machine.disk.syncDirectory("/"));
        (void)machine.synced("/a", "text"_sr);
        machine.dice.faults.diskLostName = 0.2;
        machine.run(machine.disk.rename("a", "d/b"));
        for (int i = 0; i < 5; ++i)
            (void)machine.open("d/n" + std::to_string(i));
        machine.crash();
        CHECK(machine.isThere("a") != machine.isThere("d/b"));
        moved += machine.isThere("d/b");
        Names names = machine.run(machine.disk.list("d"));
        std::erase(names, "b");
        for (std::size_t i = 0; i < names.size(); ++i)
            CHECK(names[i] == "n" + std::to_string(i));
        CHECK((names.empty() || machine.isThere("d/b")));
        cut += names.size() > 0 && names.size() < 5;
    }
    CHECK(moved > 100);
    CHECK(moved < 200);
    CHECK(cut > 50);
}

TEST_CASE("disk: input and output errors do nothing but fail, and say that they were injected") {
    Machine machine;
    File file = machine.synced("/f", "text"_sr);
    machine.dice.faults.diskError = 1;
    for (Error error :
         {machine.errorOf(file->write(0, "x"_sr)), machine.errorOf(file->read(0, 1)),
          machine.errorOf(file->truncate(0)), machine.errorOf(file->size()),
          machine.errorOf(machine.disk.open("g", OpenMode::Create)), machine.errorOf(machine.disk.rename("f", "g")),
          machine.errorOf(machine.disk.remove("f")), machine.errorOf(machine.disk.exists("f")),
          machine.errorOf(machine.disk.list("/")), machine.errorOf(machine.disk.makeDirectory("d"))}) {
        CHECK(error.code() == error_code_io_error);
        CHECK(error.isInjectedFault());
    }
    CHECK(machine.errorOf(file->sync()) == Error());
    CHECK(machine.dice.counts.toString() == "diskError = 10");
    machine.dice.faults.diskError = 0;
    CHECK(machine.content("f") == "text");
    CHECK(machine.run(machine.disk.list("/")) == Names({"f"}));
}

TEST_CASE("disk: an operation for which there is no memory fails, at whatever moment") {
    std::uint64_t failed = failEachAllocation([] {
        Machine machine;
        machine.disk.speed.seconds = 0.01;
        File file = machine.open("f");
        machine.run(file->write(0, "text"_sr));
        machine.run(file->sync());
        std::string content = machine.content("f"); // throws, so not within a CHECK
        CHECK(content == "text");
    });
    CHECK(failed > 20);
}

TEST_CASE("disk: a full disk takes a part of a write") {
    Machine machine;
    File file = machine.open("f");
    machine.dice.faults.diskFull = 1;
    Error error = machine.errorOf(file->write(0, std::string(100, 'x')));
    CHECK(error.code() == error_code_disk_full);
    CHECK(machine.content("f").size() < 100);
    CHECK(machine.content("f") == std::string(machine.content("f").size(), 'x'));
    CHECK(machine.errorOf(file->write(0, ""_sr)) == Error());
    CHECK(machine.dice.counts.toString() == "diskFull = 1");
}

TEST_CASE("disk: a file has a largest size, whether by a write or by a truncate") {
    Machine machine;
    File file = machine.open("f");
    constexpr std::int64_t kLargest = 0xFFFF'FFFF * std::int64_t{4096};
    machine.run(file->write(kLargest - 1, "x"_sr));
    CHECK(machine.errorOf(file->write(kLargest - 1, "xy"_sr)) == file_too_large());
    CHECK(machine.errorOf(file->truncate(kLargest + 1)) == file_too_large());
    CHECK(machine.run(file->size()) == kLargest);
    machine.run(file->write(std::int64_t{1} << 62, ""_sr));
    machine.run(file->truncate(kLargest));
}

TEST_CASE("disk: what a failed sync has lost, a later one does not bring back") {
    Machine machine;
    File file = machine.synced("/f", "old"_sr);
    machine.run(file->write(0, "new"_sr));
    machine.run(machine.disk.makeDirectory("d"));
    machine.dice.faults.diskLostWrite = 1;
    machine.dice.faults.diskSyncError = 1;
    CHECK(machine.errorOf(file->sync()).code() == error_code_io_error);
    CHECK(machine.errorOf(machine.disk.syncDirectory("/")).code() == error_code_io_error);
    CHECK(machine.dice.counts[FaultKind::diskSyncError] == 2);
    machine.dice.faults.diskSyncError = 0;
    machine.run(file->sync());
    CHECK(machine.content("f") == "new");
    machine.crash();
    CHECK(machine.content("f") == "old");
}

TEST_CASE("disk: after a failed sync of a directory a later one does not make its names safe, but a new rename does") {
    for (bool isRepeated : {false, true}) {
        Machine machine;
        (void)machine.synced("/name", "old"_sr);
        (void)machine.synced("/new", "new"_sr);
        machine.run(machine.disk.rename("/new", "/name"));
        machine.dice.faults.diskLostName = machine.dice.faults.diskSyncError = 1;
        CHECK(machine.errorOf(machine.disk.syncDirectory("/")).code() == error_code_io_error);
        CHECK(machine.dice.counts[FaultKind::diskLostName] == 1);
        machine.dice.faults.diskSyncError = 0;
        CHECK(machine.content("name") == "new");
        if (isRepeated) {
            File again = machine.open("/again");
            machine.run(again->write(0, "new"_sr));
            machine.run(again->sync());
            machine.run(machine.disk.rename("/again", "/name"));
        }
        machine.run(machine.disk.syncDirectory("/"));
        machine.crash();
        CHECK(machine.content("name") == (isRepeated ? "new" : "old"));
    }
}

TEST_CASE("disk: each fault that damages a file, through the whole of it") {
    for (double Faults::* fault :
         {&Faults::diskTornWrite, &Faults::diskReorderedWrite, &Faults::diskMisdirectedWrite, &Faults::diskBitFlip}) {
        Machine machine;
        File file = machine.synced("/f", std::string(32 * 512, 'a'));
        machine.dice.faults.*fault = 1;
        for (int i = 0; i < 8; ++i)
            machine.run(file->write(i * 4 * 512, std::string(4 * 512, 'b')));
        machine.crash();
        CHECK(machine.content("f") != std::string(32 * 512, 'b'));
        CHECK(machine.dice.counts.total() > 0);
    }
}

TEST_CASE("disk: operations take time") {
    Machine machine;
    File file = machine.open("f");
    CHECK(machine.loop->now() == 0);
    machine.disk.speed.seconds = 0.01;
    for (int i = 0; i < 1000; ++i)
        machine.run(file->write(0, "x"_sr));
    CHECK(machine.loop->now() > 9);
    CHECK(machine.loop->now() < 11);
    CHECK(machine.dice.counts.total() == 0);
}

TEST_CASE("disk: slow operations, and slow syncs") {
    Machine machine;
    File file = machine.open("f");
    machine.disk.speed.slowSeconds = 7;
    machine.dice.faults.diskSlow = 1;
    machine.run(file->write(0, "x"_sr));
    CHECK(machine.loop->now() == 7);
    machine.run(file->sync());
    CHECK(machine.loop->now() == 7);
    machine.dice.faults.diskSlow = 0;
    machine.dice.faults.diskSlowSync = 1;
    machine.run(file->write(0, "x"_sr));
    CHECK(machine.loop->now() == 7);
    machine.run(file->sync());
    machine.run(machine.disk.syncDirectory("/"));
    CHECK(machine.loop->now() == 21);
    CHECK(machine.dice.counts.toString() == "diskSlow = 1, diskSlowSync = 2");
}

TEST_CASE("disk: operations that are under way together overtake each other") {
    int later = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Machine machine(seed);
        File file = machine.open("f");
        machine.disk.speed.seconds = 0.01;
        machine.run(file->write(0, "first"_sr) && file->write(0, "later"_sr));
        later += machine.content("f") == "later";
    }
    CHECK(later > 25);
    CHECK(later < 75);
}

TEST_CASE("disk: a sync is of what had ended when it was called") {
    Machine machine;
    File file = machine.synced("/f", ""_sr);
    machine.run(file->write(0, "before"_sr));
    machine.dice.faults.diskSlowSync = 1;
    Future<Void> sync = file->sync();
    machine.dice.faults.diskLostWrite = 1;
    machine.run(file->write(512, "during"_sr));
    CHECK_FALSE(sync.isReady());
    machine.run(sync);
    machine.crash();
    CHECK(machine.content("f") == "before");
}

TEST_CASE("disk: an operation without a waiter takes effect, or does not") {
    int happened = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Machine machine(seed);
        File file = machine.open("f");
        (void)file->write(0, "x"_sr);
        machine.loop->run();
        happened += machine.content("f") == "x";
    }
    CHECK(happened > 25);
    CHECK(happened < 75);
}

TEST_CASE("disk: what a killed process has done stays, and it does nothing any more") {
    Machine machine;
    machine.dice.faults.diskLostWrite = 1;
    machine.dice.faults.diskLostName = 1;
    machine.disk.speed.slowSeconds = 10;
    File file = machine.open("f");
    machine.run(file->write(0, "done"_sr));
    machine.dice.faults.diskSlow = 1;
    Future<Void> underWay = file->write(0, "never"_sr);
    Future<File> opened = machine.disk.open("g", OpenMode::Create);
    machine.disk.kill();
    Future<Void> late = file->write(0, "never"_sr);
    Future<bool> asked = machine.disk.exists("f");
    machine.loop->run();
    machine.boot();
    Future<Void> sync = file->sync(); // by a handle of the killed process
    machine.loop->run();
    for (bool ready : {underWay.isReady(), opened.isReady(), late.isReady(), asked.isReady(), sync.isReady()})
        CHECK_FALSE(ready);
    machine.dice.faults.diskSlow = 0;
    CHECK(machine.content("f") == "done");
    CHECK_FALSE(machine.isThere("g"));
    machine.disk.kill();
    machine.crash(); // the power goes before anybody is back
    CHECK_FALSE(machine.isThere("f"));
}

TEST_CASE("disk: a process that is killed between its own steps, at any moment") {
    for (int point = 0; point < 40; ++point) {
        test::Balance balance;
        Machine machine(static_cast<std::uint64_t>(point));
        machine.dice.faults = {.diskTornWrite = 0.5, .diskLostWrite = 0.5};
        machine.disk.speed.seconds = 0.01;
        int steps = 0;
        auto process = [&]() -> Future<Void> {
            File file = co_await files().open("f", OpenMode::Create);
            for (;;) {
                if (steps++ == point)
                    machine.disk.crash(); // this very task is what the disk runs
                Future<Void> write = file->write(steps * 100, "some text"_sr);
                Future<Void> other = file->write(steps * 50, "other text"_sr);
                co_await std::move(write);
                co_await file->sync();
            }
        };
        Future<Void> running = process();
        machine.loop->run();
        CHECK_FALSE(running.isReady());
        CHECK(steps == point + 1);
        if (point % 2)
            machine.boot(); // the killed process is dropped after its loop
    }
}

TEST_CASE("disk: a process that kills itself and is destroyed without running, with operations under way") {
    Machine machine;
    machine.disk.speed.seconds = 0.01;
    LiveBlocks liveBlocks;
    for (int life = 0; life < 4; ++life) {
        CellGroup group;
        auto process = [&]() -> Future<Void> {
            File file = co_await files().open("f", OpenMode::Create);
            for (int i = 0; i < 3; ++i)
                co_await file->write(i, "text"_sr);
            Future<Void> underWay = file->write(0, "never"_sr);
            machine.disk.kill();
            co_await underWay;
        };
        liveBlocks.enter(&group);
        Future<Void> running = process();
        machine.loop->run();
        liveBlocks.enter(nullptr);
        if (life % 2)
            machine.disk.kill();
        group.destroyFrames();
        CHECK_FALSE(running.isReady());
        running = Future<Void>();
        machine.boot();
        CHECK(machine.content("f") == "tttext");
        CHECK(group.isEmpty());
    }
}

TEST_CASE("disk: what was synced survives whatever happens to the rest") {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        Machine machine(seed);
        machine.dice.faults = {
            .diskTornWrite = 0.3, .diskLostWrite = 0.3, .diskReorderedWrite = 0.3, .diskLostName = 0.5};
        (void)machine.synced("/f", std::string(20 * 512, 'a'));
        for (int life = 0; life < 10; ++life) {
            File file = machine.open("f");
            std::string before = machine.content("f");
            REQUIRE(before.size() == 20 * 512);
            std::string written = before;
            std::vector<bool> touched(20);
            for (int i = 0; i < 5; ++i) {
                auto where = static_cast<std::size_t>(machine.dice.random().randomInt(0, 18));
                std::string text(1024, static_cast<char>('b' + life));
                machine.run(file->write(static_cast<std::int64_t>(where) * 512, text));
                touched[where] = touched[where + 1] = true;
                written.replace(where * 512, 1024, text);
            }
            bool synced = machine.dice.random().coinflip();
            if (synced)
                machine.run(file->sync());
            machine.crash();
            std::string after = machine.content("f");
            REQUIRE(after.size() == before.size());
            for (std::size_t i = 0; i < 20; ++i) {
                std::string now = after.substr(i * 512, 512);
                REQUIRE((now == written.substr(i * 512, 512) || (!synced && now == before.substr(i * 512, 512))));
                REQUIRE((touched[i] || now == before.substr(i * 512, 512)));
            }
        }
    }
}

namespace {

/// What a process with all kinds of faults sees, in four lives.
std::string course(std::uint64_t seed) {
    Machine machine(seed);
    machine.dice.faults = {.diskTornWrite = 0.2,
                           .diskLostWrite = 0.2,
                           .diskReorderedWrite = 0.2,
                           .diskLostName = 0.2,
                           .diskMisdirectedWrite = 0.05,
                           .diskBitFlip = 0.05,
                           .diskError = 0.05,
                           .diskSyncError = 0.1,
                           .diskFull = 0.05,
                           .diskSlow = 0.1,
                           .diskSlowSync = 0.1};
    machine.disk.speed.slowSeconds = 0.5;
    machine.disk.speed.seconds = 0.01;
    std::string seen;
    DeterministicRandom choices(3);
    auto use = [&](int name) -> Future<Void> {
        std::string path = "f" + std::to_string(name);
        for (int i = 0; i < 30; ++i) {
            ErrorOr<File> file = co_await tryGet(files().open(path, OpenMode::Create));
            if (file.isError())
                continue;
            std::string text(static_cast<std::size_t>(choices.randomInt(0, 3000)), static_cast<char>('a' + i));
            ErrorOr<Void> wrote = co_await tryGet(file.get()->write(choices.randomInt(0, 5000), text));
            ErrorOr<Void> synced = co_await tryGet(file.get()->sync());
            ErrorOr<Standalone<StringRef>> read = co_await tryGet(file.get()->read(0, 10000));
            seen += std::to_string(now()) + " " + path + (wrote.isError() ? "!" : "") + (synced.isError() ? "?" : "");
            seen += read.isError() ? "-" : read.get().toString();
            (void)co_await tryGet(files().rename(path, "g" + std::to_string(choices.randomInt(0, 3))));
            (void)co_await tryGet(files().syncDirectory("/"));
        }
    };
    for (int life = 0; life < 4; ++life) {
        std::vector<Future<Void>> all;
        for (int i = 0; i < 3; ++i)
            all.push_back(use(i));
        machine.loop->run(delay(1.5));
        all.clear();
        machine.crash();
    }
    return seen + machine.dice.counts.toString();
}

} // namespace

TEST_CASE("disk: one seed, one course") {
    std::string first = course(1);
    CHECK(first == course(1));
    CHECK(first != course(2));
    CHECK(first.size() > 100000);
}

TEST_CASE("disk: that of a process, through kills and power losses") {
    static std::vector<std::string> found;
    found.clear();
    Faults faults;
    faults.diskLostWrite = 1;
    World world(1, faults);
    auto main = []() -> Future<Void> {
        bool isThere = co_await files().exists("/kept");
        if (isThere) {
            Reference<AsyncFile> file = co_await files().open("/kept", OpenMode::Read);
            found.push_back((co_await file->read(0, 100)).toString());
        }
        Reference<AsyncFile> file = co_await files().open("/kept", OpenMode::Create);
        co_await file->write(0, "synced"_sr);
        co_await file->sync();
        co_await files().syncDirectory("/");
        co_await file->write(0, "SYN"_sr);
        for (;;)
            co_await file->read(0, 1);
    };
    Process& process = world.add({.name = "p", .main = main});
    ProcessDisk& disk = process.attach<ProcessDisk>(world);
    world.start(process);
    auto pass = [](double seconds) -> Future<Void> { co_await delay(seconds); };
    world.run(pass(0.1));
    world.reboot(process);
    world.run(pass(0.1));
    CHECK(found == std::vector<std::string>{"SYNced"});
    world.reboot(process, 0, true);
    world.run(pass(0.1));
    CHECK(found == std::vector<std::string>{"SYNced", "synced"});
    CHECK(world.faultCounts()[FaultKind::diskLostWrite] == 1);
    CHECK(disk.disk.speed.seconds > 0);
    CHECK(world.leakedCells() == 0);
}

TEST_CASE("disk: many losses of power come when there is something to lose") {
    Faults faults;
    faults.powerLoss = 0.1;
    faults.diskLostWrite = faults.diskReorderedWrite = faults.diskLostName = 0.5;
    World world(1, faults);
    auto main = []() -> Future<Void> {
        for (;;) { // most of the time all is safe
            co_await delay(1);
            Reference<AsyncFile> file = co_await files().open("/new", OpenMode::Create);
            std::vector<Future<Void>> writes{file->write(0, "one"_sr), file->write(3, "two"_sr)};
            co_await waitForAll(writes);
            co_await file->sync();
            co_await files().rename("/new", "/file");
            co_await files().syncDirectory("/");
        }
    };
    Process& process = world.add({.name = "p", .main = main});
    process.attach<ProcessDisk>(world);
    world.start(process);
    auto pass = [](double seconds) -> Future<Void> { co_await delay(seconds); };
    world.run(pass(2000));
    FaultCounts const& counts = world.faultCounts();
    CHECK(counts[FaultKind::powerLoss] > 50);
    for (FaultKind kind : {FaultKind::diskLostWrite, FaultKind::diskReorderedWrite, FaultKind::diskLostName}) {
        CAPTURE(faultName(kind));
        CHECK(counts[kind] > counts[FaultKind::powerLoss] / 20);
    }
    CHECK(world.leakedCells() == 0);
}
