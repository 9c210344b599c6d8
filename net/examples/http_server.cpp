#include "net/examples/http_server.h"

#include "flow/flow.h"
#include "flow/threads/run_blocking.h"

using namespace flow;
using namespace flow::net;

namespace {

/// Fails if the client does not read the bytes in time.
Future<Void> send(Reference<Connection> client, std::string bytes, double seconds) {
    auto first = co_await race(client->write(StringRef(bytes)), delay(seconds));
    if (first.index() == 1)
        throw connection_timed_out();
}

/// Returns true if there is a request to answer.
Future<bool> receive(RequestReader* reader, Reference<Connection> client, double seconds, Event* ending) {
    double begin = now();
    Future<Void> told = keep(ending->wait());
    while (!reader->isWhole()) {
        if (reader->takeExpectation())
            co_await send(client, "HTTP/1.1 100 Continue\r\n\r\n", seconds);
        bool isLastCall = ending->isSet() && !reader->hasBegun();
        double deadline = begin + (isLastCall ? std::min(seconds, HttpLimits::kLastRequestSeconds) : seconds);
        auto first = co_await race(client->read(), delayUntil(deadline), told);
        if (first.index() == 2) {
            told = Never(); // a ready future would win every later race
            continue;
        }
        if (first.index() == 1) {
            if (!reader->hasBegun())
                co_return false;
            reader->refuse(408);
            break;
        }
        Bytes bytes = std::get<0>(std::move(first));
        if (bytes.empty())
            co_return false;
        reader->add(bytes);
    }
    co_return true;
}

Future<Void> sendFile(Reference<Connection> client, HttpResponse response, HttpLimits limits) {
    while (response.left != 0) {
        auto read = [file = response.file, offset = response.offset,
                     size = std::min(response.left, HttpLimits::kPart)] { return file->read(offset, size); };
        std::string part = co_await runBlocking(std::move(read));
        if (part.empty()) // the file has become shorter: the client must not take the bytes for the whole file
            throw io_error();
        response.offset += part.size();
        response.left -= part.size();
        co_await send(client, std::move(part), limits.idle);
    }
}

/// Reads and drops further bytes: with unread bytes, closing would reset the connection, and the answer might be lost.
Future<Void> drainInput(Reference<Connection> client) {
    client->shutdownWrite();
    double deadline = now() + HttpLimits::kRefusalSeconds;
    for (;;) {
        auto first = co_await race(client->read(), delayUntil(deadline));
        if (first.index() == 1 || std::get<0>(first).empty())
            co_return;
    }
}

} // namespace

Future<Void> serveHttp(std::shared_ptr<Site const> site, HttpLimits limits, Reference<Connection> client,
                       Event* ending) {
    RequestReader reader;
    for (;;) {
        bool hasRequest = co_await receive(&reader, client, limits.idle, ending);
        if (!hasRequest)
            co_return;
        HttpRequest request = reader.request();
        request.keepsAlive = request.keepsAlive && !ending->isSet();
        auto answer = [site, request] { return site->answer(request); };
        HttpResponse response = co_await runBlocking(std::move(answer));
        bool keepsAlive = response.keepsAlive;
        co_await send(client, response.header, limits.idle);
        co_await sendFile(client, std::move(response), limits);
        if (!keepsAlive)
            break;
        reader.next();
    }
    co_await drainInput(client);
}
