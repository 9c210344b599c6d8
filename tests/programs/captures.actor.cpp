// Plain lambdas see what an actor keeps, however they capture it, and stay valid for as long as the actor lives.
#include "flow/sim.h"
#include "trace.h"
#include <algorithm>
#include <functional>

#include "flow/actorcompiler.h"

ACTOR Future<int> captures(int n, Token token) {
    state int a = 1;
    state std::vector<int> numbers{3, 1, 2};
    int plain = 4;
    auto byReference = [&a] { return a; };
    auto byValue = [a, token] { return a + (token ? 100 : 0); };
    auto all = [&] { return a + plain + n; };
    auto copies = [=] { return a + plain; };
    auto nested = [&] {
        a++;
        auto inner = [a, &n]() mutable { return a += n; };
        return inner() + plain;
    };
    auto named = [&b = a, c = a] { return b * 10 + c; };
    a = 2;
    say("%d %d %d", byReference(), byValue(), all());
    say("%d", copies());
    say("%d", nested());
    say("%d", named());
    std::sort(numbers.begin(), numbers.end(), [n](int x, int y) { return x * n < y * n; });
    say("%d %d %d", numbers[0], numbers[1], numbers[2]);
    state std::function<int(int)> kept = [&a, numbers](int index) { return a + numbers[index]; };
    numbers.clear();
    wait(delay(1));
    a = 40;
    say("%d", kept(2));
    int table[] = {5, 6};
    auto [first, second] = std::pair(table[0], table[1]);
    auto shadows = [](int a) { return [a, &a2 = a] { return a + a2; }(); };
    return shadows(first) + second;
}

int main() {
    SimLoop sim;
    say("%d", sim.run(captures(1, Token("token"))));
}
