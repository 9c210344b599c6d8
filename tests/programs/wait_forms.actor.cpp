// Every form that a wait can take: its type deduced, its result unpacked, assigned or returned, held or moved on.
#include "flow/sim.h"
#include "trace.h"
#include <map>
#include <tuple>

#include "flow/actorcompiler.h"

struct Row {
    int id;
    std::string name;
    std::vector<int> cells;
};

// A value that can only be moved, and prints its destruction.
class Unique {
public:
    Unique() = default;
    explicit Unique(std::string name) : token_(new Token(std::move(name))) {}
    const char* name() const { return token_ ? token_->name() : "nothing"; }

private:
    std::unique_ptr<Token> token_;
};

class Store {
public:
    ACTOR static Future<Void> fill(Store* self, Future<int> a, FutureStream<std::string> names) {
        self->total_ = wait(a);
        self->names_[self->total_] = waitNext(names);
        self->at(self->total_ + 1) = waitNext(names);
        return Void();
    }
    void print() const {
        say("total %d", total_);
        for (auto const& [key, name] : names_)
            say("%d: %s", key, name.c_str());
    }

private:
    std::string& at(int key) { return names_[key]; }

    int total_ = 0;
    std::map<int, std::string> names_;
};

Future<int> slow(double seconds, int value) {
    co_await delay(seconds);
    co_return value;
}

ACTOR Future<Row> makes(int id) {
    wait(delay(1));
    return Row{id, "row", {id, id + 1}};
}

// The operand may use locals, and its result outlives their scope.
ACTOR Future<int> deduces(bool twice) {
    int start = 3;
    auto add = [&](int more) { return slow(1, start + more); };
    auto first = wait(add(1));
    first++;
    state int sum = first;
    if (twice) {
        int more = sum;
        auto const& second = wait(slow(2, more));
        sum += second;
    }
    auto row = wait(makes(sum));
    say("%d %s %zu", row.id, row.name.c_str(), row.cells.size());
    const auto again = wait(makes(row.id + 1));
    auto& same = again;
    say("%d", same.id);
    return sum;
}

ACTOR template <class T>
Future<T> deducesIn(Future<T> f, FutureStream<T> s) {
    auto a = wait(f);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(a)>, T>);
    state T sum = a;
    if constexpr (std::is_same_v<T, int>) {
        auto& b = wait(f);
        sum += b;
    } else {
        auto next = waitNext(s);
        sum += next;
    }
    auto last = waitNext(s);
    return sum + last;
}

ACTOR Future<Void> unpacks(FutureStream<std::pair<int, std::string>> pairs, Future<Row> row) {
    auto [n, text] = waitNext(pairs);
    text += "!";
    say("%d %s", n, text.c_str());
    auto& [id, name, cells] = wait(row);
    say("%d %s %zu", id, name.c_str(), cells.size());
    loop choose {
        when(auto [a, b] = waitNext(pairs)) {
            say("%d %s", a, b.c_str());
            if (a == 0)
                break;
        }
        when(wait(delay(100))) { say("late"); }
    }
    auto [a, b] = wait(Future<std::tuple<int, double>>(std::tuple(1, 2.5)));
    a += 1;
    say("%d %g", a, b);
    return Void();
}

ACTOR Future<int> assigns(int* out, FutureStream<int> in) {
    state int x = 0;
    state std::vector<int> all(3);
    x = wait(slow(1, 4));
    *out = waitNext(in);
    all[x - 3] = waitNext(in);
    choose {
        when(x = waitNext(in)) { say("x is %d", x); }
        when(all[0] = wait(slow(1, 7))) { say("at %g", now()); }
    }
    choose {
        when(x = waitNext(in)) { say("x is %d", x); }
        when(all[0] = wait(slow(1, 7))) { say("at %g", now()); }
    }
    return x + 10 * all[0] + 100 * all[1];
}

// The error of a returned wait is raised where it stands, and the value may convert.
ACTOR Future<std::string> returns(Future<const char*> f, bool guarded) {
    state Token s("s");
    if (!guarded)
        return wait(f);
    try {
        Token local("local");
        return wait(f);
    } catch (Error& e) {
        say("caught %s", e.name());
    }
    return wait(Future<std::string>(std::string("fallback")));
}

ACTOR Future<Void> returnsVoid(double seconds) {
    return wait(delay(seconds));
}

ACTOR template <class T>
Future<T> returnsAny(FutureStream<T> s) {
    return waitNext(s);
}

ACTOR Future<Unique> makesUnique(const char* name) {
    wait(delay(1));
    return Unique(name);
}

// A move-only value is moved; a value that the source moves is moved if nothing else holds it.
ACTOR Future<Unique> moves(PromiseStream<Unique> out) {
    state Unique kept = wait(makesUnique("kept"));
    Unique one = wait(makesUnique("one"));
    out.send(std::move(one));
    say("sent, left with %s", one.name());
    auto other = wait(makesUnique("other"));
    out.send(std::move(other));
    Unique&& dropped = wait(makesUnique("dropped"));
    say("now %s", dropped.name());
    wait(delay(1));
    say("kept %s", kept.name());
    kept = wait(makesUnique("new"));
    return kept;
}

ACTOR Future<size_t> movesOn(Future<std::string> shared) {
    state std::vector<std::string> all;
    std::string text = wait(shared);
    all.push_back(std::move(text));
    auto alone = wait(std::move(shared));
    all.push_back(std::move(alone));
    return all[0].size() + all[1].size();
}

int main() {
    SimLoop sim;
    say("%d", sim.run(deduces(false)));
    say("%d", sim.run(deduces(true)));
    PromiseStream<int> numbers;
    PromiseStream<std::string> texts;
    for (int i = 5; i < 10; i++)
        numbers.send(i);
    for (const char* text : {"a", "b", "c", "d", "e"})
        texts.send(std::string(text));
    say("%d", sim.run(deducesIn<int>(1, numbers.getFuture())));
    say("%s", sim.run(deducesIn<std::string>(std::string("x"), texts.getFuture())).c_str());
    say("--");
    Store store;
    sim.run(Store::fill(&store, 2, texts.getFuture()));
    store.print();
    int out = 0;
    say("%d", sim.run(assigns(&out, numbers.getFuture())));
    say("out %d", out);
    say("--");
    PromiseStream<std::pair<int, std::string>> pairs;
    for (int i = 2; i >= 0; i--)
        pairs.send(std::pair<int, std::string>(i, "pair"));
    sim.run(unpacks(pairs.getFuture(), makes(1)));
    say("--");
    auto w = watch("unguarded", returns(timed_out(), false));
    say("%s", sim.run(returns("value", true)).c_str());
    say("%s", sim.run(returns(timed_out(), true)).c_str());
    sim.run(returnsVoid(3));
    say("%s", sim.run(returnsAny(texts.getFuture())).c_str());
    say("at %g", now());
    say("--");
    {
        PromiseStream<Unique> uniques;
        FutureStream<Unique> sent = uniques.getFuture();
        Future<Unique> last = moves(uniques);
        sim.run();
        say("last is %s", last.get().name());
        say("first is %s", sent.pop().name());
    }
    say("%zu", sim.run(movesOn(std::string("a text that is too long to be stored in place"))));
}
