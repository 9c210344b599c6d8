// Several states in one declaration, and what is called of a state once it is made.
#include "trace.h"

#include "flow/actorcompiler.h"

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

ACTOR Future<int> first() {
    state Token a("a"), b("b");
    state int i, count = 3, numbers[2];
    state std::string text, more{"more"};
    wait(delay(1));
    say("%d %d %d %zu %s", i, count, numbers[1], text.size(), more.c_str());
    ++i;
    return i + count;
}

ACTOR Future<int> later(bool chained) {
    wait(delay(1));
    state Token a("later a"), b("later b");
    state int sum, factor = 2;
    for (state int pass = 0; pass < 2; ++pass) {
        state int inLoop, other = pass;
        inLoop += other + 1;
        wait(delay(1));
        sum += factor * inLoop;
    }
    if (!chained)
        return sum;
    state Line line("line")
        .add("one")
        .add(std::to_string(sum));
    state std::string word{"word"}.append("s");
    wait(delay(1));
    say("%s, %s", line.text(), word.c_str());
    return sum;
}

ACTOR Future<Void> chainedFirst(int number) {
    state Line line("first").add(std::to_string(number));
    state Line last("last");
    wait(delay(1));
    say("%s %s", line.text(), last.text());
    return Void();
}

int main() {
    SimLoop sim;
    say("%d", sim.run(first()));
    say("%d", sim.run(later(false)));
    say("%d", sim.run(later(true)));
    sim.run(chainedFirst(7));
    say("cancelled");
    Future<int> cancelled = first();
    cancelled.cancel();
}
