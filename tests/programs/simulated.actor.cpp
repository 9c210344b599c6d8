// A simulated cluster with actors that wait in every way, under several seeds: the digests of its runs are the same for
// every back end, compiler and machine.
#include "flow/sim/world.h"
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

ACTOR Future<int> guess(int most, double seconds) {
    wait(delay(seconds));
    if (deterministicRandom()->random01() < 0.1)
        throw operation_failed();
    return deterministicRandom()->randomInt(0, most);
}

ACTOR Future<int> guessUntil(int least) {
    state int tries = 0;
    loop {
        try {
            int found = wait(guess(100, 0.01 * deterministicRandom()->random01()));
            if (found >= least || ++tries == 20)
                return found;
        } catch (Error& e) {
            if (e.code() != error_code_operation_failed)
                throw;
            wait(delay(0.1));
        }
    }
}

ACTOR Future<Void> produce(PromiseStream<int> out, int count) {
    state int i = 0;
    for (; i < count; i++) {
        int number = wait(guessUntil(50));
        out.send(number);
        if (buggify())
            wait(delay(1));
    }
    throw end_of_stream();
}

ACTOR Future<Void> serve(int producers) {
    state PromiseStream<int> numbers;
    state FutureStream<int> all = numbers.getFuture();
    state std::vector<Future<Void>> running;
    state int sum = 0;
    state Future<Void> report = delay(0.5);
    for (int i = 0; i < producers; i++)
        running.push_back(produce(numbers, 20));
    state Future<Void> ended = waitForAll(running);
    loop choose {
        when(int number = waitNext(all)) { sum += number; }
        when(wait(report)) {
            sum += deterministicRandom()->randomInt(0, 10);
            report = delay(0.5);
            wait(yield());
        }
        when(wait(ended)) { FLOW_ASSERT_TRUE(false); }
    }
}

ACTOR Future<Void> pass(double seconds) {
    wait(delay(seconds));
    return Void();
}

uint64_t digestOf(uint64_t seed) {
    World world(seed, Faults::swarm(seed));
    for (int i = 1; i <= 4; ++i)
        world.start({.name = "p", .main = [i] { return serve(i); }, .restartAfter = 0.5});
    world.run(pass(60));
    return world.digest();
}

int main() {
    for (uint64_t seed = 0; seed < 20; ++seed)
        say("%d: %016llx", int(seed), (unsigned long long)digestOf(seed));
}
