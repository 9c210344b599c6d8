// Template actors: at namespace scope, in classes, forward-declared, with default arguments, for Void.
#include "flow/sim.h"
#include "trace.h"
#include <array>

#include "flow/actorcompiler.h"

ACTOR template <class T, int N = 2>
Future<std::array<T, N>> repeat(Future<T> f);

ACTOR template <class T>
Future<T> identity(Future<T> f) {
    T value = wait(f);
    return value;
}

ACTOR template <class T>
Future<T> orElse(Future<T> f, T fallback) {
    try {
        T value = wait(f);
        return value;
    } catch (Error& e) {
        say("fallback for %s", e.name());
    }
    return fallback;
}

ACTOR template <class T, int N>
Future<std::array<T, N>> repeat(Future<T> f) {
    state std::array<T, N> all;
    state T value = wait(f);
    all.fill(value);
    return all;
}

ACTOR template <class T>
Future<T> after(double seconds, T value) {
    wait(delay(seconds));
    return value;
}

// Only one of the branches exists in each instantiation, with its waits.
ACTOR template <class T>
Future<T> doubled(Future<T> f) {
    state Token s("s");
    if constexpr (std::is_same_v<T, int>) {
        state int x = wait(f);
        wait(delay(1));
        say("an int at %g", now());
        return x * 2;
    } else {
        Token local("local");
        T x = wait(f);
        return x + x;
    }
}

ACTOR template <class T>
Future<Void> conditional(bool doesWait) {
    Token a("a");
    if constexpr (sizeof(T) == 1) {
        if (doesWait) {
            wait(delay(1));
            say("waited");
        } else {
            say("did not wait");
        }
    } else {
        say("large");
    }
    say("end");
    return Void();
}

// The dots belong to the template that is the parameter.
ACTOR template <template <class...> class Container, class T>
Future<Container<T>> twice(Future<T> f) {
    T value = wait(f);
    return Container<T>(2, value);
}

template <class T>
class Slot {
public:
    explicit Slot(T value) : value_(value) {}

    ACTOR static Future<T> get(Slot* self) {
        wait(delay(1));
        return self->value_;
    }
    ACTOR static Future<Void> set(Slot* self, Future<T> from) {
        T value = wait(from);
        self->value_ = value;
        return Void();
    }
    ACTOR template <class U>
    static Future<U> convert(Slot* self, U zero) {
        wait(delay(1));
        return zero + U(self->value_);
    }

private:
    T value_;
};

ACTOR template <class T>
void announce(Future<T> f, const char* name) {
    T value = wait(f);
    say("%s: %d", name, int(value));
}

int main() {
    SimLoop sim;
    say("%d", sim.run(identity<int>(3)));
    say("%s", sim.run(identity<std::string>(std::string("text"))).c_str());
    say("%d", sim.run(orElse<int>(timed_out(), 4)));
    say("%d", sim.run(repeat(Future<int>(5)))[1]);
    say("%d", sim.run(repeat<int, 7>(6))[6]);
    sim.run(after(1, Void()));
    say("%g after %g", sim.run(after(1.0, 2.5)), 0.0);
    say("--");
    say("%d", sim.run(doubled<int>(4)));
    say("%s", sim.run(doubled<std::string>(std::string("ab"))).c_str());
    say("--");
    sim.run(conditional<char>(true));
    sim.run(conditional<char>(false));
    sim.run(conditional<int>(true));
    say("%zu", sim.run(twice<std::vector>(Future<int>(5))).size());
    say("--");
    Slot<int> cell(8);
    say("%d", sim.run(Slot<int>::get(&cell)));
    sim.run(Slot<int>::set(&cell, 9));
    say("%g", sim.run(Slot<int>::convert(&cell, 0.5)));
    announce<long>(10L, "ten");
}
