// Where actors keep the operations in place that they wait for: in themselves. No wait allocates, whatever its form is.
#include "flow/sim.h"
#include "trace.h"

#include "flow/wait/operation_room.h"
#include "flow/wait/source.h"

#include <deque>
#include <string>

#include "flow/actorcompiler.h"

template <class T>
class Mailbox {
public:
    struct Take {
        using Result = T;
        Mailbox* mailbox;
        const char* a = "three words ";
        const char* b = "of padding";
        void* c = nullptr;
        bool isReady() const { return !mailbox->items.empty(); }
        void park(WaiterNode& waiter) { mailbox->source.park(waiter, *this); }
        T take() const {
            T item = std::move(mailbox->items.front());
            mailbox->items.pop_front();
            if (mailbox->fails)
                throw io_error();
            return item;
        }
    };
    /// One that takes nothing.
    struct Filled {
        using Result = Void;
        Mailbox* mailbox;
        bool isReady() const { return !mailbox->items.empty(); }
        void park(WaiterNode& waiter) { mailbox->filled.park(waiter, *this); }
        Void take() const { return Void(); }
    };

    Take take() { return {this}; }
    Filled whenFilled() { return {this}; }
    void put(T item) {
        items.push_back(std::move(item));
        if (filled.isWaitedFor())
            filled.wakeInTurn();
        source.wakeInTurn();
    }

    std::deque<T> items;
    bool fails = false;
    Source<Take> source;
    Source<Filled> filled;
};
using Numbers = Mailbox<int>;
using Texts = Mailbox<std::string>;

ACTOR Future<int> forms(Numbers* numbers, Texts* texts) {
    state int kept = wait(numbers->take());
    int local = wait(numbers->take());
    kept += local;
    kept = kept * 10 + kept;
    kept = wait(numbers->take());
    auto found = wait(texts->take());
    say("%s", found.c_str());
    state std::string text = wait(texts->take());
    wait(numbers->whenFilled());
    int next = waitNext(numbers->take());
    kept += next;
    if (kept > 3) {
        std::string gone = "a local that the wait destroys";
        if (kept < 100)
            wait(texts->whenFilled());
        kept += 1000;
    }
    std::string const& referred = wait(texts->take());
    say("%s %s", text.c_str(), referred.c_str());
    return kept;
}

ACTOR template <class T>
Future<T> any(Mailbox<T>* box, int count) {
    state T sum = T();
    while (count-- > 0) {
        T item = wait(box->take());
        sum += item;
    }
    return sum;
}

ACTOR template <class... Boxes>
Future<int> packed(Numbers* first, Boxes... others) {
    state int sum = (0 + ... + int(others->items.size()));
    int item = wait(first->take());
    return sum + item;
}

struct Owner {
    ACTOR static Future<int> inside(Owner* self) {
        int item = wait(self->box.take());
        return item + self->base;
    }
    ACTOR static Future<int> outside(Owner* self);

    Numbers box;
    int base = 100;
};
ACTOR Future<int> Owner::outside(Owner* self) {
    int item = wait(self->box.take());
    return item + self->base;
}

template <class T>
Future<T> fromLambda(Mailbox<T>* box) {
    auto takes = ACTOR [](Mailbox<T>* box) -> Future<T> {
        T item = wait(box->take());
        return item;
    };
    return takes(box);
}

ACTOR Future<Void> choices(Numbers* numbers, Texts* texts, Future<Void> stop) {
    loop choose {
        when(std::string text = wait(texts->take())) { say("text %s", text.c_str()); }
        when(state int number = wait(numbers->take())) {
            wait(delay(0));
            say("number %d", number);
        }
        when(wait(stop)) {
            say("stop");
            break;
        }
        when(wait(numbers->whenFilled())) { say("filled"); }
    }
    return Void();
}

// The destructor of a branch's operand takes what the branch found.
struct Thief {
    Numbers* numbers;
    Numbers::Take take() { return numbers->take(); }
    ~Thief() {
        if (numbers && !numbers->items.empty())
            say("stolen %d", numbers->take().take());
    }
};
ACTOR Future<Void> robbed(Numbers* numbers) {
    choose {
        when(int number = wait(Thief{numbers}.take())) { say("robbed: %d", number); }
        when(wait(delay(1))) { say("robbed: nothing"); }
    }
    return Void();
}

ACTOR Future<Void> fails(Numbers* numbers) {
    try {
        int number = wait(numbers->take());
        say("%d", number);
    } catch (Error& e) {
        say("take: %s", e.name());
    }
    try {
        choose {
            when(int number = wait(numbers->take())) { say("%d", number); }
            when(wait(Never())) {}
        }
    } catch (Error& e) {
        say("choose: %s", e.name());
    }
    int number = wait(numbers->take());
    say("%d", number);
    return Void();
}

std::uint64_t allocations() {
    return memory::totalStatistics().allocated;
}
std::uint64_t before;
void start(const char* what) {
    say("-- %s", what);
    before = allocations();
}
void blocks(const char* what) {
    int taken = int(allocations() - before);
    say("%s: %d blocks", what, taken);
}

void tryForms(SimLoop& sim, Numbers& numbers, Texts& texts) {
    start("forms");
    Future<int> all = forms(&numbers, &texts);
    for (int i = 1; i <= 3; ++i) {
        numbers.put(i);
        sim.run();
    }
    texts.put("found");
    texts.put("kept in a string that is too long for the small buffer");
    sim.run();
    numbers.put(4);
    sim.run();
    texts.put("referred to, and as long as the other one was, or longer");
    sim.run();
    say("%d", all.get());
    blocks("forms");

    start("templates, packs, members, lambdas");
    Future<std::string> joined = any(&texts, 2);
    texts.put("a");
    texts.put("b");
    sim.run();
    Future<int> pack = packed(&numbers, &texts, &numbers);
    numbers.put(5);
    sim.run();
    say("%s %d", joined.get().c_str(), pack.get());
    Owner owner;
    Future<int> one = Owner::inside(&owner);
    Future<int> two = Owner::outside(&owner);
    owner.box.put(1);
    owner.box.put(2);
    sim.run();
    Future<int> lambda = fromLambda(&numbers);
    numbers.put(6);
    sim.run();
    say("%d %d %d", one.get(), two.get(), lambda.get());
    blocks("five calls");
}

void tryChoices(SimLoop& sim, Numbers& numbers, Texts& texts) {
    start("choose");
    Promise<Void> stop;
    before = allocations();
    Future<Void> chooses = choices(&numbers, &texts, stop.getFuture());
    numbers.put(7);
    texts.put("seven");
    sim.run();
    texts.put("eight");
    numbers.put(8);
    sim.run();
    stop.send(Void());
    say("done %d, left %d %d", chooses.isReady(), int(numbers.items.size()), int(texts.items.size()));
    blocks("choose");
    numbers.put(9);
    Future<Void> victim = robbed(&numbers);
    sim.run();
}

void tryErrors(SimLoop& sim, Numbers& numbers, Texts& texts) {
    say("-- errors");
    numbers.fails = true;
    Future<Void> failing = fails(&numbers);
    numbers.put(1);
    sim.run();
    numbers.put(2);
    sim.run();
    numbers.put(3);
    sim.run();
    say("failed %d", failing.isError());
    numbers.fails = false;

    say("-- cancelled");
    Future<int> cancelled = any(&numbers, 1);
    cancelled.cancel();
    Future<Void> group = choices(&numbers, &texts, Never());
    group.cancel();
    numbers.put(1);
    texts.put("one");
    sim.run();
    say("left %d %d", int(numbers.items.size()), int(texts.items.size()));
    before = allocations();
    say("ready %d", any(&numbers, 1).get());
    blocks("ready");
}

int main() {
    SimLoop sim;
    Numbers numbers;
    Texts texts;
    tryForms(sim, numbers, texts);
    tryChoices(sim, numbers, texts);
    tryErrors(sim, numbers, texts);
}
