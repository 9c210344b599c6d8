// What actorc accepts although it is wrong in C++, even with the keywords taken for macros: an editor marks it.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

struct Explicit {
    explicit Explicit(int v = 0) : v(v) {}
    int v;
};

/// Cannot be made before there is a value.
class Line {
public:
    explicit Line(const char* first) : text_(first) {}
    Line& add(std::string const& more) {
        text_ += " " + more;
        return *this;
    }
    const char* text() const { return text_.c_str(); }

private:
    std::string text_;
};

DESCR struct Sample {
    int bytes = 3; //size of the answer
};

// A leading state is initialised directly, whatever stands between it and its value.
ACTOR Future<int> leading(int k) {
    state Explicit value = k + 1;
    wait(delay(0));
    return value.v;
}

// A state is visible in the whole actor.
ACTOR Future<int> outside(int k) {
    {
        state int inner = k * 2;
        wait(delay(0));
    }
    wait(delay(0));
    return inner;
}

// The signature has `int const&`, unless it is migrated. A keyword is a name where it can be nothing else.
ACTOR Future<int> plain(int k) {
    int choose = k;
    wait(delay(choose));
    return k;
}

// What a lambda captures belongs to each call of it.
ACTOR Future<int> captured(int k) {
    auto add = ACTOR [k](int n) -> Future<int> {
        k += n;
        wait(delay(0));
        return k;
    };
    state Future<int> first = add(1);
    state Future<int> second = add(2);
    state int a = wait(first);
    int b = wait(second);
    return a * 100 + b;
}

// To a lambda in an actor, `this` is what the actor keeps.
ACTOR Future<int> kept(int k) {
    state int sum = 1;
    int plain = 10;
    auto add = [this, &plain] { return sum += k + plain; };
    add();
    wait(delay(0));
    return sum;
}

// A state with member functions called in its declaration, at the start of the actor and later.
ACTOR Future<Void> chained(int number) {
    state Line first("first").add(std::to_string(number));
    state Line next("next");
    state TraceEvent event(SevInfo, "Chained")
        .detail("Number", number)
        .detail("Word", "first");
    wait(delay(0));
    event.detail("Later", 1);
    state Line last("last").add("one").add(std::to_string(number));
    state std::string word{"word"}.append("s");
    wait(delay(0));
    say("%s, %s, %s, %s", first.text(), next.text(), last.text(), word.c_str());
    return Void();
}

int main() {
    SimLoop sim;
#ifdef POST_ACTOR_COMPILER
    Future<int> (*pointer)(int const&) = plain;
#else
    Future<int> (*pointer)(int) = plain;
#endif
    say("%d %d %d %d", sim.run(leading(1)), sim.run(outside(2)), sim.run(pointer(6)), sim.run(captured(1)));
    say("%d", sim.run(kept(5)));
    sim.run(chained(7));
    Sample sample;
    using Bytes = Descriptor<Sample>::bytesDescriptor;
    Bytes::get(sample) += 1;
    say("%d is the %s", sample.bytes, std::string(Bytes::comment()).c_str());
}
