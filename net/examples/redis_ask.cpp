// redis_ask PATH COMMAND...: sends a command to the Redis server at this Unix path, and prints the reply.
//
//     $ redis_ask /run/redis.sock incrby counter 5
//     5

#include "net/examples/program.h"
#include "net/examples/redis.h"

using namespace flow;
using namespace flow::net;

namespace {

Future<Void> ask(Arguments arguments) {
    Redis redis(arguments[0]);
    std::vector<std::string_view> words(arguments.begin() + 1, arguments.end());
    Reply reply = co_await redis.command(words);
    if (reply.type == REDIS_REPLY_INTEGER)
        std::printf("%lld\n", reply.number);
    else
        std::printf("%s\n", reply.type == REDIS_REPLY_NIL ? "(nil)" : reply.text.c_str());
    for (Reply const& part : reply.parts)
        std::printf("%s\n", part.text.c_str());
}

} // namespace

int main(int argc, char** argv) {
    return runExample(argc, argv, "PATH COMMAND...", 2, 100, ask);
}
