// FActor and FActorState<FActor> name what an actor becomes; programs add up their sizes.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

ACTOR Future<int> cheese(int n, Token token) {
    state char text[1000];
    text[0] = 'a';
    wait(delay(n));
    return text[0];
}

ACTOR Future<int> cheese(double seconds) {
    wait(delay(seconds));
    return 1;
}

ACTOR template <class T>
Future<T> kept(T value) {
    state std::vector<T> more;
    wait(delay(1));
    more.push_back(value);
    return more.back();
}

ACTOR Future<Void> fails(Future<Void> f) {
    wait(f);
    throw io_error();
}

namespace inner {
ACTOR Future<int> nested(int n) {
    state int twice = 2 * n;
    wait(delay(1));
    return twice;
}
size_t size() {
    return sizeof(NestedActorState<NestedActor>);
}
} // namespace inner

class Holder {
public:
    ACTOR static Future<int> held(Holder* self, int n) {
        state Future<Void> later = delay(1);
        wait(later);
        return n + self->one_;
    }
    static size_t size() { return sizeof(HeldActorState<HeldActor>); }

private:
    int one_ = 1;
};

ACTOR UNCANCELLABLE Future<Void> uncancelled(Future<Void> f) {
    wait(f);
    throw io_error();
}
static_assert(sizeof(UncancelledActorState<UncancelledActor>) == sizeof(Future<Void>));

template <class FActor, class FActorState>
void compares(const char* name, size_t held) {
    say("%s: %s, %s", name, sizeof(FActorState) >= held ? "all that it holds" : "too small",
        sizeof(FActor) > sizeof(FActorState) ? "and what runs it" : "nothing more");
}

int main() {
    SimLoop sim;
    compares<CheeseActor, CheeseActorState<CheeseActor>>("cheese", sizeof(int) + sizeof(Token) + 1000);
    compares<CheeseActor1, CheeseActor1State<CheeseActor1>>("cheese 1", sizeof(double));
    compares<KeptActor<int>, KeptActorState<int, KeptActor<int>>>("kept", sizeof(int) + sizeof(std::vector<int>));
    say("nested: %d", inner::size() == 2 * sizeof(int));
    say("held: %d", Holder::size() == sizeof(Holder*) + sizeof(int) + sizeof(Future<Void>) + 4);
    compares<FailsActor, FailsActorState<FailsActor>>("fails", sizeof(Future<Void>));
    say("%d", sim.run(cheese(1, Token("token"))));
    say("%d", sim.run(cheese(0.5)));
    say("%d", sim.run(kept(7)));
    say("%d", sim.run(inner::nested(2)));
    Holder holder;
    say("%d", sim.run(Holder::held(&holder, 3)));
    Future<Void> failed = fails(Void());
    say("%s", failed.getError().name());
}
