// Parameters: copied once or moved in, of move-only types, unnamed, references by another name, packs, with defaults.
#include "flow/sim.h"
#include "trace.h"
#include <numeric>
#include <tuple>

#include "flow/actorcompiler.h"

class Counted {
public:
    Counted() = default;
    explicit Counted(int value) : value(value) {}
    Counted(Counted const& other) : value(other.value) { say("copied %d", value); }
    Counted(Counted&& other) noexcept : value(std::exchange(other.value, 0)) { say("moved %d", value); }
    Counted& operator=(Counted const&) = default;
    Counted& operator=(Counted&&) = default;

    int value = 0;
};

// Can only be moved, and prints its destruction.
class Unique {
public:
    explicit Unique(const char* name) : token_(new Token(name)) {}
    const char* name() const { return token_ ? token_->name() : "nothing"; }

private:
    std::unique_ptr<Token> token_;
};

class Later; // incomplete where it is a parameter

using IntRef = int&;

ACTOR Future<int> copies(Counted a, Counted const& b, const Counted c, Counted&& d) {
    wait(delay(1));
    a.value += b.value;
    return a.value + 10 * c.value + 100 * d.value;
}

ACTOR Future<Unique> passesOn(Unique one, std::unique_ptr<int> number, std::vector<Unique>&& more, double seconds = 1) {
    state Token last("last");
    wait(delay(seconds));
    say("%s %d %zu", one.name(), *number, more.size());
    return one;
}

ACTOR template <class T>
Future<size_t> holds(std::unique_ptr<T> only, std::vector<std::unique_ptr<T>>&& more) {
    wait(delay(1));
    more.push_back(std::move(only));
    return more.size();
}

// A forwarding reference: what is given is copied or moved, but never referred to.
ACTOR template <class T>
Future<Void> forwards(T&& value) {
    wait(delay(1));
    say("%d", value.value);
    return Void();
}

ACTOR Future<int> unnamed(int, Token, Future<Void> = delay(2), Later* = nullptr) {
    wait(delay(1));
    return 1;
}

ACTOR Future<int> incomplete(Later* later, Later const& copied);

ACTOR Future<Void> refers(IntRef x, int add) {
    state IntRef same = x;
    wait(delay(1));
    same += add;
    x += add;
    return Void();
}

using NameRef = std::string&;

ACTOR Future<std::string> namedByReference(NameRef name) {
    wait(delay(1));
    return name; // the caller's: copied, not moved
}

class Later {
public:
    // A parameter of a class that is incomplete here.
    ACTOR static Future<int> twice(Later one, std::vector<Later> all) {
        wait(delay(1));
        return one.value + int(all.size());
    }
    int value = 7;
};

ACTOR Future<int> incomplete(Later* later, Later const& copied) {
    wait(delay(1));
    return later->value + copied.value;
}

// A pack, with elements destroyed last to first; with another pack and single parameters around it.
ACTOR template <class... Ts>
Future<int> sums(Token first, Ts... values) {
    state int sum = 0;
    wait(delay(1));
    sum = (0 + ... + values);
    choose {
        when(wait(delay(sum))) {}
        when(wait(Never())) {}
    }
    std::tuple<Ts...> all(values...);
    return sum + int(std::tuple_size_v<decltype(all)>);
}

ACTOR template <class T, class... Ts>
Future<std::vector<T>> gathers(Future<T> first, Future<Ts>... rest) {
    state std::vector<T> found;
    T value = wait(first);
    found.push_back(value);
    wait(waitForAll(std::vector<Future<T>>{rest...}));
    (found.push_back(rest.get()), ...);
    return found;
}

ACTOR template <class... Ts>
Future<size_t> dies(int, Ts... tokens) {
    wait(delay(1));
    say("%zu tokens", sizeof...(tokens));
    return sizeof...(Ts);
}

// States that are made of a pack before the body begins.
ACTOR template <class... Ts>
Future<int> leads(Ts... values) {
    state int sum = (0 + ... + values);
    state std::vector<int> all{values...};
    state int count(sizeof...(values));
    wait(delay(1));
    return std::accumulate(all.begin(), all.end(), 100 * count + 10 * sum);
}

ACTOR template <class... Ts>
void shows(const char* name, Ts... values) {
    wait(delay(1));
    say("%s%s", name, (std::string() + ... + (" " + std::to_string(values))).c_str());
}

ACTOR template <class... Ts>
Future<Void> movesPack(std::unique_ptr<Ts>&&... values) {
    wait(delay(1));
    say("%d", (0 + ... + *values));
    return Void();
}

struct Refuses {
    Refuses() = default;
    Refuses(Refuses const&) { throw io_error(); }
};

ACTOR template <class... Ts>
Future<int> refused(int n, Ts... values) {
    say("not reached");
    wait(delay(1));
    return n;
}

ACTOR template <class... Ts>
void refusedAlone(Ts... values) {
    say("not reached");
    wait(delay(1));
}

int main() {
    SimLoop sim;
    Counted a(1), b(2), c(3), d(4);
    say("%d", sim.run(copies(a, b, c, std::move(d))));
    say("d is %d", d.value);
    say("%d", sim.run(copies(a, b, c, Counted(5))));
#ifdef POST_ACTOR_COMPILER // an editor sees the parameters as they are written
    static_assert(std::is_same_v<decltype(copies), Future<int>(Counted const&, Counted const&, Counted const&, Counted&&)>);
#endif
    say("--");
    {
        Unique one("one");
        std::vector<Unique> more;
        more.emplace_back("two");
        Future<Unique> f = passesOn(std::move(one), std::make_unique<int>(5), std::move(more));
        sim.run();
        say("%s, and %s is left", f.get().name(), one.name());
    }
    say("%zu", sim.run(holds(std::make_unique<int>(1), {})));
    sim.run(forwards(a));
    sim.run(forwards(Counted(8)));
    say("--");
    say("%d", sim.run(unnamed(1, Token("unnamed"))));
    say("at %g", now());
    Later later;
    say("%d", sim.run(incomplete(&later, later)));
    say("%d", sim.run(Later::twice(later, {later, later})));
    int x = 1;
    sim.run(refers(x, 3));
    say("x is %d", x);
    std::string name = "a name that is long enough to be moved";
    say("%s", sim.run(namedByReference(name)).c_str());
    say("%s", name.c_str());
    say("--");
    say("%d", sim.run(sums(Token("alone"))));
    say("%d", sim.run(sums(Token("first"), 1, 2, 3)));
    say("at %g", now());
    std::vector<int> all = sim.run(gathers(Future<int>(1), Future<int>(2), Future<int>(3)));
    say("%d of %zu", std::accumulate(all.begin(), all.end(), 0), all.size());
    say("%d, %d", sim.run(leads(1, 3)), sim.run(leads()));
    Future<size_t> dying = dies(1, Token("last"));
    say("%zu", sim.run(dying));
    shows("values", 1, 2L);
    shows("none");
    sim.run();
    sim.run(movesPack(std::make_unique<int>(3), std::make_unique<int>(4)));
    say("--");
    setDroppedErrorHandler([](const char* where, Error error) { say("%s dropped %s", where, error.name()); });
    try {
        say("%s", refused(1, 2, Refuses()).getError().name());
        refusedAlone(Refuses(), 1);
    } catch (Error& e) { // only when this is migrated
        say("the call throws %s", e.name());
    }
}
