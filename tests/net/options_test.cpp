#include "flow/loop/real_loop.h"
#include "net/message/curve.h"
#include "net/message/message_socket.h"
#include "net/rpc/node.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;

namespace {

Error errorOf(std::function<void()> const& make) {
    try {
        make();
        return Error();
    } catch (Error& error) {
        return error;
    }
}

struct WrongOptions {
    std::function<void()> make;
    std::string sentence;
};

WrongOptions messages(std::function<void(MessageOptions&)> change, std::string sentence) {
    auto make = [change = std::move(change)] {
        MessageOptions options;
        change(options);
        MessageSocket socket(SocketType::Pull, std::move(options));
    };
    return {make, "MessageOptions: " + sentence};
}

WrongOptions rpc(Seconds RpcOptions::* option, double value, std::string sentence) {
    auto make = [option, value] {
        RpcOptions options;
        options.*option = value;
        rpc::Node node(std::move(options));
    };
    return {make, "RpcOptions: " + sentence};
}

std::vector<WrongOptions> wrongOptions() {
    using M = MessageOptions;
    std::string longOne(300, 'x');
    std::vector<WrongOptions> all = {
        messages([](M& o) { o.linger = -1; }, "linger is -1; it must not be negative"),
        messages([](M& o) { o.reconnectIvlMax = -0.5; }, "reconnectIvlMax is -0.5; it must not be negative"),
        messages([](M& o) { o.handshakeIvl = -2; }, "handshakeIvl is -2; it must not be negative"),
        messages([](M& o) { o.heartbeatIvl = -1; }, "heartbeatIvl is -1; it must not be negative"),
        messages([](M& o) { o.heartbeatTimeout = std::nan(""); }, "heartbeatTimeout is nan; it must not be negative"),
        messages([](M& o) { o.heartbeatTtl = -1e9; }, "heartbeatTtl is -1e+09; it must not be negative"),
        messages([](M& o) { o.reconnectIvl = 0; }, "reconnectIvl is 0; it must be more than 0"),
        messages([=](M& o) { o.routingId = longOne; }, "routingId is 300 bytes long; it must have at most 255 bytes"),
        messages([=](M& o) { o.plainUsername = longOne; },
                 "plainUsername is 300 bytes long; it must have at most 255 bytes"),
        messages([=](M& o) { o.plainPassword = longOne; },
                 "plainPassword is 300 bytes long; it must have at most 255 bytes"),
        messages([](M& o) { o.plainServer = true; }, "authenticator is not set; plainServer needs it"),
        messages([](M& o) { o.plainServer = o.curveServer = true; },
                 "plainServer is set; curveServer and curveServerKey exclude it"),
        messages([](M& o) { o.plainUsername = o.curveServerKey = "x"; },
                 "plainUsername is set; curveServer and curveServerKey exclude it"),
        messages(
            [](M& o) {
                o.curveServer = true;
                o.curveServerKey = "x";
            },
            "curveServerKey is set; curveServer excludes it"),
        messages([](M& o) { o.curveServer = true; }, "curveSecretKey is empty; CURVE needs it"),
        {[] { MessageSocket(SocketType::Pull).bind("tls://127.0.0.1:1"); },
         "MessageOptions: encryptListener is not set; setTls() must set it for \"tls://\""},
        {[] { MessageSocket(SocketType::Pull).connect("tls://127.0.0.1:1"); },
         "MessageOptions: encryptConnection is not set; setTls() must set it for \"tls://\""},
        rpc(&RpcOptions::connectTimeout, 0, "connectTimeout is 0; it must be more than 0"),
        rpc(&RpcOptions::greetingTimeout, -1, "greetingTimeout is -1; it must be more than 0"),
        rpc(&RpcOptions::pingInterval, 0, "pingInterval is 0; it must be more than 0"),
        rpc(&RpcOptions::pingTimeout, std::nan(""), "pingTimeout is nan; it must be more than 0"),
        rpc(&RpcOptions::reconnectMin, -0.25, "reconnectMin is -0.25; it must be more than 0"),
        rpc(&RpcOptions::reconnectMax, 0, "reconnectMax is 0; it must be more than 0"),
    };
    if (hasCurve()) {
        std::string key(32, 'k');
        all.push_back(messages(
            [](M& o) {
                o.curveServer = true;
                o.curveSecretKey = "short";
            },
            "curveSecretKey is no key; it must have 32 bytes, or 40 characters of Z85"));
        all.push_back(messages(
            [=](M& o) {
                o.curveSecretKey = o.curveServerKey = key;
                o.curvePublicKey = "short";
            },
            "curvePublicKey is no key; it must have 32 bytes, or 40 characters of Z85"));
        all.push_back(messages(
            [=](M& o) {
                o.curveSecretKey = key;
                o.curveServerKey = "short";
            },
            "curveServerKey is no key; it must have 32 bytes, or 40 characters of Z85"));
    }
    return all;
}

} // namespace

TEST_CASE("options: a wrong one is refused with a sentence that names it, its value and the rule") {
    RealLoop loop;
    for (WrongOptions const& each : wrongOptions()) {
        Error error = errorOf(each.make);
        CHECK_MESSAGE(error == invalid_option_value(), each.sentence);
        CHECK(error.what() == each.sentence);
    }
}

TEST_CASE("options: a call that a socket does not allow says why") {
    RealLoop loop;
    MessageSocket pull(SocketType::Pull), push(SocketType::Push), req(SocketType::Req), rep(SocketType::Rep);
    Message message("x"), none;
    std::vector<WrongOptions> calls = {
        {[&] { pull.trySend(message); }, "MessageSocket: a SUB or PULL cannot send messages"},
        {[&] { rep.trySend(message); }, "MessageSocket: the REP has no request to reply to"},
        {[&] { push.trySend(none); }, "MessageSocket: the message has no parts"},
        {[&] { push.receive().take(); }, "MessageSocket: a PUB or PUSH cannot receive messages"},
        {[&] { req.receive().take(); }, "MessageSocket: the REQ has no request under way"},
        {[&] { pull.subscribe("x"); }, "MessageSocket: only a SUB or XSUB subscribes"},
    };
    for (WrongOptions const& each : calls) {
        Error error = errorOf(each.make);
        CHECK_MESSAGE(error == client_invalid_operation(), each.sentence);
        CHECK(error.what() == each.sentence);
    }
}
