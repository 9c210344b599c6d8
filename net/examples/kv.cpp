// kv: a replicated key-value store, net/examples/kv, as processes.
//
//     $ mkdir a b c
//     $ kv serve 0 a 127.0.0.1:4500,127.0.0.1:4501,127.0.0.1:4502 &
//     $ kv serve 1 b 127.0.0.1:4500,127.0.0.1:4501,127.0.0.1:4502 &
//     $ kv serve 2 c 127.0.0.1:4500,127.0.0.1:4501,127.0.0.1:4502 &
//     $ kv ask 127.0.0.1:4500,127.0.0.1:4501,127.0.0.1:4502
//     put colour dark blue
//     OK
//     get colour
//     VALUE dark blue
//
// A server has a number, from 0. It listens at the address with that number in the list, and keeps its journal in the
// directory. SIGTERM, SIGINT or even SIGKILL may end a server: when a majority runs again, all acknowledged changes are
// still there. `ask` reads requests from its input, and prints each reply as soon as it is certain:
//
//     get KEY                -> VALUE ... or NONE
//     put KEY VALUE          -> OK
//     remove KEY             -> OK
//     replace KEY OLD NEW    -> OK, or DIFFERENT if the value is not OLD; OLD has no spaces
//
// tools/cluster starts and watches the servers.

#include "net/examples/kv/client.h"
#include "net/examples/program.h"

#include <iostream>

using namespace flow;
using namespace kv;

namespace {

constexpr char const* kUsage = "serve ID DIRECTORY ADDRESS,ADDRESS,... | ask ADDRESS,ADDRESS,...";

std::vector<net::Address> addressesOf(std::string const& list) {
    std::vector<net::Address> addresses;
    for (std::size_t begin = 0; begin <= list.size();) {
        std::size_t end = std::min(list.find(',', begin), list.size());
        std::string text = list.substr(begin, end - begin);
        net::ParsedAddress address = net::Address::parse(text);
        if (!address)
            throw WrongArgument{"this is no address: " + text};
        addresses.push_back(*address);
        begin = end + 1;
    }
    return addresses;
}

/// Prints the actions of the server, for people and for tools/cluster.
class Printer final : public Witness {
public:
    void recovers(int, std::uint64_t term, int, std::uint64_t lastIndex) override {
        line("recovered %llu entries, term %llu", lastIndex, term);
    }
    void leads(int, std::uint64_t term) override {
        isLeader_ = true;
        term_ = term;
        line("leader of term %llu", term, 0);
    }
    void promises(int, std::uint64_t term, int, std::uint64_t) override {
        if (term == term_)
            return;
        term_ = term;
        line(std::exchange(isLeader_, false) ? "no leader any more, term %llu" : "term %llu", term, 0);
    }
    void executes(int, std::uint64_t index, Entry const&, bool) override { executed_ = index; }

    Future<Void> report() {
        for (std::uint64_t before = 0;; before = executed_) {
            co_await delay(0.5);
            if (executed_ != before)
                line("executed %llu entries", executed_, 0);
        }
    }

private:
    template <class... Numbers>
    void line(char const* text, Numbers... numbers) {
        std::printf("%s\n", format(text, static_cast<unsigned long long>(numbers)...).c_str());
        std::fflush(stdout);
    }

    std::uint64_t term_ = 0, executed_ = 0;
    bool isLeader_ = false;
};

Future<Void> serveOne(int id, std::string directory, std::vector<net::Address> addresses) {
    co_await files().makeDirectory(directory);
    Reference<AsyncFile> lock = co_await files().open(directory + "/lock", OpenMode::Create);
    bool isMine = co_await lock->tryLock(); // held until this function ends
    if (!isMine)
        throw operation_failed().withSentence(directory + ": another server keeps its journal here");
    Printer printer;
    Future<int> stop = keep(signals({SIGTERM, SIGINT}));
    Future<Void> serving = runServer({.id = id,
                                      .servers = static_cast<int>(addresses.size()),
                                      .addresses = addresses,
                                      .listenAt = addresses[static_cast<std::size_t>(id)],
                                      .journal = directory + "/journal",
                                      .witness = &printer});
    if (!serving.isReady()) // otherwise the server cannot listen
        std::printf("listening at %s\n", addresses[static_cast<std::size_t>(id)].toString().c_str());
    std::fflush(stdout);
    Scope scope;
    scope.spawn(std::move(serving));
    scope.spawn(printer.report());
    co_await race(stop, scope.join());
}

std::string word(std::string& rest) {
    std::size_t end = rest.find(' ');
    std::string first = rest.substr(0, end);
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
    return first;
}

Optional<Request> parse(std::string line) {
    std::string verb = word(line);
    Request request;
    request.key = word(line);
    if (request.key.empty())
        return {};
    if (verb == "get" && line.empty())
        return request;
    request.verb = Verb::Remove;
    if (verb == "remove" && line.empty())
        return request;
    request.verb = Verb::Put;
    if (verb == "replace") {
        request.verb = Verb::CompareAndSet;
        request.expected = word(line);
    } else if (verb != "put") {
        return {};
    }
    request.value = line;
    return request;
}

Future<std::string> replyTo(StoreClient& client, std::string line) {
    Optional<Request> request = parse(std::move(line));
    if (!request.present())
        co_return "ERROR get KEY, put KEY VALUE, remove KEY, replace KEY OLD NEW";
    ErrorOr<Reply> reply = co_await tryGet(client.ask(request.get()));
    if (reply.isError())
        co_return std::string("ERROR ") + reply.getError().what();
    if (request.get().verb == Verb::Get)
        co_return reply.get().value.present() ? "VALUE " + reply.get().value.get() : "NONE";
    co_return reply.get().succeeded ? "OK" : "DIFFERENT";
}

/// The loop runs only during a request: no code of the client runs between two requests.
int ask(std::vector<net::Address> addresses) {
    RealLoop loop;
    StoreClient client(std::move(addresses), nondeterministicRandom()->randomUniqueID().first());
    for (std::string line; std::getline(std::cin, line);)
        std::cout << loop.run(replyTo(client, line)) << std::endl;
    return 0;
}

Future<Void> run(Arguments const& arguments) {
    std::vector<net::Address> addresses = addressesOf(arguments[3]);
    auto id = parseNumber<std::uint16_t>(arguments[1]);
    if (arguments[0] != "serve" || !id || *id >= addresses.size())
        throw WrongArgument{"the server's number is not one of the addresses': " + arguments[1]};
    return serveOne(*id, arguments[2], std::move(addresses));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3 || argv[1] != std::string("ask"))
        return runExample(argc, argv, kUsage, 4, 4, run);
    try {
        return ask(addressesOf(argv[2]));
    } catch (WrongArgument& wrong) {
        std::fprintf(stderr, "%s\n", wrong.text.c_str());
        return 2;
    } catch (Error& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}
