// For pending_report_test.cpp and error_place_test.cpp: actors at waits; the tests name their lines.
#include "flow/flow.h"
#include "tests/flow/inspect/pending_actors.h"

#include "flow/actorcompiler.h" // must be last

ACTOR Future<int> pendingAnswer(Future<int> const& question) {
    int answer = wait(question);
    return answer;
}

ACTOR Future<Void> pendingAsk(Future<int> question) {
    wait(delay(0));
    choose {
        when(int answer = wait(pendingAnswer(question))) {
            (void)answer;
        }
        when(wait(delay(2.5))) {}
    }
    return Void();
}

ACTOR Future<Void> pendingHold(FlowLock* first, FlowLock* second) {
    wait(first->take());
    state FlowLock::Releaser releaser(*first);
    wait(delay(1.0));
    wait(second->take());
    return Void();
}

ACTOR Future<Void> pendingTimesOut() {
    wait(timeoutError(Future<Void>(Never()), 0.001));
    return Void();
}

ACTOR Future<Void> pendingThrows() {
    wait(delay(0));
    throw io_error();
}

ACTOR Future<Void> pendingThrowsException() {
    wait(delay(0));
    throwException();
    return Void();
}
