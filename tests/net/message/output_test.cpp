#include "net/message/detail/output.h"

#include "flow/base/random.h"
#include "flow/loop/real_loop.h"
#include "tests/net/message/fake_connection.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace flow;
using namespace flow::net;

TEST_CASE("output: whatever the machine takes at a time, the bytes arrive in order, and are counted") {
    RealLoop loop;
    DeterministicRandom random(5);
    test::FakeConnection connection;
    connection.takes = 0;
    Output output;
    std::string expected;
    for (int i = 0; i < 400; ++i) {
        std::string part(static_cast<std::size_t>(random.randomInt(0, i % 20 == 0 ? 90'000 : 600)),
                         static_cast<char>('a' + i % 26));
        Message message(part);
        if (i % 3 == 0)
            output.append(part);
        else
            output.append(i % 3 == 1 ? std::string_view() : std::string_view("\1\0", 2), message);
        if (i % 3 == 2)
            expected.append("\1\0", 2);
        expected += message.wire();
        CHECK(output.bytes() == expected.size() - connection.written.size());
        connection.takes = static_cast<std::size_t>(random.randomInt(0, 3000));
        bool isFlushed = output.flush(connection);
        CHECK(isFlushed == output.isEmpty());
    }
    connection.takes = 1 << 30;
    CHECK(output.flush(connection));
    CHECK(connection.written == expected);
    CHECK(output.isEmpty());
    CHECK(output.messages() == 0);
}

TEST_CASE("output: what a broken connection has not had to the last byte starts again; commands do not") {
    RealLoop loop;
    test::FakeConnection connection;
    Output output;
    std::string ping, large(40'000, 'x');
    zmtp::appendCommand(ping, "PING", "xx");
    output.append("one");
    output.appendUncounted(ping);
    output.append({}, Message("two").add("2"));
    output.append({}, Message(large));
    output.append("three");
    CHECK(output.messages() == 4);
    connection.takes = 5 + ping.size() + 4; // into the second
    CHECK_FALSE(output.flush(connection));
    output.appendUncounted(ping);
    Output next;
    next.append("accepted since");
    next.takeOver(output);
    CHECK(output.isEmpty());
    CHECK(next.messages() == 4);
    connection.written.clear();
    connection.takes = 1 << 30;
    CHECK(next.flush(connection));
    CHECK(connection.written == std::string(Message("accepted since").wire()) +
                                    std::string(Message("two").add("2").wire()) + std::string(Message(large).wire()) +
                                    std::string(Message("three").wire()));
}
