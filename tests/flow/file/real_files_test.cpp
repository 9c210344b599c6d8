// What only the machine's files do; what all do is in async_file_test.cpp.
#include "flow/combine/errors.h"
#include "flow/coro/coroutine.h"
#include "flow/file/async_file.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/allocation_failure.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/descriptors.h"
#include "tests/flow/support/temporary_directory.h"

#include <doctest/doctest.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace flow;

namespace {

std::string readBack(std::string const& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

template <class T>
int codeIn(Loop& loop, Future<T> what) {
    ErrorOr<T> result = loop.run(errorOr(std::move(what)));
    return result.isError() ? result.getError().code() : 0;
}

Future<Void> writeAndRead(std::string path) {
    Reference<AsyncFile> file = co_await files().open(path, OpenMode::Create);
    co_await file->write(0, "some text"_sr);
    co_await file->sync();
    Standalone<StringRef> bytes = co_await file->read(5, 10);
    if (bytes != "text"_sr)
        throw std::logic_error("reads something else");
    bool isThere = co_await files().exists(path);
    if (!isThere)
        throw std::logic_error("is not there");
}

} // namespace

TEST_CASE("real files: a loop of reads leaves timers and others their turns") {
    test::TemporaryDirectory directory;
    RealLoop loop;
    bool isOver = false;
    auto readOn = [](std::string path, bool const* end) -> Future<Void> {
        Reference<AsyncFile> file = co_await files().open(path, OpenMode::Create);
        co_await file->write(0, "some text"_sr);
        while (!*end)
            (void)co_await file->read(4, 0);
    };
    Future<Void> reading = readOn(directory.path() + "/file", &isOver);
    for (int i = 0; i < 10; ++i) {
        loop.run(delay(0.001));
        loop.run(delay(0, TaskPriority::DefaultYield));
    }
    CHECK(!reading.isReady());
    isOver = true;
    loop.run(reading);
}

TEST_CASE("real files: one for each loop, made at first use") {
    RealLoop outer;
    CHECK(outer.service<FileSystem>() == nullptr);
    FileSystem& first = files();
    CHECK(outer.service<FileSystem>() == &first);
    CHECK(&files() == &first);
    {
        RealLoop inner;
        CHECK(&files() != &first);
    }
    CHECK(&files() == &first);
}

TEST_CASE("real files: another thread has others") {
    test::TemporaryDirectory here;
    auto use = [&](std::string name) {
        RealLoop loop;
        for (int i = 0; i < 50; ++i)
            loop.run(writeAndRead(here.path() + name));
    };
    std::thread other(use, "/a");
    use("/b");
    other.join();
    CHECK(readBack(here.path() + "/a") == "some text");
}

TEST_CASE("real files: what is written is in the file") {
    test::TemporaryDirectory here;
    RealLoop loop;
    loop.run(writeAndRead(here.path() + "/f"));
    CHECK(readBack(here.path() + "/f") == "some text");
}

TEST_CASE("real files: on a simulated loop") {
    test::TemporaryDirectory here;
    SimLoop loop;
    loop.run(writeAndRead(here.path() + "/f"));
    CHECK(loop.now() == 0);
}

TEST_CASE("real files: what the system says is wrong") {
    test::TemporaryDirectory here;
    RealLoop loop;
    auto full = loop.run(files().open("/dev/full", OpenMode::ReadWrite));
    CHECK(codeIn(loop, full->write(0, "x"_sr)) == error_code_disk_full);
    auto memory = loop.run(files().open("/proc/self/mem", OpenMode::Read)); // nothing is mapped at its beginning
    CHECK(codeIn(loop, memory->read(0, 10)) == error_code_io_error);
    CHECK(codeIn(loop, files().open("/proc/self/exe", OpenMode::ReadWrite)) == error_code_file_not_writable);
    CHECK(codeIn(loop, files().open("/proc/none/file", OpenMode::Read)) == error_code_file_not_found);
    CHECK(codeIn(loop, files().open(std::string(5000, 'x'), OpenMode::Create)) == error_code_io_error);
    if (::geteuid() != 0) {
        auto path = here.path() + "/locked";
        loop.run(files().open(path, OpenMode::Create));
        ::chmod(path.c_str(), 0);
        CHECK(codeIn(loop, files().open(path, OpenMode::Read)) == error_code_file_not_readable);
        CHECK(codeIn(loop, files().open(path, OpenMode::ReadWrite)) == error_code_file_not_writable);
    }
}

TEST_CASE("real files: no descriptor is left to open a file with, then there is one again") {
    test::TemporaryDirectory here;
    RealLoop loop;
    loop.run(writeAndRead(here.path() + "/f"));
    // UBSan opens a pipe when it sees an object's class for the first time: here that of an error.
    CHECK(codeIn(loop, files().open(here.path() + "/g", OpenMode::Read)) == error_code_file_not_found);
    rlimit before;
    ::getrlimit(RLIMIT_NOFILE, &before);
    rlimit none{0, before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
    int code = codeIn(loop, files().open(here.path() + "/f", OpenMode::Read));
    ::setrlimit(RLIMIT_NOFILE, &before);
    CHECK(code == error_code_platform_error);
    loop.run(writeAndRead(here.path() + "/f"));
}

TEST_CASE("real files: handles are closed, also those without a waiter") {
    test::TemporaryDirectory here;
    RealLoop loop;
    loop.run(writeAndRead(here.path() + "/f"));
    loop.run();
    std::ptrdiff_t before = test::openDescriptors();
    for (int i = 0; i < 100; ++i) {
        auto file = loop.run(files().open(here.path() + "/f", OpenMode::ReadWrite));
        (void)file->read(0, 10);
        (void)files().open(here.path() + "/f", OpenMode::ReadWrite);
    }
    loop.run();
    CHECK(test::openDescriptors() == before);
}

TEST_CASE("real files: the loop ends during operations; their futures and files outlive it") {
    test::TemporaryDirectory here;
    std::ptrdiff_t before = test::openDescriptors();
    for (int held = 0; held < 2; ++held) {
        Reference<AsyncFile> file;
        std::vector<Future<Void>> writes;
        Future<Reference<AsyncFile>> opened;
        Future<std::vector<std::string>> names;
        {
            RealLoop loop;
            file = loop.run(files().open(here.path() + "/f", OpenMode::Create));
            for (int i = 0; i < 1000; ++i)
                writes.push_back(file->write(i * 4, "text"_sr));
            opened = files().open(here.path() + "/f", OpenMode::Read);
            names = files().list(here.path());
            if (!held) {
                writes.clear();
                opened = {};
                names = {};
                file.clear();
            }
        }
        for (Future<Void> const& each : writes)
            CHECK_FALSE(each.isReady());
        if (held) {
            CHECK_FALSE(opened.isReady());
            CHECK_FALSE(names.isReady());
            RealLoop another;
            CHECK_FALSE(file->size().isReady());
        }
    }
    CHECK(test::openDescriptors() == before);
}

TEST_CASE("real files: the loop ends at any moment") {
    test::TemporaryDirectory here;
    for (int i = 0; i < 200; ++i) {
        std::optional<RealLoop> loop(std::in_place);
        auto file = loop->run(files().open(here.path() + "/f", OpenMode::Create));
        auto write = file->write(0, "text"_sr);
        auto read = file->read(0, 4);
        if (i % 2)
            file.clear();
        if (i % 3 == 0)
            read.cancel();
        for (std::atomic<int> spin{(i * 371) % 20000}; spin > 0; --spin) {
        }
        loop.reset();
        CHECK_FALSE(write.isReady());
    }
}

TEST_CASE("real files: code that runs at the loop's end may use files") {
    test::TemporaryDirectory here;
    auto path = here.path() + "/f";
    {
        RealLoop loop;
        std::shared_ptr<void> asks(nullptr, [&](void*) { (void)files().open(path, OpenMode::Create); });
        loop.run(writeAndRead(path));
        loop.post([asks = std::move(asks)] {});
    }
    CHECK(readBack(path) == "some text");
}

TEST_CASE("real files: each allocation fails") {
    test::TemporaryDirectory here;
    std::ptrdiff_t before = test::openDescriptors();
    std::uint64_t failures = failEachAllocation([&] {
        RealLoop loop;
        loop.run(writeAndRead(here.path() + "/f"));
    });
    CHECK(failures > 10);
    CHECK(test::openDescriptors() == before);
}
