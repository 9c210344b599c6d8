#include "net/file_watch.h"

#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/descriptors.h"
#include "tests/flow/support/temporary_directory.h"
#include "tests/net/file_descriptor_suite.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>

using namespace flow;
using namespace flow::net;
using namespace flow::test;
namespace fs = std::filesystem;

namespace {

void writeText(std::string const& path, std::string const& text) {
    std::ofstream(path) << text;
}

/// As editors and tools for certificates write a file.
void replaceText(std::string const& path, std::string const& text) {
    writeText(path + ".new", text);
    fs::rename(path + ".new", path);
}

/// Takes the change, if there is one: the system makes its events inside of the call that changes a file.
bool hasChanged(FileWatch& watch) {
    bool has = false;
    for (int i = 0; i < 20; ++i)
        if (FileWatch::Changed changed = watch.changed(); changed.isReady()) {
            changed.take();
            has = true;
        }
    return has;
}

struct Watching {
    RealLoop loop;
    TemporaryDirectory folder;
    std::string at(std::string const& name) const { return folder.path() + "/" + name; }
};

} // namespace

TEST_CASE("file watch: a file that is written, replaced, removed, made anew, or gets other permissions") {
    Watching here;
    std::string file = here.at("file");
    writeText(file, "1");
    FileWatch watch({file});
    CHECK_FALSE(hasChanged(watch));
    writeText(file, "2");
    CHECK(hasChanged(watch));
    CHECK_FALSE(hasChanged(watch));
    for (int i = 0; i < 3; ++i) {
        replaceText(file, "3");
        CHECK(hasChanged(watch));
        writeText(file, "4"); // the new one is watched
        CHECK(hasChanged(watch));
    }
    fs::remove(file);
    CHECK(hasChanged(watch));
    writeText(file, "5");
    CHECK(hasChanged(watch));
    fs::permissions(file, fs::perms::owner_read);
    CHECK(hasChanged(watch));
    fs::create_hard_link(file, here.at("other"));
    hasChanged(watch);
    fs::permissions(file, fs::perms::owner_all);
    hasChanged(watch);
    writeText(here.at("other"), "6"); // the same file by another name
    CHECK(hasChanged(watch));
    fs::rename(file, here.at("away"));
    CHECK(hasChanged(watch));
    CHECK_FALSE(hasChanged(watch));
}

TEST_CASE("file watch: other files beside it, and a file that is written to, are no change") {
    Watching here;
    std::string file = here.at("file");
    writeText(file, "1");
    FileWatch watch({file});
    writeText(here.at("beside"), "1");
    replaceText(here.at("beside"), "2");
    fs::remove(here.at("beside"));
    {
        std::ifstream reader(file);
    }
    CHECK_FALSE(hasChanged(watch));
    {
        std::ofstream writer(file, std::ios::app);
        writer << "2" << std::flush;
        CHECK_FALSE(hasChanged(watch));
    }
    CHECK(hasChanged(watch));
    fs::remove(file);
    CHECK(hasChanged(watch));
    {
        std::ofstream writer(file);
        CHECK_FALSE(hasChanged(watch)); // it has no bytes yet
    }
    CHECK(hasChanged(watch)); // and will have none
}

TEST_CASE("file watch: folders of a path that come later, are replaced and go") {
    Watching here;
    std::string file = here.at("a/b/file");
    FileWatch watch({file});
    fs::create_directories(here.at("a/b"));
    CHECK_FALSE(hasChanged(watch));
    writeText(file, "1");
    CHECK(hasChanged(watch));
    fs::create_directories(here.at("new/b"));
    writeText(here.at("new/b/file"), "2");
    CHECK_FALSE(hasChanged(watch));
    fs::rename(here.at("a"), here.at("old"));
    CHECK(hasChanged(watch));
    fs::rename(here.at("new"), here.at("a"));
    CHECK(hasChanged(watch));
    writeText(here.at("old/b/file"), "3");
    CHECK_FALSE(hasChanged(watch));
    writeText(file, "4");
    CHECK(hasChanged(watch));
    fs::remove_all(here.at("a"));
    CHECK(hasChanged(watch));
    fs::create_directories(here.at("a/b"));
    writeText(file, "5"); // all of it before one look
    CHECK(hasChanged(watch));
}

TEST_CASE("file watch: symbolic links that move, as those of Kubernetes do") {
    Watching here;
    for (char const* version : {"..1", "..2"}) {
        fs::create_directory(here.at(version));
        writeText(here.at(version + std::string("/tls.crt")), version);
    }
    fs::create_symlink("..1", here.at("..data"));
    fs::create_symlink("..data/tls.crt", here.at("tls.crt"));
    fs::create_symlink(here.at("tls.crt"), here.at("absolute"));
    fs::create_symlink("loop", here.at("loop"));
    fs::create_symlink("nowhere", here.at("dangling"));
    FileWatch watch({here.at("tls.crt")}), absolute({here.at("absolute")}), loop({here.at("loop")}),
        dangling({here.at("../" + fs::path(here.folder.path()).filename().string() + "/./dangling")});
    auto moveTo = [&](char const* version) {
        fs::create_symlink(version, here.at("..data_tmp"));
        fs::rename(here.at("..data_tmp"), here.at("..data"));
    };
    moveTo("..2");
    CHECK(hasChanged(watch));
    CHECK(hasChanged(absolute));
    fs::remove_all(here.at("..1")); // as it does next
    CHECK_FALSE(hasChanged(watch));
    writeText(here.at("..2/tls.crt"), "2b");
    CHECK(hasChanged(watch));
    CHECK(hasChanged(absolute));
    CHECK_FALSE(hasChanged(loop));
    CHECK_FALSE(hasChanged(dangling));
    writeText(here.at("nowhere"), "1");
    CHECK(hasChanged(dangling));
    fs::remove(here.at("loop"));
    CHECK(hasChanged(loop));
}

TEST_CASE("file watch: a folder and its entries, and several paths") {
    Watching here;
    std::string folder = here.at("folder");
    fs::create_directory(folder);
    FileWatch watch({folder + "/", here.at("file")});
    writeText(folder + "/a", "1");
    CHECK(hasChanged(watch));
    writeText(folder + "/a", "2");
    CHECK(hasChanged(watch));
    fs::rename(folder + "/a", folder + "/b");
    CHECK(hasChanged(watch));
    fs::create_directory(folder + "/below");
    CHECK(hasChanged(watch));
    writeText(folder + "/below/c", "1");
    CHECK_FALSE(hasChanged(watch));
    writeText(here.at("file"), "1");
    CHECK(hasChanged(watch));
    fs::remove_all(folder);
    CHECK(hasChanged(watch));
    fs::create_directory(folder);
    CHECK(hasChanged(watch));
    writeText(folder + "/a", "1");
    CHECK(hasChanged(watch));
}

TEST_CASE("file watch: more events than the system keeps are a change") {
    Watching here;
    fs::create_directory(here.at("folder"));
    std::string file = here.at("folder/file");
    writeText(file, "1");
    FileWatch watch({file});
    int most = 0;
    std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> most;
    if (most > 100'000)
        return;
    std::string names[] = {here.at("folder/a"), here.at("folder/b")};
    for (int i = 0; i <= most / 2; ++i)
        fs::create_symlink("x", names[i % 2]), fs::remove(names[i % 2]);
    bool changed = false;
    for (int i = 0; i < most / 100; ++i) // reads all of them
        changed |= hasChanged(watch);
    CHECK(changed);
    writeText(file, "2");
    CHECK(hasChanged(watch));
}

TEST_CASE("file watch: a wait ends, leaves the change when it loses, and leaves nothing when it is cancelled") {
    onEachPoller([] {
        Balance balance;
        int before = openDescriptors();
        {
            Watching here;
            auto test = [](Watching* here) -> Future<Void> {
                std::string file = here->at("file");
                FileWatch watch({file});
                Future<Void> waiting = keep(watch.changed()), second = keep(watch.changed());
                co_await delay(0.002);
                CHECK_FALSE(waiting.isReady());
                writeText(file, "1");
                co_await timeoutError(std::move(waiting), 10.0);
                co_await delay(0.002);
                CHECK_FALSE(second.isReady()); // a change ends one wait
                writeText(file, "2");
                co_await timeoutError(std::move(second), 10.0);
                auto first = co_await race(watch.changed(), delay(0.002));
                CHECK(first.index() == 1);
                writeText(file, "3");
                auto lost = co_await race(Future<Void>(Void()), watch.changed());
                CHECK(lost.index() == 0);
                co_await watch.changed();
                {
                    Future<Void> front = keep(watch.changed()), behind = keep(watch.changed());
                    front = {};
                    writeText(file, "4");
                    co_await timeoutError(std::move(behind), 10.0);
                    Future<Void> dropped = keep(watch.changed());
                }
                writeText(file, "5");
                co_await timeoutError(watch.changed(), 10.0);
            };
            here.loop.run(test(&here));
            FileWatch idle({here.at("file")});
            Promise<Void> never;
            CHECK_THROWS_AS(here.loop.run(never.getFuture()), Error); // a watch alone keeps no loop running
        }
        CHECK(openDescriptors() == before);
    });
}

TEST_CASE("file watch: misuse, a simulation, and no descriptor") {
    {
        SimLoop loop;
        try {
            FileWatch watch({"/tmp"});
            FAIL("there is no inotify");
        } catch (Error& error) {
            CHECK(error == client_invalid_operation());
            CHECK(std::string(error.what()).starts_with("a FileWatch in a simulation"));
        }
    }
    Death none = runInChild([] {
        RealLoop loop;
        FileWatch watch(std::vector<std::string>{});
        return 0;
    });
    CHECK(none.text.find("a FileWatch without a path") != std::string::npos);
    Death full = runInChild([] {
        RealLoop loop;
        rlimit few = {3, 3};
        ::setrlimit(RLIMIT_NOFILE, &few);
        try {
            FileWatch watch({"/tmp"});
            return 1;
        } catch (Error& error) {
            return std::string(error.what()).find("max_user_instances") == std::string::npos ? 1 : 0;
        }
    });
    CHECK_MESSAGE(full.status == 0, full.text);
}
