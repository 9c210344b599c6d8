#include "net/testing/scripted_peer.h"

#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"

#include <algorithm>
#include <string_view>

namespace flow::net {
namespace {

constexpr std::size_t kShown = 48, kShownBefore = 16; // bytes shown, and bytes before the difference

constexpr char kEnd[] = "the end";

std::string quoted(std::string_view bytes, std::size_t from) {
    bytes = bytes.substr(std::min(from, bytes.size()));
    return '"' + StringRef(bytes.substr(0, kShown)).printable() + (bytes.size() > kShown ? "...\"" : "\"");
}

/// Returns the part of the sentence with both texts, from shortly before the first different byte.
std::string difference(std::string_view wanted, bool isEnd, std::string_view received, std::string const& instead) {
    std::size_t from = 0;
    if (std::max(wanted.size(), received.size()) > kShown) {
        auto differs = std::mismatch(wanted.begin(), wanted.end(), received.begin(), received.end()).first;
        from = std::max(static_cast<std::size_t>(differs - wanted.begin()), kShownBefore) - kShownBefore;
    }
    std::string text = from == 0 ? ": " : format(", from byte %zu: ", from);
    text += "expected " + (isEnd ? kEnd : quoted(wanted, from)) + ", received " + quoted(received, from);
    return instead.empty() ? text : text + ", and then: " + instead;
}

} // namespace

Future<Void> ScriptedPeer::play(Reference<Connection> connection, std::vector<Step> steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
        Step const& step = steps[i];
        if (step.kind == Kind::Expect || step.kind == Kind::ExpectEnd) {
            Future<Void> expected = expect(connection.getPtr(), &step, i + 1);
            co_await expected;
        } else if (step.kind == Kind::Send) {
            Bytes bytes = StringRef(step.bytes);
            co_await connection->write(std::move(bytes));
        } else if (step.kind == Kind::Wait) {
            co_await delay(step.seconds);
        } else if (step.kind == Kind::End) {
            connection->shutdownWrite();
        } else {
            connection->abort();
        }
    }
}

/// Reads the bytes of the step. `instead` becomes the text of an end or error that comes too early.
Future<Void> ScriptedPeer::expect(Connection* connection, Step const* step, std::size_t number) {
    std::string const& wanted = step->bytes;
    bool isEnd = step->kind == Kind::ExpectEnd;
    std::string received, instead;
    try {
        while (instead.empty() && (isEnd || received.size() < wanted.size()) && wanted.starts_with(received)) {
            std::size_t atMost = isEnd ? 1 : wanted.size() - received.size();
            Bytes bytes = co_await connection->read(static_cast<std::uint32_t>(atMost));
            received += bytes.toStringView();
            if (bytes.empty())
                instead = kEnd;
        }
        char more[kShown]; // for the sentence
        if (instead.empty() && received != wanted)
            received.append(more, connection->tryReadSome(more).value_or(0));
    } catch (Error& error) {
        if (error == actor_cancelled())
            throw;
        instead = error.what();
    }
    if (received == wanted && instead == (isEnd ? kEnd : ""))
        co_return;
    connection->abort();
    std::string_view file = step->caller.file_name();
    std::string where = format("ScriptedPeer, step %zu (%s:%u)", number, file.substr(file.rfind('/') + 1).data(),
                               static_cast<unsigned>(step->caller.line()));
    throw test_failed().withSentence(where + difference(wanted, isEnd, received, instead));
}

} // namespace flow::net
