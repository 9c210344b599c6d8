#include "flow/file/buffered_writer.h"

#include "flow/combine/all.h"
#include "tests/flow/file/machines.h"
#include "tests/flow/support/death.h"

#include <string>
#include <vector>

using namespace flow;
using namespace flow::test;

namespace {

Future<Void> writesTogether(std::string here) {
    Reference<AsyncFile> file = co_await make(here + "f", "head "_sr);
    std::string expected = "head ";
    BufferedWriter out(file, 5, 100);
    std::vector<Future<Void>> writes;
    for (int i = 0; i < 200; ++i) {
        std::string text = std::to_string(i) + "\n";
        expected += text;
        writes.push_back(out.write(text));
        if (i % 3 == 0)
            writes.back() = Future<Void>(); // a dropped future loses nothing
    }
    CHECK(out.end() == static_cast<std::int64_t>(expected.size()));
    co_await out.flush();
    CHECK(co_await contentOf(here + "f") == expected);
    co_await out.flush();
    co_await out.write(std::string(1000, 'x')); // more than there is room for
    CHECK(co_await contentOf(here + "f") == expected + std::string(1000, 'x'));
}

} // namespace

FILES_TEST("a buffered writer writes together what is written", writesTogether)

TEST_CASE("files: a buffered writer writes again what has failed") {
    SimMachine machine;
    auto file = machine.loop.run(files().open("/f", OpenMode::Create));
    BufferedWriter out(file);
    (void)out.write("some text");
    machine.dice.faults.diskFull = 1;
    CHECK(machine.loop.run(codeOf(out.flush())) == error_code_disk_full);
    machine.dice.faults.diskFull = 0;
    machine.loop.run(out.write(", and more"));
    machine.loop.run(out.flush());
    CHECK(machine.loop.run(contentOf("/f")) == "some text, and more");
}

TEST_CASE("files: a buffered writer without a file, or with a negative offset, names the caller") {
    SimMachine machine;
    auto file = machine.loop.run(files().open("/f", OpenMode::Create));
    CHECK_NAMES_CALLER(BufferedWriter none(Reference<AsyncFile>{}));
    CHECK_NAMES_CALLER(BufferedWriter before(file, -1));
}
