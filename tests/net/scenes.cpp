#include "tests/net/scenes.h"

#include "flow/combine/all.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/tasks/combine.h"
#include "flow/tasks/context.h"
#include "flow/tasks/fork.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"
#include "net/connect.h"
#include "net/message/message_socket.h"
#include "net/serve.h"
#include "tests/net/transport_suite.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flow::test {

using namespace net;

Future<Void> Scene::others() {
    return Void();
}

namespace {

constexpr double kPause = 0.001;

std::string differs(std::string const& found, std::string const& wanted) {
    return found == wanted ? "" : "'" + found.substr(0, 60) + "' instead of '" + wanted.substr(0, 60) + "'";
}

/// Has a listener and, if requested, both ends of a connection.
class Connected : public Scene {
public:
    Future<Void> prepare() override { pair_ = co_await makePair(); }

protected:
    Pair pair_;
};

class Listening : public Scene {
public:
    Future<Void> prepare() override {
        listener_ = transport().listen(transport().localAddress());
        address_ = listener_->localAddress();
        return Void();
    }

protected:
    /// Whether a new connection is accepted, after the cancelled ones.
    Future<std::string> worksAgain() {
        connection_ = Reference<Connection>();
        Reference<Connection> again = co_await transport().connect(address_);
        co_await again->write("again"_sr);
        again->shutdownWrite();
        for (;;) {
            Reference<Connection> accepted = co_await listener_->accept();
            ErrorOr<std::string> text = co_await tryGet(readAll(accepted));
            if (!text.isError() && text.get() == "again")
                co_return "";
        }
    }

    Reference<Listener> listener_;
    Address address_;
    Reference<Connection> connection_;
};

class Connects final : public Listening {
public:
    Future<Void> operation() override { connection_ = co_await transport().connect(address_); }
    Future<std::string> rest() override { return worksAgain(); }
};

class ConnectsToName final : public Listening {
public:
    Future<Void> operation() override { connection_ = co_await connect(kSceneName, address_.port()); }
    Future<std::string> rest() override { return worksAgain(); }
};

class ConnectsToAny final : public Listening {
public:
    Future<Void> operation() override {
        std::vector<Address> addresses(1, *Address::parse("192.0.2.1:1")); // no answer
        addresses.push_back(address_);
        connection_ = co_await connectAny(std::move(addresses));
    }
    Future<std::string> rest() override { return worksAgain(); }
};

class Accepts final : public Listening {
public:
    Future<Void> others() override {
        co_await delay(kPause);
        client_ = co_await transport().connect(address_);
        co_await client_->write("hello"_sr);
        client_->shutdownWrite();
    }
    Future<Void> operation() override { connection_ = co_await listener_->accept(); }
    Future<std::string> rest() override {
        if (!connection_)
            connection_ = co_await listener_->accept();
        std::string text = co_await readAll(connection_);
        co_return differs(text, "hello");
    }

private:
    Reference<Connection> client_;
};

/// Each byte is read once, by the operation or after it.
class Reads : public Connected {
public:
    Future<Void> others() override {
        for (int i = 0; i < 3; ++i) {
            co_await delay(kPause);
            std::string piece = pieces_[i];
            co_await pair_.client->write(StringRef(piece));
        }
        pair_.client->shutdownWrite();
    }
    Future<Void> operation() override {
        while (text_.size() < 12)
            co_await readOne();
    }
    Future<std::string> rest() override {
        std::string more = co_await readAll(pair_.server);
        co_return differs(text_ + more, "one;two;six;");
    }

protected:
    virtual Future<Void> readOne() = 0;
    void add(Bytes const& bytes) { text_ += bytes.toString(); }

    std::string text_;
    char room_[5];

private:
    const char* pieces_[3] = {"one;t", "wo;s", "ix;"};
};

class ReadsSome final : public Reads {
    Future<Void> readOne() override {
        Bytes bytes = co_await pair_.server->read();
        add(bytes);
    }
};
class ReadsInto final : public Reads {
    Future<Void> readOne() override {
        std::size_t count = co_await pair_.server->readSome(std::span(room_));
        text_.append(room_, count);
    }
};
class ReadsScattered final : public Reads {
    Future<Void> readOne() override {
        std::size_t count = co_await pair_.server->readSome(buffers_);
        text_.append(room_, std::min<std::size_t>(count, 2));
        text_.append(room_ + 2, count - std::min<std::size_t>(count, 2));
    }

    std::span<std::uint8_t> const buffers_[2] = {{reinterpret_cast<std::uint8_t*>(room_), 2},
                                                 {reinterpret_cast<std::uint8_t*>(room_) + 2, 3}};
};
class ReadsExactly final : public Reads {
    Future<Void> readOne() override {
        Bytes bytes = co_await pair_.server->readExactly(4);
        add(bytes);
    }
};
class ReadsUntil final : public Reads {
    Future<Void> readOne() override {
        Bytes bytes = co_await pair_.server->readUntil(";"_sr, 100);
        add(bytes);
    }
};
class ReadsInRace final : public Reads {
    Future<Void> readOne() override {
        auto first = co_await race(delay(kPause / 2), pair_.server->read());
        if (first.index() == 1)
            add(std::get<1>(first));
    }
};

/// In a child of a child: a time limit, or a cancel of the root, reaches what waits for bytes.
class ReadsInTree final : public Reads {
    Task<> read(Context) {
        Bytes bytes = co_await pair_.server->read();
        add(bytes);
    }
    Fork<> readInTime(Context) {
        Context here = co_await context();
        try {
            co_await timeoutError(here, read(here), kPause / 2);
        } catch (Error const& error) {
            if (error != timed_out())
                throw;
        }
    }
    Task<> root(Context) {
        Fork<> child = readInTime(co_await context());
        co_await child;
    }
    Future<Void> readOne() override { return start(root(Environment())); }
};

/// Each write that has begun arrives as a whole.
class Writes final : public Connected {
public:
    Future<Void> others() override {
        received_ = readAll(pair_.server);
        co_await success(received_);
    }
    Future<Void> operation() override {
        while (begun_ < 3) {
            ++begun_;
            std::string text(kSize, static_cast<char>('0' + begun_));
            co_await pair_.client->write(StringRef(text));
        }
    }
    Future<std::string> rest() override {
        std::string wanted;
        for (int i = 1; i <= begun_; ++i)
            wanted.append(kSize, static_cast<char>('0' + i));
        pair_.client->shutdownWrite();
        if (!received_.isValid())
            received_ = readAll(pair_.server);
        std::string found = co_await received_;
        co_return differs(found, wanted);
    }

private:
    static constexpr std::size_t kSize = 150'000; // above the high water mark
    int begun_ = 0;
    Future<std::string> received_;
};
class Datagrams : public Scene {
public:
    Future<Void> prepare() override {
        sender_ = transport().bind(Address());
        receiver_ = transport().bind(transport().localAddress());
        return Void();
    }

protected:
    Future<Void> sendOne() {
        std::string text = std::to_string(++sent_);
        co_await sender_->send(receiver_->localAddress(), StringRef(text));
    }
    Future<Void> receiveOne() {
        Datagram datagram = co_await receiver_->receive();
        text_ += datagram.bytes.toString();
    }
    Future<std::string> receiveRest() {
        while (text_.size() < static_cast<std::size_t>(sent_))
            co_await receiveOne();
        co_return differs(text_, std::string("123").substr(0, static_cast<std::size_t>(sent_)));
    }

    int sent_ = 0;
    std::string text_;
    Reference<DatagramSocket> sender_, receiver_;
};
class Receives final : public Datagrams {
public:
    Future<Void> others() override {
        for (int i = 0; i < 3; ++i) {
            co_await delay(kPause);
            co_await sendOne();
        }
        all_.send(Void());
    }
    Future<Void> operation() override {
        while (text_.size() < 3)
            co_await receiveOne();
    }
    Future<std::string> rest() override {
        co_await all_.getFuture();
        std::string wrong = co_await receiveRest();
        co_return wrong;
    }

private:
    Promise<Void> all_;
};
class Sends final : public Datagrams {
public:
    Future<Void> operation() override {
        while (sent_ < 3) {
            co_await sendOne();
            co_await delay(kPause);
        }
    }
    Future<std::string> rest() override { return receiveRest(); }
};

class Resolves final : public Scene {
public:
    Future<Void> prepare() override { return Void(); }
    Future<Void> operation() override { found_ = co_await transport().resolver().resolve(kSceneName, 7); }
    Future<std::string> rest() override {
        std::vector<Address> again = co_await transport().resolver().resolve(kSceneName, 7);
        if (!found_.empty() && found_ != again)
            co_return "two answers";
        co_return again.size() == 1 && again[0].port() == 7 ? std::string() : std::string("no answer");
    }

private:
    std::vector<Address> found_;
};

/// All that it serves ends with it.
class Serves final : public Scene {
public:
    Future<Void> prepare() override {
        listener_ = transport().listen(transport().localAddress());
        address_ = listener_->localAddress();
        return Void();
    }
    Future<Void> others() override {
        for (int i = 0; i < 2; ++i)
            (void)co_await tryGet(ask());
    }
    Future<Void> operation() override {
        return serveUntil(std::move(listener_), echoOnce, Future<Void>(delay(2 * kPause)), kPause);
    }
    Future<std::string> rest() override {
        listener_ = Reference<Listener>(); // if it was never served
        Error refused = co_await endOf(transport().connect(address_));
        co_return refused == connection_refused() ? std::string() : "somebody listens: " + std::string(refused.name());
    }

private:
    Future<Void> ask() {
        Reference<Connection> client = co_await transport().connect(address_);
        co_await askTimes(client, 3);
        co_await delay(kPause);
    }

    Reference<Listener> listener_;
    Address address_;
};

/// Each message is received once, in order.
class Messages : public Scene {
public:
    Future<Void> prepare() override {
        MessageOptions few;
        few.sndHwm = few.rcvHwm = 1;
        push_ = std::make_unique<MessageSocket>(SocketType::Push, few);
        pull_ = std::make_unique<MessageSocket>(SocketType::Pull, few);
        push_->connect(pull_->bind("tcp://" + transport().localAddress().withPort(0).toString()));
        return Void();
    }

protected:
    /// Counts it when it has been sent. Until then it is left as it was.
    Future<Void> sendOne() {
        if (next_.isEmpty())
            next_.add(std::to_string(sent_ + 1));
        co_await push_->send(next_);
        ++sent_;
    }
    Future<Void> receiveOne() {
        Message message = co_await pull_->receive();
        for (std::string_view part : message)
            text_ += part;
    }
    Future<std::string> exchangeRest() {
        while (sent_ < 3 || text_.size() < 3) {
            if (sent_ < 3)
                co_await sendOne();
            if (text_.size() < static_cast<std::size_t>(sent_))
                co_await receiveOne();
        }
        co_return differs(text_, "123");
    }

    int sent_ = 0;
    Message next_;
    std::string text_;
    std::unique_ptr<MessageSocket> push_, pull_;
};
class ReceivesMessages final : public Messages {
public:
    Future<Void> others() override {
        while (sent_ < 3) {
            co_await sendOne();
            co_await delay(kPause);
        }
        all_.send(Void());
    }
    Future<Void> operation() override {
        while (text_.size() < 3)
            co_await receiveOne();
    }
    Future<std::string> rest() override {
        while (text_.size() < 3)
            co_await receiveOne();
        co_await all_.getFuture();
        co_return differs(text_, "123");
    }

private:
    Promise<Void> all_;
};
class SendsMessages final : public Messages {
public:
    Future<Void> others() override {
        co_await delay(3 * kPause);
        co_await receiveOne();
    }
    Future<Void> operation() override {
        while (sent_ < 3) {
            co_await sendOne();
            co_await delay(kPause);
        }
    }
    Future<std::string> rest() override { return exchangeRest(); }
};

template <class S>
std::unique_ptr<Scene> makeScene() {
    return std::make_unique<S>();
}

} // namespace

std::vector<SceneKind> const& sceneKinds() {
    static const std::vector<SceneKind> kinds{
        {"connect", makeScene<Connects>},
        {"connect to a name", makeScene<ConnectsToName>},
        {"connectAny", makeScene<ConnectsToAny>},
        {"accept", makeScene<Accepts>},
        {"read", makeScene<ReadsSome>},
        {"readSome", makeScene<ReadsInto>},
        {"readSome into several buffers", makeScene<ReadsScattered>},
        {"readExactly", makeScene<ReadsExactly>},
        {"readUntil", makeScene<ReadsUntil>},
        {"read in a race", makeScene<ReadsInRace>},
        {"read in a tree of tasks", makeScene<ReadsInTree>},
        {"write", makeScene<Writes>},
        {"receive of datagrams", makeScene<Receives>},
        {"send of datagrams", makeScene<Sends>},
        {"resolve", makeScene<Resolves>},
        {"serveUntil", makeScene<Serves>},
        {"receive of messages", makeScene<ReceivesMessages>},
        {"send of messages", makeScene<SendsMessages>},
    };
    return kinds;
}

} // namespace flow::test
