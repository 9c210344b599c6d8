// State machines for live_blocks_test.cpp, which ends them where they stand: in handlers, in a choose, in loops.
#include "flow/flow.h"

#include <string>
#include <vector>

#include "flow/actorcompiler.h" // This must be the last #include.

using namespace flow;

namespace live_blocks_actors {

std::vector<std::string> log_;

struct Named {
    Named() = default;
    explicit Named(std::string n) : name(std::move(n)) {}
    Named(Named const&) = default;
    Named(Named&& other) noexcept : name(std::exchange(other.name, "")) {}
    Named& operator=(Named const&) = default;
    ~Named() {
        if (!name.empty())
            log_.push_back(name);
    }
    std::string name;
};

ACTOR Future<Void> handles(Future<Void> what) {
    state Named first = Named("first");
    loop {
        try {
            state Named second = Named("second");
            wait(what);
        } catch (Error& e) {
            state Named third = Named("third");
            wait(what);
            log_.push_back("ran");
        }
    }
}

ACTOR Future<Void> inHandler(Future<Void> what) {
    state Named outer = Named("outer");
    try {
        wait(Future<Void>(operation_failed()));
    } catch (Error& e) {
        state Named inner = Named("inner");
        wait(what);
        log_.push_back("ran");
    }
    return Void();
}

ACTOR Future<Void> chooses(Future<Void> what, FutureStream<int> numbers) {
    state Named only = Named("only");
    loop choose {
        when(wait(what)) {
            log_.push_back("ran");
        }
        when(int n = waitNext(numbers)) {
            log_.push_back("ran " + std::to_string(n));
        }
        when(wait(delay(1))) {
            log_.push_back("ran");
        }
    }
}

ACTOR UNCANCELLABLE Future<Void> goesOn(Future<Void> what) {
    state Named kept = Named("kept");
    wait(what);
    log_.push_back("ran");
    return Void();
}

ACTOR void nobodyWaits(Future<Void> what) {
    state Named alone = Named("alone");
    wait(what);
    log_.push_back("ran");
}

} // namespace live_blocks_actors
