// What an actor may stand in, and what it may reach there: classes with every kind of head, private members, templates.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

#define EXPORT __attribute__((visibility("default")))

struct [[maybe_unused]] alignas(16) Plain final {
    ACTOR static Future<int> f(Plain* self) { wait(delay(1)); return self->value_; }
    ACTOR static Future<int> g(Plain* self);
    ACTOR template <class T>
    static Future<T> h(Plain* self, T add);
    ACTOR template <class T, int N = 3>
    static Future<T> inside(Plain* self, T add) { wait(delay(N)); return self->value_ + add + hidden(); }
private:
    static int hidden() { return 1000; }
    int value_ = 1;
};
ACTOR Future<int> Plain::g(Plain* self) { wait(delay(1)); return self->value_ + hidden(); }
ACTOR template <class T>
Future<T> Plain::h(Plain* self, T add) { wait(delay(1)); state T sum = self->value_ + add; wait(delay(1)); return sum + hidden(); }

class EXPORT Outer {
public:
    class Inner;
    union U {
        int a; float b;
        ACTOR static Future<int> u(int x) { wait(delay(1)); return x; }
    };
    struct Base { int base = 5; };
};
class Outer::Inner final : public Outer::Base {
    ACTOR Future<int> secret(Inner* self, int x = 4);
    int value = 3;
public:
    ACTOR static Future<int> open(Inner* self) { int x = wait(self->secret(self)); return x; }
    Future<int> call() { return open(this); }
};
ACTOR Future<int> Outer::Inner::secret(Inner* self, int x) { wait(delay(1)); return self->value * x + self->base; }

template <class K, class V = int>
class Map {
    V value_{};
public:
    explicit Map(V v) : value_(v) {}
    ACTOR static Future<V> get(Map* self) { wait(delay(1)); return self->value_; }
    ACTOR static Future<Void> set(Map* self, K key, V value) { wait(delay(1)); self->value_ = value + key; return Void(); }
};
template <> class Map<char, long> {
public:
    ACTOR static Future<long> get(Map* self) { wait(delay(1)); return 77; }
};
template <class> struct Declared;
template <class T> struct Declared { ACTOR static Future<int> one() { wait(delay(1)); return sizeof(T); } };

namespace {
ACTOR Future<int> hiddenOne() { wait(delay(1)); return 1; }
}
namespace a::b {
ACTOR static Future<int> overloaded(int x) { wait(delay(1)); return x; }
ACTOR static Future<int> overloaded(long x) { wait(delay(1)); return int(x) * 2; }
}
extern "C++" {
ACTOR Future<int> linked() { wait(delay(1)); return sizeof(char); }
}
int main() {
    SimLoop sim;
    Plain p;
    say("%d %d %d %g", sim.run(Plain::f(&p)), sim.run(Plain::g(&p)), sim.run(Plain::h<int>(&p, 7)), sim.run(Plain::inside<double>(&p, 0.5)));
    Outer::Inner inner;
    say("%d %d", sim.run(inner.call()), sim.run(Outer::U::u(3)));
    Map<int> m(3);
    sim.run(Map<int>::set(&m, 3, 4));
    Map<char, long> ml;
    say("%d %ld %d", sim.run(Map<int>::get(&m)), sim.run(Map<char, long>::get(&ml)), sim.run(Declared<short>::one()));
    say("%d %d %d %d", sim.run(hiddenOne()), sim.run(a::b::overloaded(1)), sim.run(a::b::overloaded(2L)), sim.run(linked()));
}
