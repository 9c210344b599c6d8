// Every construct of the actor language; the robustness test damages it.
#include "flow/actor/keywords.h"

#if defined(A) && \
    defined(B)
struct Outer {
#else
struct Outer : Base<int, 'x'> {
#endif
    ACTOR static Future<Void> member(Outer* self, std::map<int, long> const& m = { { 1, 2 } });

    ACTOR template <class T, int N = (1 > 2)>
    [[flow_allow_discard]] static UNCANCELLABLE Future<std::vector<T>> nested(T value, std::string name = "a,b") {
        state std::vector<std::vector<T>> all{ { value } };
        state int count(N);
        wait(delay(1'000.0));
        return all[count];
    }
};

const char* raw = R"x( ACTOR Future<Void> no() { )x";

ACTOR Future<Void> Outer::member(Outer* self, std::map<int, long> const& m) {
    state int i = 0;
    state Future<Void> done = self->done.getFuture();
    auto n = V{ 1, 2 }.size();
    int l = [&](int x) -> int { return x + n; }(3);
    for (state int k = 0; k < 3; ++k) {
        try {
            choose {
                when(wait(done)) { return Void(); }
                when(state int r = waitNext(self->stream.getFuture())) { i += r; }
                when(Error e = wait(self->failed)) throw e;
            }
        } catch (const Error& e) {
            if (e.code() == error_code_actor_cancelled) throw;
            wait(self->onError(e));
        }
    }
    for (auto& [key, value] : m) {
        if (value)continue; else if (key) break; else { }
        wait(delay(key)); /* a comment */
    }
    switch (i) { case 1: log("one"); break; default: { throw io_error(); } }
    do { i--; } while (i > 0);
    loop choose { when(int x = wait(self->next())) { if (x < i && i > x) break; } }
    while (true) {
        std::pair<A, B> p = wait(both(a, b));
        condition.wait(lock);
        if (p.first) return Never();
    }
}

ACTOR void detached(Future<Void> f) {
    wait(f);
    struct Local { int get() { return 1; } } local, *pointer;
    EACH(x, local) { use(x); }
}
