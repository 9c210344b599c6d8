// Range-for over a state or a parameter, with waits in the body.
#include "flow/sim.h"
#include "trace.h"
#include <map>

#include "flow/actorcompiler.h"

ACTOR Future<int> sums(std::vector<Future<int>> futures) {
    state int sum = 0;
    for (auto& f : futures) {
        int x = wait(f);
        say("plus %d at %g", x, now());
        sum += x;
    }
    return sum;
}

ACTOR Future<int> numberAfter(int number, double seconds) {
    wait(delay(seconds));
    return number;
}

ACTOR Future<Void> changes(std::vector<std::string> words) {
    state std::map<std::string, int> lengths;
    for (auto& word : words) {
        word += ".";
        if (word.size() > 4) {
            wait(delay(1));
            continue;
        }
        lengths[word] = int(word.size());
    }
    for (auto const& [word, length] : lengths) {
        say("%s has %d", word.c_str(), length);
        if (length == 3)
            break;
        wait(delay(1));
    }
    for (auto const& word : words)
        say("%s", word.c_str());
    return Void();
}

ACTOR Future<Void> nested(std::vector<std::vector<int>> rows) {
    state std::vector<int> row;
    for (auto& each : rows) {
        Token t("row of " + std::to_string(each.size()));
        row = each;
        for (int x : row) {
            if (x < 0)
                break;
            wait(delay(x));
            say("at %g", now());
        }
    }
    return Void();
}

int main() {
    SimLoop sim;
    say("%d", sim.run(sums({numberAfter(1, 2), numberAfter(2, 1), 3})));
    say("%d", sim.run(sums({})));
    sim.run(changes({"a", "bc", "defg", "hi"}));
    sim.run(nested({{1, 2}, {-1, 5}, {}, {3}}));
}
