// ask HOST:PORT [--connections COUNT]: sends each line of the input as a request, and prints the answers in the order
// of the requests. At most COUNT connections are open at a time, by default 4.
//
//     $ echo 4500 &
//     $ seq 1000 | ask 127.0.0.1:4500

#include "net/connect.h"
#include "net/examples/program.h"
#include "net/pool.h"

#include <iostream>

using namespace flow;
using namespace flow::net;

namespace {

Future<Bytes> ask(Pool<>* pool, Bytes question) {
    Pool<>::Lease lease = co_await pool->acquire();
    co_await lease->write(question);
    Bytes answer = co_await lease->readUntil("\n"_sr, 1 << 20);
    lease.giveBack();
    co_return answer;
}

Future<Void> askAll(NameAndPort to, std::size_t connections, std::vector<Bytes> questions) {
    Pool<> pool([to] { return connect(to.name, to.port); }, {.most = connections, .waiters = questions.size()});
    std::vector<Future<Bytes>> answers;
    for (Bytes const& each : questions)
        answers.push_back(ask(&pool, each));
    for (Future<Bytes>& each : answers) {
        Bytes answer = co_await each;
        std::fwrite(answer.begin(), 1, static_cast<std::size_t>(answer.size()), stdout);
    }
}

} // namespace

int main(int argc, char** argv) {
    return runExample(argc, argv, "HOST:PORT [--connections COUNT]", 1, 3, [](Arguments arguments) {
        Options options = takeOptions(arguments, 1, {"--connections"});
        auto to = parseNameAndPort(arguments[0]);
        if (!to || to->port == 0)
            throw WrongArgument{"this is no host with a port: " + arguments[0]};
        auto connections = parseNumber<std::size_t>(options.contains("--connections") ? options["--connections"] : "4");
        if (connections.value_or(0) == 0)
            throw WrongArgument{"this is no number of connections: " + options["--connections"]};
        std::vector<Bytes> questions;
        for (std::string line; std::getline(std::cin, line);)
            questions.push_back(StringRef(line + "\n"));
        return askAll(*to, *connections, questions);
    });
}
