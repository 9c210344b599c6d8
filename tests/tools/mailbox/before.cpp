#include "flow/bench.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace flow;

namespace {

struct Letter {
    std::string to;
    std::string text;
};

bool const logs = std::getenv("LOGS") != nullptr;

Future<std::size_t> deliver(FutureStream<Letter> letters, std::int64_t count) {
    std::size_t bytes = 0;
    for (; count > 0; --count) {
        Letter letter = co_await letters;
        if (logs)
            std::printf("to %s: %s\n", letter.to.c_str(), letter.text.c_str());
        bytes += letter.text.size();
    }
    co_return bytes;
}

BENCHMARK_CASE("/mailbox/deliver", n) {
    PromiseStream<Letter> letters;
    Future<std::size_t> delivered = deliver(letters.getFuture(), n);
    Benchmark::start();
    for (; n > 0; --n) {
        letters.send({"Ada Lovelace", "the engine weaves algebraic patterns"});
        co_await delay(0);
    }
    std::size_t bytes = co_await delivered;
    Benchmark::keep(bytes);
}

} // namespace
