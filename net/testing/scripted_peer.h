#pragma once
// ScriptedPeer: plays the other side of a connection in a test, step by step.
//
//     auto [client, server] = connectionPair();
//     ScriptedPeer peer(server);
//     peer.expect("GET /\r\n").send("200").wait(1.0).send("\r\n").reset();
//     auto [page, played] = co_await all(get(client), peer.run());
//
// The functions only add steps; run() plays them, and is ready after the last one. expect() reads exactly the number of
// bytes that it names, in any pieces. If other bytes come, or an end or an error instead, run() resets the connection,
// and fails with test_failed and a sentence:
//
//     ScriptedPeer, step 1 (get_test.cpp:31): expected "GET /\x0d\x0a", received "GET /x"
//
// run() waits for missing bytes; on virtual time it then ends with loop_drained. An error of send() is the error of
// run(). A cancel ends the waiting step, and bytes that its expect() has read are lost. run() and the ScriptedPeer hold
// a Reference of the connection. After reset(), send() fails with operation_obsolete, and expect() and expectEnd() with
// test_failed; wait(), end() and reset() may still follow.

#include "flow/base/seconds.h"
#include "flow/core/future.h"
#include "net/connection.h"

#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace flow::net {

class ScriptedPeer {
public:
    explicit ScriptedPeer(Reference<Connection> connection) : connection_(std::move(connection)) {}

    ScriptedPeer& expect(std::string bytes, std::source_location caller = std::source_location::current()) {
        return add({Kind::Expect, std::move(bytes), 0, caller});
    }
    /// Expects that the other side ends its writing, and sends no bytes before that.
    ScriptedPeer& expectEnd(std::source_location caller = std::source_location::current()) {
        return add({Kind::ExpectEnd, {}, 0, caller});
    }
    ScriptedPeer& send(std::string bytes) { return add({Kind::Send, std::move(bytes), 0, {}}); }
    ScriptedPeer& wait(Seconds seconds) { return add({Kind::Wait, {}, seconds, {}}); }
    /// Ends the writing: Connection::shutdownWrite().
    ScriptedPeer& end() { return add({Kind::End, {}, 0, {}}); }
    /// Resets the connection: Connection::abort().
    ScriptedPeer& reset() { return add({Kind::Reset, {}, 0, {}}); }

    /// Plays the steps added since the last run(). The ScriptedPeer may be destroyed before the future.
    [[nodiscard]] Future<Void> run() { return play(connection_, std::exchange(steps_, {})); }

private:
    enum class Kind : std::uint8_t { Expect, ExpectEnd, Send, Wait, End, Reset };
    struct Step {
        Kind kind;
        std::string bytes;
        double seconds;
        std::source_location caller;
    };

    ScriptedPeer& add(Step step) {
        steps_.push_back(std::move(step));
        return *this;
    }
    static Future<Void> play(Reference<Connection> connection, std::vector<Step> steps);
    static Future<Void> expect(Connection* connection, Step const* step, std::size_t number);

    Reference<Connection> connection_;
    std::vector<Step> steps_;
};

} // namespace flow::net
