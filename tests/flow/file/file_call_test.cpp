// The sentences of the errors of files: the same on the machine's own and on the simulated disk.
#include "flow/file/detail/file_call.h"

#include "tests/flow/file/machines.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <string>

using namespace flow;
using namespace flow::test;

namespace {

template <class T>
Future<std::string> sentenceOfCall(Future<T> what) {
    ErrorOr<T> result = co_await tryGet(std::move(what));
    co_return result.isError() ? result.getError().what() : "no error";
}

Future<Void> namesThePath(std::string here) {
    std::string file = here + "file", none = here + "none", folder = here + "folder", below = here + "file/x";
    Reference<AsyncFile> made = co_await make(file, "text"_sr);
    co_await files().makeDirectory(folder);
    co_await make(folder + "/inside", ""_sr);
    std::string missing = ": No such file or directory", isFile = ": Not a directory", isFolder = ": Is a directory";
    auto quoted = [](std::string const& text) { return "\"" + text + "\""; };

    CHECK(co_await sentenceOfCall(files().open(none, OpenMode::Read)) == "open " + quoted(none) + missing);
    CHECK(co_await sentenceOfCall(files().open(below, OpenMode::Create)) == "open " + quoted(below) + isFile);
    CHECK(co_await sentenceOfCall(files().open(none + "/x", OpenMode::Create)) ==
          "open " + quoted(none + "/x") + missing);
    CHECK(co_await sentenceOfCall(files().open(folder, OpenMode::Read)) == "open " + quoted(folder) + isFolder);
    CHECK(co_await sentenceOfCall(files().open(file, OpenMode::CreateNew)) == "open " + quoted(file) + ": File exists");
    CHECK(co_await sentenceOfCall(files().open("", OpenMode::Read)) == "open \"\"" + missing);
    CHECK(co_await sentenceOfCall(files().info(none)) == "info " + quoted(none) + missing);
    CHECK(co_await sentenceOfCall(files().setPermissions(none, 0600)) == "setPermissions " + quoted(none) + missing);
    CHECK(co_await sentenceOfCall(files().rename(none, file)) ==
          "rename " + quoted(none) + " to " + quoted(file) + missing);
    CHECK(co_await sentenceOfCall(files().rename(file, folder)) ==
          "rename " + quoted(file) + " to " + quoted(folder) + isFolder);
    CHECK(co_await sentenceOfCall(files().remove(none)) == "remove " + quoted(none) + missing);
    CHECK(co_await sentenceOfCall(files().remove(below)) == "remove " + quoted(below) + isFile);
    CHECK(co_await sentenceOfCall(files().remove(folder)) == "remove " + quoted(folder) + isFolder);
    CHECK(co_await sentenceOfCall(files().removeDirectory(file)) == "removeDirectory " + quoted(file) + isFile);
    CHECK(co_await sentenceOfCall(files().removeDirectory(folder)) ==
          "removeDirectory " + quoted(folder) + ": Directory not empty");
    CHECK(co_await sentenceOfCall(files().list(none)) == "list " + quoted(none) + missing);
    CHECK(co_await sentenceOfCall(files().list(file)) == "list " + quoted(file) + isFile);
    CHECK(co_await sentenceOfCall(files().makeDirectory(file)) == "makeDirectory " + quoted(file) + ": File exists");
    CHECK(co_await sentenceOfCall(files().makeDirectory(below)) == "makeDirectory " + quoted(below) + isFile);
    CHECK(co_await sentenceOfCall(files().syncDirectory(none)) == "sync " + quoted(none) + missing);
    std::string longName = here + std::string(256, 'x');
    CHECK(co_await sentenceOfCall(files().exists(longName)) == "exists " + quoted(longName) + ": File name too long");

    std::string otherMode = ": the file was opened in another OpenMode";
    Reference<AsyncFile> toRead = co_await files().open(file, OpenMode::Read);
    Reference<AsyncFile> toAppend = co_await files().open(file, OpenMode::Append);
    CHECK(co_await sentenceOfCall(toRead->write(0, "x"_sr)) == "write " + quoted(file) + otherMode);
    CHECK(co_await sentenceOfCall(toAppend->write(0, "x"_sr)) == "write " + quoted(file) + otherMode);
    CHECK(co_await sentenceOfCall(made->append("x"_sr)) == "append " + quoted(file) + otherMode);
    CHECK(co_await sentenceOfCall(toRead->truncate(1)) == "truncate " + quoted(file) + otherMode);
    CHECK(co_await sentenceOfCall(made->write((std::int64_t{1} << 62), "x"_sr)) ==
          "write " + quoted(file) + ": File too large");
}

FILES_TEST("errors: name the path and the reason", namesThePath)

} // namespace

TEST_CASE("files, simulated: an injected fault has the sentence of a real one, and its mark") {
    SimMachine machine;
    machine.dice.faults.diskError = 1;
    Future<Void> removing = machine.disk.remove("x");
    machine.loop.run();
    REQUIRE(removing.isError());
    CHECK(removing.getError() == io_error().asInjectedFault());
    CHECK(removing.getError().what() == std::string("remove \"x\": Input/output error"));
}

TEST_CASE("files, real: a path without permission") {
    FileCall open{"open", "/data/log"};
    Error denied = open.error(EACCES, file_not_readable());
    CHECK(denied == file_not_readable());
    CHECK(denied.what() == std::string("open \"/data/log\": Permission denied"));
    CHECK(open.error(EACCES) == file_not_writable());
    CHECK(open.error(EMFILE) == platform_error());
    CHECK(open.error(EIO) == io_error());
}
