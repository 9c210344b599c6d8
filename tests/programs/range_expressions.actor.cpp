// Range-for with waits over anything that C++ goes over, bound as C++ binds it.
#include "flow/sim.h"
#include "trace.h"
#include <array>
#include <map>
#include <ranges>
#include <span>

#include "flow/actorcompiler.h"

struct Holder {
    std::vector<int> numbers{1, 2, 3};
    const std::vector<std::string> words{"a", "b"};
    int array[3] = {7, 8, 9};

    const std::vector<int>& constant() const { return numbers; }
    std::vector<int>& mutableNumbers() { return numbers; }
};

/// A range that prints its destruction; found by argument-dependent lookup.
struct Counted {
    Token token;
    int limit;
};
struct CountedEnd {};
struct CountedIterator {
    int at;
    int limit;

    int operator*() const { return at; }
    CountedIterator& operator++() {
        ++at;
        return *this;
    }
    bool operator!=(CountedEnd) const { return at < limit; }
};
CountedIterator begin(Counted& counted) {
    return {0, counted.limit};
}
CountedEnd end(Counted&) {
    return {};
}

static Counted counted(const char* name, int limit) {
    say("made %s", name);
    return {Token(name), limit};
}

static int globals[] = {4, 5};

ACTOR Future<int> expressions(Holder* self, Holder holder) {
    state int sum = 0;
    for (auto x : self->numbers) {
        wait(delay(1));
        sum++;
    }
    for (auto& x : self->mutableNumbers()) {
        x *= 10;
        sum += x;
        wait(delay(1));
    }
    for (auto const& x : self->constant()) {
        sum += x;
        wait(delay(1));
    }
    for (auto& word : holder.words) {
        static_assert(std::is_same_v<decltype(word), const std::string&>);
        say("%s", word.c_str());
        wait(delay(1));
    }
    for (int& x : holder.array) {
        x++;
        wait(delay(1));
    }
    for (int x : holder.array) {
        say("%d", x);
        wait(delay(1));
    }
    for (int x : globals) {
        sum += x;
        wait(delay(1));
    }
    for (int x : {100, 200}) {
        sum += x;
        wait(delay(1));
    }
    for (bool b : {true, false}) {
        say("%d", int(b));
        wait(delay(1));
    }
    for (char c : std::string("xyz")) {
        say("%c", c);
        wait(delay(1));
    }
    for (int x : std::span<int>(self->numbers).subspan(1)) {
        say("%d", x);
        wait(delay(1));
    }
    for (auto [key, value] : std::map<int, const char*>{{1, "one"}, {2, "two"}}) {
        say("%d %s", key, value);
        wait(delay(1));
    }
    for (auto& [key, value] : std::map<int, int>{{1, 1}, {2, 2}}) {
        value += key;
        sum += value;
        wait(delay(1));
    }
    for (auto c : (holder.words))
        wait(delay(1));
    for (auto x : sum > 0 ? self->numbers : holder.numbers)
        wait(delay(1));
    return sum;
}

// What is found in the range may change: the original is referred to, a copy is not.
ACTOR Future<Void> identity(std::vector<int> v) {
    state std::vector<int> other = {5, 6};
    for (auto& x : v)
        x++;
    for (auto& x : std::ref(v).get()) {
        x += 10;
        wait(delay(1));
    }
    for (auto x : std::vector<int>(v)) {
        v.push_back(x);
        wait(delay(1));
    }
    for (auto&& x : std::move(other)) {
        v.push_back(x);
        wait(delay(1));
    }
    for (int x : v)
        say("%d", x);
    return Void();
}

// A temporary lives until its loop is left, in whatever way.
ACTOR Future<int> lifetimes(int how) {
    Token a("a");
    try {
        for (int each : counted("first", 2)) {
            Token b("b" + std::to_string(each));
            state int x = each;
            if (how == 1 && x == 1)
                break;
            wait(delay(1));
            if (how == 2 && x == 1)
                throw timed_out();
            if (how == 3)
                return x;
            if (how == 4)
                wait(Future<Void>(end_of_stream()));
            for (int y : counted("inner", 3)) {
                if (y == 1)
                    continue;
                say("%d", y);
                wait(delay(1));
                if (how == 5)
                    throw io_error();
                say("in pass %d", x);
            }
            say("after inner");
        }
        say("after first");
    } catch (Error& e) {
        say("caught %s", e.name());
        wait(delay(1));
        if (how == 5)
            throw;
    }
    say("end");
    return 0;
}

// The same loop again and again, and no wait on some passes.
ACTOR Future<Void> again() {
    state int round = 0;
    for (; round < 3; round++) {
        Token a("a" + std::to_string(round));
        for (int x : counted("range", round)) {
            say("round %d: %d", round, x);
            if (x == 1)
                wait(delay(1));
            say("end of pass");
        }
        say("end of round");
    }
    return Void();
}

ACTOR Future<Void> withInit() {
    state int n = 0;
    for (n = 2; int x : {1, 2, 3}) {
        say("%d", n * x);
        wait(delay(1));
    }
    for (state std::vector<int> items = {4, 5}; int& x : items) {
        x++;
        wait(delay(1));
        say("%d %d", items[0], items[1]);
    }
    for (std::vector<int> plain = {6, 7}; int x : plain)
        say("%d", x);
    for (state std::string word{"no"}; char c : word)
        say("%c", c);
    return Void();
}

template <class T>
struct Box {
    T value;
    ACTOR static Future<int> count(Box* self) {
        state int n = 0;
        for (auto& x : self->value) {
            n += x;
            wait(delay(1));
        }
        for (auto x : T(self->value)) {
            n += x;
            wait(delay(1));
        }
        return n;
    }
};

// While Plain is not complete, its members are unknown.
struct Plain {
    struct Inner {
        int value = 1;
    };

    ACTOR static Future<int> count(Plain* self, int how) {
        state int n = 0;
        try {
            for (auto& x : self->items) {
                n += x;
                wait(delay(1));
            }
            for (auto items : self->makeItems("plain")) {
                n += items;
                wait(delay(1));
                if (how == 1)
                    break;
                if (how == 2)
                    throw timed_out();
            }
            state const Inner inner{n};
            n = inner.value + 1;
        } catch (Error& e) {
            say("%s", e.name());
        }
        return n;
    }
    ACTOR static Future<Void> outside(Plain* self);

    Counted makeItems(const char* name) { return counted(name, 3); }
    std::vector<int> items{1, 2};
};

ACTOR Future<Void> Plain::outside(Plain* self) {
    for (auto& x : self->items) {
        say("%d", x);
        wait(delay(1));
    }
    return Void();
}

ACTOR template <class T, int N>
Future<T> sumOf(std::array<T, N> values) {
    state T sum = T();
    for (auto x : std::as_const(values)) {
        sum += x;
        wait(delay(1));
    }
    for (auto x : std::array<T, 2>{T(1), T(2)}) {
        sum += x;
        wait(delay(1));
    }
    return sum;
}

ACTOR Future<Void> cancelled(int path) {
    Token a("a");
    try {
        for (int x : counted("range", 3)) {
            Token b("b");
            say("%d", x);
            if (path)
                wait(delay(1));
        }
        wait(delay(1));
    } catch (Error& e) {
        say("got %s", e.name());
        throw;
    }
    return Void();
}

// A continue with a ready wait does not grow the stack.
ACTOR Future<int> manyPasses() {
    state int n = 0;
    for (auto x : std::vector<char>(1000000)) {
        if (x == 0)
            n++;
        wait(Future<Void>(Void()));
        continue;
    }
    return n;
}

// A part of a temporary is moved into the loop.
struct Reply {
    std::vector<std::shared_ptr<int>> items;
};

ACTOR Future<int> partOfTemporary(std::shared_ptr<int> counted) {
    state int sum = 0;
    for (auto& item : Reply{{counted, counted}}.items) {
        sum += *item * 100 + int(counted.use_count());
        wait(delay(1));
    }
    return sum + int(counted.use_count());
}

ACTOR Future<int> withLambdas(std::vector<int> numbers, int least) {
    state int sum = 0;
    for (int x : numbers | std::views::filter([&](int each) { return each > least; })) {
        sum += x;
        least = x;
        wait(delay(1));
    }
    while (sum < 20) {
        Token before("before");
        for (int x : [=] { return counted("by a lambda", sum > 10 ? 1 : 2); }()) {
            say("%d of %d", x, sum);
            wait(delay(1));
        }
        sum += 4;
    }
    return sum;
}

int main() {
    SimLoop sim;
    Holder holder;
    say("%d", sim.run(expressions(&holder, holder)));
    sim.run(identity({1, 2}));
    for (int how = 0; how < 6; ++how) {
        say("-- lifetimes %d", how);
        sim.run(watch("lifetimes", lifetimes(how)));
    }
    sim.run(again());
    sim.run(withInit());
    Box<std::vector<int>> box{{1, 2}};
    say("%d", sim.run(box.count(&box)));
    say("%d", sim.run(sumOf<int, 3>({10, 20, 30})));
    Plain plain;
    for (int how = 0; how < 3; ++how)
        say("%d", sim.run(Plain::count(&plain, how)));
    sim.run(Plain::outside(&plain));
    for (int path = 0; path < 2; ++path) {
        say("-- cancel %d", path);
        Future<Void> f = cancelled(path);
        f.cancel();
        sim.run(watch("cancelled", f));
    }
    say("%d", sim.run(manyPasses()));
    say("%d", sim.run(partOfTemporary(std::make_shared<int>(3))));
    say("%d", sim.run(withLambdas({1, 4, 2, 3, 6}, 1)));
}
