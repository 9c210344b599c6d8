// The healthy clients of the simulation "adversary": they ask again and again, and look at each answer.

#include "flow/base/format.h"
#include "flow/combine/errors.h"
#include "flow/combine/race.h"
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/transport.h"
#include "tests/sim/adversary/run.h"

#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

using namespace flow;
using namespace flow::net;

namespace adversary {
namespace {

/// One client of one service.
class Client {
public:
    Client(Run& run, std::string name) : run_(run), name_(std::move(name)) {}
    virtual ~Client() = default;

    /// Asks once, and fails if that fails. After an error reset() is called.
    virtual Future<Void> ask(std::string question) = 0;
    virtual void reset() = 0;

    Run& run() const { return run_; }
    std::string const& name() const { return name_; }
    void fail(std::string const& text) const { run_.world.fail(name_ + ": " + text); }
    void expect(std::string_view answer, std::string_view question) const {
        if (answer != question)
            fail("the answer is not that to the question");
    }

private:
    Run& run_;
    std::string name_;
};

Future<Void> askAgainAndAgain(std::unique_ptr<Client> client, std::string who) {
    Run& run = client->run();
    for (int number = 0; !run.isEnding; ++number) {
        std::string question = format("%s asks %d ", who.c_str(), number);
        question += std::string(static_cast<std::size_t>(deterministicRandom()->randomInt(0, 500)), 'q');
        double begin = now();
        auto first = co_await race(errorOr(client->ask(std::move(question))), delay(kPatience));
        bool isLate = first.index() == 1;
        bool isAnswered = !isLate && !std::get<0>(first).isError();
        if (isAnswered)
            ++run.answers[client->name()];
        else if (!run.mayFail(begin))
            client->fail(isLate ? "no answer in time"
                                : std::string("an error: ") + std::get<0>(first).getError().what());
        if (!isAnswered)
            client->reset();
        co_await delay(0.1 * deterministicRandom()->random01());
    }
    co_await Never(); // its idle connection lasts until the server ends it
}

class StreamClient : public Client {
public:
    using Client::Client;
    void reset() override { connection_ = {}; }

protected:
    Future<Reference<Connection>> connected(Port port) {
        if (!connection_)
            connection_ = co_await transport().connect(run().server.withPort(port));
        co_return connection_;
    }

private:
    Reference<Connection> connection_;
};

class EchoClient final : public StreamClient {
public:
    explicit EchoClient(Run& run) : StreamClient(run, "echo") {}
    /// Two reads wait for two texts, one of which comes, with more behind it.
    Future<Void> ask(std::string question) override {
        constexpr std::string_view kMore = "and more";
        Reference<Connection> connection = co_await connected(kEcho);
        question += deterministicRandom()->coinflip() ? "\r\n.\r\n" : "!";
        std::string sent = question + std::string(kMore);
        std::size_t part = sent.size() - static_cast<std::size_t>(deterministicRandom()->randomInt(0, 13));
        co_await connection->write(StringRef(sent.substr(0, part)));
        Future<Void> rest = writeLater(connection, sent.substr(part)); // so the text may come in two parts
        auto first =
            co_await race(connection->readUntil("\r\n.\r\n"_sr, 10'000), connection->readUntil("!"_sr, 10'000));
        co_await rest;
        Bytes answer = first.index() == 0 ? std::get<0>(first) : std::get<1>(first);
        expect(answer.toStringView(), question);
        Bytes more = co_await connection->readExactly(kMore.size());
        expect(more.toStringView(), kMore);
    }

private:
    static Future<Void> writeLater(Reference<Connection> connection, std::string rest) {
        co_await delay(0.01);
        if (!rest.empty())
            co_await connection->write(StringRef(rest));
    }
};

class HttpClient final : public StreamClient {
public:
    /// A slow client does not read for a while in the middle of some answers.
    HttpClient(Run& run, bool isSlow) : StreamClient(run, isSlow ? "slow http" : "http"), isSlow_(isSlow) {}

    Future<Void> ask(std::string) override {
        Reference<Connection> connection = co_await connected(kHttp);
        bool stalls = isSlow_ && deterministicRandom()->random01() < 0.3;
        std::string path = isSlow_ || deterministicRandom()->random01() < 0.2 ? "large" : "small";
        co_await connection->write(StringRef("GET /" + path + " HTTP/1.1\r\nHost: x\r\n\r\n"));
        ErrorOr<Void> read = co_await errorOr(readAnswer(connection, stalls));
        if (read.isError() && !stalls)
            throw read.getError();
        if (read.isError())
            reset(); // it was too slow
    }

private:
    Future<Void> readAnswer(Reference<Connection> connection, bool stalls) {
        ErrorOr<Bytes> read = co_await errorOr(keep(connection->readUntil("\r\n\r\n"_sr, 2000)));
        if (read.isError(error_code_connection_cut_off))
            fail("a clean end in the middle of a header");
        if (read.isError())
            throw read.getError();
        std::string header = read.get().toString();
        if (!header.starts_with("HTTP/1.1 200 OK\r\n"))
            co_return fail("a refusal");
        std::size_t place = header.find("Content-Length: ");
        std::size_t length = place == std::string::npos ? 0 : std::strtoul(header.c_str() + place + 16, nullptr, 10);
        std::size_t stallAt = stalls ? length / 3 : length;
        for (std::size_t have = 0; have < length;) {
            Bytes part = co_await connection->read();
            if (part.empty())
                co_return fail("a clean end in the middle of an answer");
            for (std::uint8_t letter : part)
                if (static_cast<char>(letter) != letterAt(have++))
                    co_return fail("a wrong byte");
            if (have >= stallAt && have < length) {
                stallAt = length;
                co_await delay(2 * kIdle);
            }
        }
        if (header.find("\r\nConnection: close\r\n") != std::string::npos)
            reset();
    }

    bool isSlow_;
};

/// A client of a ROUTER or a REP.
class MessageClient final : public Client {
public:
    MessageClient(Run& run, SocketType type, std::string id)
        : Client(run, type == SocketType::Req ? "REQ" : "DEALER"), type_(type), id_(std::move(id)) {
        MessageClient::reset();
    }
    Future<Void> ask(std::string question) override {
        co_await socket_->send(question);
        Message answer = co_await socket_->receive();
        expect(answer[0], question);
    }
    void reset() override {
        socket_ = std::make_unique<MessageSocket>(type_, messageOptions(id_));
        socket_->connect(endpoint(run().server, type_ == SocketType::Req ? kRep : kRouter));
    }

private:
    SocketType type_;
    std::string id_;
    std::unique_ptr<MessageSocket> socket_;
};

/// A subscriber: ask() waits for the next message.
class Follower final : public Client {
public:
    explicit Follower(Run& run) : Client(run, "SUB") { Follower::reset(); }
    Future<Void> ask(std::string) override {
        Message message = co_await socket_->receive();
        int number = std::atoi(std::string(message[1]).c_str());
        if (message[0] != "news" || number <= last_)
            fail("not what was subscribed to, or not in its order");
        last_ = number;
    }
    void reset() override {
        last_ = -1;
        socket_ = std::make_unique<MessageSocket>(SocketType::Sub, messageOptions());
        socket_->subscribe("news");
        socket_->connect(endpoint(run().server, kPub));
    }

private:
    int last_ = -1;
    std::unique_ptr<MessageSocket> socket_;
};

class RpcClient final : public Client {
public:
    explicit RpcClient(Run& run) : Client(run, "rpc") { RpcClient::reset(); }
    Future<Void> ask(std::string question) override {
        Ask asked;
        asked.text = question;
        std::string answer = co_await stream_.getReply(std::move(asked));
        expect(answer, question);
    }
    void reset() override {
        stream_ = RequestStream<Ask>(Endpoint::wellKnown({run().server.withPort(kRpc), {}}, kAsk));
    }

private:
    RequestStream<Ask> stream_;
};

} // namespace

Future<Void> runHealthy(Run& run, std::string name) {
    std::vector<Future<Void>> all;
    all.push_back(askAgainAndAgain(std::make_unique<EchoClient>(run), name));
    all.push_back(askAgainAndAgain(std::make_unique<HttpClient>(run, false), name));
    all.push_back(askAgainAndAgain(std::make_unique<HttpClient>(run, true), name));
    all.push_back(askAgainAndAgain(std::make_unique<MessageClient>(run, SocketType::Dealer, name), name));
    all.push_back(askAgainAndAgain(std::make_unique<MessageClient>(run, SocketType::Req, ""), name));
    all.push_back(askAgainAndAgain(std::make_unique<Follower>(run), name));
    all.push_back(askAgainAndAgain(std::make_unique<RpcClient>(run), name));
    co_await waitForAll(all);
}

} // namespace adversary
