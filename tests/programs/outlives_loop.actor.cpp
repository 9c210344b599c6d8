// Streams and actors that outlive the loop: what the end of the program resumes waits for ever, and nothing aborts.
#include "flow/sim.h"
#include "trace.h"

#include "flow/actorcompiler.h"

static PromiseStream<Promise<Void>> requests;

ACTOR Future<Void> ask(const char* name) {
    state Promise<Void> answer;
    state Future<Void> future = answer.getFuture();
    requests.send(answer);
    answer = Promise<Void>();
    try {
        wait(future);
    } catch (Error& e) {
        say("%s: %s at %d", name, e.name(), static_cast<int>(now()));
    }
    wait(yield());
    wait(delay(1));
    say("%s: this is never said", name);
    return Void();
}

int main() {
    SimLoop sim;
    // Kept by nothing that is destroyed before the stream.
    auto* kept = new std::vector<Future<Void>>;
    static std::vector<Future<Void>>* reachable = kept;
    reachable->push_back(ask("first"));
    reachable->push_back(ask("second"));
    sim.run();
    say("main ends");
}
