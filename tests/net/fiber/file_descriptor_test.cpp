#include "tests/net/file_descriptor_suite.h"

#include "flow/fiber/fiber.h"

using namespace flow;
using namespace flow::net;
using namespace flow::test;

TEST_CASE("file descriptor: fibers wait for it") {
    onEachPoller([] {
        RealLoop loop;
        ForeignPair pair = ForeignPair::ofSocket();
        FileDescriptor reader(pair[0]), writer(pair[1]);
        Future<int> reading = fiber::spawn([&] {
            int count = 0;
            for (; count < 5; ++count) {
                fiber::wait(reader.readable());
                CHECK(pair.take(1) == 1);
            }
            return count;
        });
        loop.run(fiber::spawn([&] {
            for (int i = 0; i < 5; ++i) {
                fiber::wait(writer.writable());
                pair.send();
            }
            return Void();
        }));
        CHECK(loop.run(std::move(reading)) == 5);
    });
}
