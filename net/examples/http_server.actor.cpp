#include "net/examples/http_server.h"

#include "flow/flow.h"
#include "flow/threads/run_blocking.h"

#include "flow/actorcompiler.h"

using namespace flow;
using namespace flow::net;

/// Fails if the client does not read the bytes in time.
ACTOR static Future<Void> send(Reference<Connection> client, std::string bytes, double seconds) {
    choose {
        when(wait(client->write(StringRef(bytes)))) {}
        when(wait(delay(seconds))) {
            throw connection_timed_out();
        }
    }
    return Void();
}

/// Returns true if there is a request to answer.
ACTOR static Future<bool> receive(RequestReader* reader, Reference<Connection> client, double seconds, Event* ending) {
    state double begin = now();
    state Future<Void> told = keep(ending->wait());
    while (!reader->isWhole()) {
        if (reader->takeExpectation())
            wait(send(client, "HTTP/1.1 100 Continue\r\n\r\n", seconds));
        bool isLastCall = ending->isSet() && !reader->hasBegun();
        double deadline = begin + (isLastCall ? std::min(seconds, HttpLimits::kLastRequestSeconds) : seconds);
        choose {
            when(Bytes bytes = wait(client->read())) {
                if (bytes.empty())
                    return false;
                reader->add(bytes);
            }
            when(wait(delayUntil(deadline))) {
                if (!reader->hasBegun())
                    return false;
                reader->refuse(408);
            }
            when(wait(told)) {
                told = Never(); // a ready future would be chosen in every later choose
            }
        }
    }
    return true;
}

ACTOR static Future<Void> sendFile(Reference<Connection> client, HttpResponse response, HttpLimits limits) {
    state std::uint64_t offset = response.offset;
    state std::uint64_t left = response.left;
    while (left != 0) {
        std::string part =
            wait(runBlocking([file = response.file, offset = offset, size = std::min(left, HttpLimits::kPart)] {
                return file->read(offset, size);
            }));
        if (part.empty()) // the file has become shorter: the client must not take the bytes for the whole file
            throw io_error();
        offset += part.size();
        left -= part.size();
        wait(send(client, part, limits.idle));
    }
    return Void();
}

/// Reads and drops further bytes: with unread bytes, closing would reset the connection, and the answer might be lost.
ACTOR static Future<Void> drainInput(Reference<Connection> client) {
    state double deadline = now() + HttpLimits::kRefusalSeconds;
    client->shutdownWrite();
    loop choose {
        when(Bytes bytes = wait(client->read())) {
            if (bytes.empty())
                return Void();
        }
        when(wait(delayUntil(deadline))) {
            return Void();
        }
    }
}

ACTOR static Future<Void> serving(std::shared_ptr<Site const> site, HttpLimits limits, Reference<Connection> client,
                                  Event* ending) {
    state RequestReader reader;
    state bool keepsAlive = true;
    while (keepsAlive) {
        bool hasRequest = wait(receive(&reader, client, limits.idle, ending));
        if (!hasRequest)
            return Void();
        HttpRequest request = reader.request();
        request.keepsAlive = request.keepsAlive && !ending->isSet();
        state HttpResponse response =
            wait(runBlocking([site = site, request = request] { return site->answer(request); }));
        keepsAlive = response.keepsAlive;
        wait(send(client, response.header, limits.idle));
        wait(sendFile(client, response, limits));
        reader.next();
    }
    wait(drainInput(client));
    return Void();
}

Future<Void> serveHttp(std::shared_ptr<Site const> site, HttpLimits limits, Reference<Connection> client,
                       Event* ending) {
    return serving(site, limits, client, ending);
}
