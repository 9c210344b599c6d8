// What every FileSystem does: the machine's own and the simulated disk run the same tests.
#include "flow/file/async_file.h"

#include "flow/base/random.h"
#include "flow/compat/wait_for_all.h"
#include "tests/flow/file/machines.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::test;

namespace {

using Names = std::vector<std::string>;
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

/// Does what the operations do to a file.
struct Model {
    std::string bytes;
    void write(std::size_t offset, std::string const& text) {
        if (text.empty())
            return;
        bytes.resize(std::max(bytes.size(), offset + text.size()));
        bytes.replace(offset, text.size(), text);
    }
};

Future<Void> readAndWrite(std::string here) {
    Reference<AsyncFile> file = co_await make(here + "f", "0123456789"_sr);
    CHECK(co_await file->size() == 10);
    CHECK(co_await file->read(0, 10) == "0123456789"_sr);
    CHECK(co_await file->read(2, 3) == "234"_sr);
    CHECK(co_await file->read(8, 100) == "89"_sr);
    CHECK(co_await file->read(10, 100) == ""_sr);
    CHECK(co_await file->read(1000, 100) == ""_sr);
    CHECK(co_await file->read(kLast, 100) == ""_sr);
    CHECK(co_await file->read(kLast - 5, 100) == ""_sr);
    CHECK(co_await file->read(3, 0) == ""_sr);
    co_await file->write(8, "abcd"_sr);
    CHECK(co_await file->read(0, 100) == "01234567abcd"_sr);
    co_await file->write(500, ""_sr);
    CHECK(co_await file->size() == 12);
    co_await file->write(20, "far"_sr);
    CHECK(co_await file->read(10, 100) == StringRef(std::string_view("cd\0\0\0\0\0\0\0\0far", 13)));
    co_await file->sync();
    CHECK(co_await codeOf(file->write(kLast - 2, "too far"_sr)) == error_code_file_too_large);
    CHECK(co_await file->size() == 23);
}

Future<Void> farOut(std::string here) {
    constexpr std::int64_t kFar = (std::int64_t{1} << 40) + 7;
    Reference<AsyncFile> file = co_await make(here + "f", "near"_sr);
    co_await file->write(kFar, "far"_sr);
    CHECK(co_await file->size() == kFar + 3);
    CHECK(co_await file->read(kFar, 10) == "far"_sr);
    CHECK(co_await file->read(kFar - 2, 3) == StringRef(std::string_view("\0\0f", 3)));
    CHECK(co_await file->read(kFar / 2, 2) == StringRef(std::string_view("\0\0", 2)));
    co_await file->sync();
    co_await file->truncate(5);
    CHECK(co_await file->read(0, 10) == StringRef(std::string_view("near\0", 5)));
    co_await file->truncate(kFar);
    CHECK(co_await file->size() == kFar);
}

Future<Void> likeTheModel(std::string here) {
    DeterministicRandom random(7);
    Reference<AsyncFile> file = co_await files().open(here + "f", OpenMode::Create);
    Model model;
    for (int i = 0; i < 600; ++i) {
        int offset = random.randomInt(0, 10000);
        int length = random.coinflip() ? random.randomInt(0, 6000) : random.randomInt(0, 20);
        if (random.randomInt(0, 8) == 0) {
            co_await file->truncate(offset);
            model.bytes.resize(static_cast<std::size_t>(offset));
        } else if (random.coinflip()) {
            std::string text = random.randomAlphaNumeric(length);
            co_await file->write(offset, text);
            model.write(static_cast<std::size_t>(offset), text);
        } else {
            std::size_t from = std::min(static_cast<std::size_t>(offset), model.bytes.size());
            Standalone<StringRef> got = co_await file->read(offset, length);
            REQUIRE(got.toStringView() == model.bytes.substr(from, static_cast<std::size_t>(length)));
        }
        REQUIRE(co_await file->size() == static_cast<std::int64_t>(model.bytes.size()));
    }
    co_await file->sync();
    CHECK(co_await contentOf(here + "f") == model.bytes);
}

Future<Void> modes(std::string here) {
    for (OpenMode mode : {OpenMode::Read, OpenMode::ReadWrite})
        CHECK(co_await codeOf(files().open(here + "f", mode)) == error_code_file_not_found);
    for (OpenMode mode : {OpenMode::Read, OpenMode::ReadWrite, OpenMode::Create})
        CHECK(co_await codeOf(files().open(here, mode)) == error_code_io_error);
    CHECK(co_await codeOf(files().open(here + "no/f", OpenMode::Create)) == error_code_file_not_found);
    (void)co_await make(here + "f", "text"_sr);
    CHECK(co_await codeOf(files().open(here + "f/below", OpenMode::Create)) == error_code_file_not_found);
    Reference<AsyncFile> again = co_await files().open(here + "f", OpenMode::Create);
    CHECK(co_await again->size() == 4);
    Reference<AsyncFile> reader = co_await files().open(here + "f", OpenMode::Read);
    Reference<AsyncFile> writer = co_await files().open(here + "f", OpenMode::ReadWrite);
    CHECK(co_await codeOf(reader->write(0, "x"_sr)) == error_code_file_not_writable);
    CHECK(co_await codeOf(reader->truncate(0)) == error_code_file_not_writable);
    co_await reader->sync();
    co_await writer->write(0, "T"_sr);
    CHECK(co_await reader->read(0, 9) == "Text"_sr);
}

Future<Void> renames(std::string here) {
    Reference<AsyncFile> a = co_await make(here + "a", "was a"_sr);
    Reference<AsyncFile> b = co_await make(here + "b", "was b"_sr);
    co_await files().rename(here + "a", here + "b");
    CHECK(co_await contentOf(here + "b") == "was a");
    CHECK_FALSE(co_await files().exists(here + "a"));
    CHECK(co_await b->read(0, 9) == "was b"_sr);
    co_await a->write(0, "is b"_sr);
    CHECK(co_await contentOf(here + "b") == "is ba");
    co_await files().rename(here + "b", here + "b");
    CHECK(co_await files().exists(here + "b"));
    CHECK(co_await codeOf(files().rename(here + "a", here + "c")) == error_code_file_not_found);
    CHECK(co_await codeOf(files().rename(here + "b", here + "no/c")) == error_code_file_not_found);
    co_await files().makeDirectory(here + "d");
    CHECK(co_await codeOf(files().rename(here + "b", here + "d")) == error_code_io_error);
    co_await files().rename(here + "b", here + "d/e");
    CHECK(co_await contentOf(here + "d/e") == "is ba");
    CHECK_FALSE(co_await files().exists(here + "b"));
}

Future<Void> removes(std::string here) {
    Reference<AsyncFile> file = co_await make(here + "f", "text"_sr);
    co_await files().remove(here + "f");
    CHECK_FALSE(co_await files().exists(here + "f"));
    CHECK(co_await file->read(0, 9) == "text"_sr);
    co_await file->write(4, "!"_sr);
    CHECK(co_await file->size() == 5);
    co_await file->sync();
    CHECK(co_await codeOf(files().remove(here + "f")) == error_code_file_not_found);
    Reference<AsyncFile> fresh = co_await files().open(here + "f", OpenMode::Create);
    CHECK(co_await fresh->size() == 0);
}

Future<Void> newFiles(std::string here) {
    Reference<AsyncFile> made = co_await files().open(here + "f", OpenMode::CreateNew, 0600);
    co_await made->write(0, "text"_sr);
    CHECK(co_await codeOf(files().open(here + "f", OpenMode::CreateNew)) == error_code_file_exists);
    co_await files().makeDirectory(here + "d");
    CHECK(co_await codeOf(files().open(here + "d", OpenMode::CreateNew)) == error_code_file_exists);
    CHECK(co_await contentOf(here + "f") == "text");
}

Future<Void> appends(std::string here) {
    Reference<AsyncFile> one = co_await files().open(here + "f", OpenMode::Append);
    Reference<AsyncFile> other = co_await files().open(here + "f", OpenMode::Append);
    co_await one->append("one "_sr);
    co_await other->append("two "_sr);
    co_await one->append(""_sr);
    co_await one->append("three"_sr);
    CHECK(co_await one->read(0, 100) == "one two three"_sr);
    CHECK(co_await codeOf(one->write(0, "x"_sr)) == error_code_file_not_writable);
    co_await one->truncate(3);
    co_await other->append("!"_sr);
    CHECK(co_await contentOf(here + "f") == "one!");
    Reference<AsyncFile> plain = co_await files().open(here + "f", OpenMode::Create);
    CHECK(co_await codeOf(plain->append("x"_sr)) == error_code_file_not_writable);
}

Future<Void> infos(std::string here) {
    double before = wallTime() - 10; // a file system may round its times
    Reference<AsyncFile> file = co_await files().open(here + "f", OpenMode::Create, 0600);
    FileInfo made = co_await files().info(here + "f");
    CHECK((made.kind == FileKind::File && made.size == 0 && made.permissions == 0600));
    CHECK((made.modified > before && made.modified < before + 1000));
    co_await file->write(0, "text"_sr);
    co_await files().setPermissions(here + "f", 0444);
    FileInfo written = co_await files().info(here + "f");
    CHECK((written.size == 4 && written.permissions == 0444 && written.modified >= made.modified));
    FileInfo directory = co_await files().info(here);
    CHECK((directory.kind == FileKind::Directory && directory.size == 0 && directory.permissions == 0));
    CHECK(co_await codeOf(files().info(here + "none")) == error_code_file_not_found);
    CHECK(co_await codeOf(files().info(here + "f/below")) == error_code_file_not_found);
    CHECK(co_await codeOf(files().setPermissions(here + "none", 0600)) == error_code_file_not_found);
}

Future<Void> removesDirectories(std::string here) {
    co_await files().makeDirectory(here + "d");
    (void)co_await make(here + "d/f", "text"_sr);
    CHECK(co_await codeOf(files().removeDirectory(here + "d")) == error_code_directory_not_empty);
    CHECK(co_await codeOf(files().removeDirectory(here + "d/f")) == error_code_file_not_found);
    CHECK(co_await codeOf(files().removeDirectory(here + "none")) == error_code_file_not_found);
    co_await files().remove(here + "d/f");
    co_await files().removeDirectory(here + "d");
    CHECK_FALSE(co_await files().exists(here + "d"));
    co_await files().makeDirectory(here + "d");
    CHECK_FALSE(co_await files().exists(here + "d/f"));
}

// These stand outside the coroutine: gcc 12 cannot have braces in its frame.
const Names kNone;
const Names kMade = {"sub/z", "sub/a", "sub/m", "top"};
const Names kTop = {"sub", "top"};
const Names kSub = {"a", "deep", "m", "z"};

Future<Void> directories(std::string here) {
    CHECK(co_await files().list(here) == kNone);
    co_await files().makeDirectory(here + "sub");
    co_await files().makeDirectory(here + "sub");
    co_await files().makeDirectory(here + "sub/deep/");
    for (std::string const& name : kMade)
        (void)co_await make(here + name, "text"_sr);
    CHECK(co_await files().list(here) == kTop);
    CHECK(co_await files().list(here + "sub") == kSub);
    CHECK(co_await files().list(here + "sub/") == kSub);
    CHECK(co_await files().exists(here + "sub/deep"));
    CHECK(co_await files().exists(here + "./sub//a"));
    CHECK(co_await files().exists(here + "sub/../top"));
    CHECK_FALSE(co_await files().exists(here + "top/a"));
    co_await files().syncDirectory(here);
    co_await files().syncDirectory(here + "sub");
    CHECK(co_await codeOf(files().list(here + "none")) == error_code_file_not_found);
    CHECK(co_await codeOf(files().list(here + "top")) == error_code_file_not_found);
    CHECK(co_await codeOf(files().syncDirectory(here + "none")) == error_code_file_not_found);
    CHECK(co_await codeOf(files().syncDirectory(here + "top")) == error_code_file_not_found);
    CHECK(co_await codeOf(files().makeDirectory(here + "none/sub")) == error_code_file_not_found);
    CHECK(co_await codeOf(files().makeDirectory(here + "top")) == error_code_file_exists);
    CHECK(co_await codeOf(files().open(here + "sub", OpenMode::ReadWrite)) == error_code_io_error);
    CHECK(co_await codeOf(files().remove(here + "sub")) == error_code_io_error);
}

Future<Void> strangeNames(std::string here) {
    (void)co_await make(here + "f", "text"_sr);
    std::string none, longName = here + std::string(256, 'n'), cut = here + "f" + '\0' + "g";
    CHECK(co_await codeOf(files().open(none, OpenMode::Create)) == error_code_file_not_found);
    CHECK_FALSE(co_await files().exists(none));
    CHECK(co_await codeOf(files().list(none)) == error_code_file_not_found);
    CHECK(co_await codeOf(files().remove(none)) == error_code_file_not_found);
    CHECK(co_await codeOf(files().rename(here + "f", none)) == error_code_file_not_found);
    CHECK(co_await codeOf(files().makeDirectory(none)) == error_code_file_not_found);
    CHECK(co_await codeOf(files().syncDirectory(none)) == error_code_file_not_found);
    for (OpenMode mode : {OpenMode::Read, OpenMode::Create})
        CHECK(co_await codeOf(files().open(longName, mode)) == error_code_io_error);
    CHECK(co_await codeOf(files().open(longName + "/f", OpenMode::Create)) == error_code_io_error);
    CHECK(co_await codeOf(files().exists(longName)) == error_code_io_error);
    CHECK(co_await codeOf(files().remove(longName)) == error_code_io_error);
    CHECK(co_await codeOf(files().rename(here + "f", longName)) == error_code_io_error);
    CHECK(co_await codeOf(files().rename(longName, here + "g")) == error_code_io_error);
    CHECK(co_await codeOf(files().makeDirectory(longName)) == error_code_io_error);
    CHECK(co_await codeOf(files().open(here + "no/" + std::string(256, 'n'), OpenMode::Create)) ==
          error_code_file_not_found);
    (void)co_await make(here + std::string(255, 'n'), "text"_sr);
    CHECK(co_await contentOf(cut) == "text");
}

Future<Void> manyAtOnce(std::string here) {
    constexpr int kCount = 10000;
    Reference<AsyncFile> file = co_await files().open(here + "f", OpenMode::Create);
    std::vector<Future<Void>> writes;
    for (int i = 0; i < kCount; ++i)
        writes.push_back(file->write(i * std::int64_t{10}, std::to_string(1000000000 + i)));
    co_await waitForAll(writes);
    std::vector<Future<Standalone<StringRef>>> reads;
    for (int i = 0; i < kCount; ++i)
        reads.push_back(file->read(i * std::int64_t{10}, 10));
    for (int i = 0; i < kCount; ++i)
        REQUIRE(co_await reads[static_cast<std::size_t>(i)] == StringRef(std::to_string(1000000000 + i)));
}

Future<Void> handlesThatGo(std::string here) {
    Reference<AsyncFile> file = co_await files().open(here + "f", OpenMode::Create);
    Future<Void> written = file->write(0, "written"_sr);
    Future<Standalone<StringRef>> read = file->read(0, 7);
    file.clear();
    co_await std::move(written);
    Standalone<StringRef> bytes = co_await std::move(read);
    CHECK((bytes == ""_sr || bytes == "written"_sr));
    CHECK(co_await contentOf(here + "f") == "written");
}

/// Counts what it has done, and says when that is so much.
struct Progress {
    explicit Progress(int p) : point(p) {}
    int point;
    int done = 0;
    Promise<Void> reached;

    void advance() {
        if (++done == point)
            reached.send(Void());
    }
};

Future<Void> useEverything(std::string here, Progress& progress) {
    progress.advance();
    Reference<AsyncFile> file = co_await files().open(here + "f", OpenMode::Create);
    progress.advance();
    co_await file->write(0, "text"_sr);
    progress.advance();
    co_await file->sync();
    progress.advance();
    co_await file->read(0, 9);
    progress.advance();
    co_await file->truncate(2);
    progress.advance();
    co_await file->size();
    progress.advance();
    co_await files().rename(here + "f", here + "g");
    progress.advance();
    co_await files().syncDirectory(here);
    progress.advance();
    co_await files().list(here);
    progress.advance();
    co_await files().exists(here + "g");
    progress.advance();
    co_await files().makeDirectory(here + "d");
    progress.advance();
    co_await files().remove(here + "g");
    progress.advance();
    co_await files().info(here + "d");
    progress.advance();
    co_await files().setPermissions(here + "d", 0700);
    progress.advance();
    co_await files().removeDirectory(here + "d");
    progress.advance();
    co_await file->tryLock();
    progress.advance();
    Reference<AsyncFile> end = co_await files().open(here + "f", OpenMode::Append);
    progress.advance();
    co_await end->append("text"_sr);
}
constexpr int kEverything = 18;

} // namespace

FILES_TEST("reads and writes", readAndWrite)
FILES_TEST("far offsets and holes", farOut)
FILES_TEST("random operations do what they do to a string", likeTheModel)
FILES_TEST("ways to open them", modes)
FILES_TEST("rename replaces, and open files stay what they are", renames)
FILES_TEST("remove takes the name only", removes)
FILES_TEST("exclusive creation", newFiles)
FILES_TEST("appends", appends)
FILES_TEST("info and permissions", infos)
FILES_TEST("removal of directories", removesDirectories)
FILES_TEST("directories", directories)
FILES_TEST("names that are empty, too long, or hold a NUL", strangeNames)
FILES_TEST("ten thousand operations at once", manyAtOnce)
FILES_TEST("a handle that goes while its operations are under way", handlesThatGo)

TEST_CASE_TEMPLATE("files: cancel at each operation", Machine, MACHINES) {
    for (int point = 1; point <= kEverything; ++point)
        for (bool dropped : {false, true}) {
            Machine machine;
            Progress progress(point);
            Future<Void> task = useEverything(machine.here(), progress);
            machine.loop.run(progress.reached.getFuture());
            REQUIRE_FALSE(task.isReady());
            if (dropped) {
                task = Future<Void>();
            } else {
                task.cancel();
                CHECK(task.getError() == actor_cancelled());
            }
            machine.loop.run(); // what has begun ends
            CHECK(progress.done == point);
        }
    Machine machine;
    Progress progress(kEverything);
    machine.loop.run(useEverything(machine.here(), progress));
    CHECK(progress.done == kEverything);
}

TEST_CASE_TEMPLATE("files: an operation without a waiter, as the last thing that a loop runs", Machine, MACHINES) {
    Machine machine;
    Reference<AsyncFile> file = machine.loop.run(make(machine.here() + "f", "old"_sr));
    (void)file->write(0, "new"_sr);
    machine.loop.run();
    std::string content = machine.loop.run(contentOf(machine.here() + "f"));
    CHECK((content == "old" || content == "new"));
}

TEST_CASE_TEMPLATE("files: negative offsets abort", Machine, MACHINES) {
    auto useFile = [](auto use) { // in the child, into which threads do not come along
        Machine machine;
        use(*machine.loop.run(make(machine.here() + "f", "text"_sr)));
    };
    CHECK_NAMES_CALLER(useFile([](AsyncFile& file) { (void)file.read(-1, 1); }));
    CHECK_NAMES_CALLER(useFile([](AsyncFile& file) { (void)file.read(0, -1); }));
    CHECK_NAMES_CALLER(useFile([](AsyncFile& file) { (void)file.write(-1, "x"_sr); }));
    CHECK_NAMES_CALLER(useFile([](AsyncFile& file) { (void)file.truncate(-1); }));
}
