// A file without a fault, into which test_cascades.py puts one after the other.
#include "flow/flow.h"
#include "flow/actorcompiler.h"

struct Server {
    std::string name;

    ACTOR static Future<Void> serve(Server* self, FutureStream<Request> requests, Future<Void> stop) {
        state int count = 0;
        state std::vector<Future<Void>> running;
        loop {
            choose {
                when(Request r = waitNext(requests)) {
                    count++;
                    running.push_back(answer(self, r));
                    if (count > 100) {
                        wait(waitForAll(running));
                        running.clear();
                    }
                }
                when(wait(stop)) {
                    return Void();
                }
            }
        }
    }
};

ACTOR Future<int> retry(Database db, int limit) {
    state int attempt = 0;
    loop {
        try {
            state Transaction tr(db);
            state int value = wait(tr.get("key"));
            if (value < 0) {
                throw operation_failed();
            }
            wait(tr.commit());
            return value;
        } catch (Error& e) {
            if (e.code() == error_code_actor_cancelled || attempt++ > limit) throw;
            wait(delay(0.1 * attempt));
        }
    }
}

ACTOR void logger(Future<Void> stop) {
    state double start = now();
    while (now() < start + 10) {
        wait(stop || delay(1));
        printf("%f\n", now() - start);
    }
}

ACTOR Future<Void> sum(std::vector<Future<int>> all) {
    state int total = 0;
    for (auto& f : all) {
        int one = wait(f);
        total += one;
    }
    auto report = [](int n) { printf("%d\n", n); };
    report(total);
    return Void();
}
