#pragma once
// A test of files runs on each of these: on the machine's own files, and on a simulated disk.
//
//     FILES_TEST("reads and writes", readAndWrite)      // Future<Void> readAndWrite(std::string here)

#include "flow/file/async_file.h"

#include "flow/combine/errors.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/disk.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/temporary_directory.h"

#include <doctest/doctest.h>

#include <string>

namespace flow::test {

struct RealMachine {
    TemporaryDirectory directory;
    RealLoop loop;
    std::string here() { return directory.path() + "/"; }
};

struct SimMachine {
    SimMachine() { loop.provide<FileSystem>(&disk); }
    PlainFaults dice{1};
    SimDisk disk{dice};
    SimLoop loop;
    std::string here() { return "/"; }
};

/// Operations take time, and overtake each other.
struct UnevenSimMachine : SimMachine {
    UnevenSimMachine() { disk.speed.seconds = 0.001; }
};

inline Future<Reference<AsyncFile>> make(std::string path, Standalone<StringRef> content) {
    Reference<AsyncFile> file = co_await files().open(path, OpenMode::Create);
    co_await file->write(0, content);
    co_return file;
}

inline Future<std::string> contentOf(std::string path) {
    Reference<AsyncFile> file = co_await files().open(path, OpenMode::Read);
    std::int64_t size = co_await file->size();
    Standalone<StringRef> bytes = co_await file->read(0, static_cast<int>(size) + 1);
    co_return bytes.toString();
}

template <class T>
Future<int> codeOf(Future<T> what) {
    ErrorOr<T> result = co_await tryGet(std::move(what));
    co_return result.isError() ? result.getError().code() : 0;
}

} // namespace flow::test

#define MACHINES flow::test::RealMachine, flow::test::SimMachine, flow::test::UnevenSimMachine
#define FILES_TEST(name, test)                                                                                         \
    TEST_CASE_TEMPLATE("files: " name, Machine, MACHINES) {                                                            \
        Machine machine;                                                                                               \
        machine.loop.run(test(machine.here()));                                                                        \
    }
