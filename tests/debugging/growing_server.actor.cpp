// For flow/docs/debugging_a_leak.md: a server that needs more memory with each request, though each has been answered.
#include "flow/flow.h"
#include "flow/loop/real_loop.h"

#include <cstdio>

#include "flow/actorcompiler.h" // must be last

using namespace flow;

struct Request {
    int client;
    Promise<int> reply;
};

struct Server {
    PromiseStream<Request> requests;
    Trigger closed;
    Scope background;
};

ACTOR Future<Void> releaseWhenClosed(Server* server, Standalone<StringRef> session) {
    wait(server->closed.next());
    (void)session;
    return Void();
}

ACTOR Future<Void> answer(Server* server, Request request) {
    wait(delay(0));
    server->background.spawn(releaseWhenClosed(server, makeString(200)));
    request.reply.send(request.client + 1);
    return Void();
}

ACTOR Future<Void> serve(Server* server) {
    state FutureStream<Request> requests = server->requests.getFuture();
    loop {
        Request request = waitNext(requests);
        wait(answer(server, request));
    }
}

ACTOR Future<Void> runClient(Server* server, int count) {
    state int i = 0;
    for (; i < count; ++i) {
        Promise<int> reply;
        Future<int> replied = reply.getFuture();
        server->requests.send({i, reply});
        int found = wait(replied);
        if (found != i + 1)
            throw internal_error();
    }
    std::printf("all answered\n");
    std::fflush(stdout);
    wait(delay(600));
    return Void();
}

int main() {
    RealLoop real;
    Server server;
    Future<Void> serving = serve(&server);
    real.run(runClient(&server, 5000));
}
