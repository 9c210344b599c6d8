#include "flow/emitted/state_slot.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace flow;

namespace {

struct Explicit {
    explicit Explicit(int value) : value(value) {}
    int value;
};

struct Reports {
    Reports(std::vector<std::string>& log, std::string name) : log(log), name(std::move(name)) {}
    Reports(Reports const&) = default;
    ~Reports() { log.push_back("~" + name); }

    std::vector<std::string>& log;
    std::string name;
};

template <class T, int N>
struct Frame {
    int before = 0;
    [[no_unique_address]] StateSlot<T, N> slot;
    StateOf<T> x{slot.start()};
};

} // namespace

TEST_CASE("state slot: a plain type is itself, and its slot takes no room") {
    static_assert(std::is_same_v<StateOf<std::string>, std::string>);
    static_assert(sizeof(Frame<int, 1>) == 2 * sizeof(int));
    struct Two {
        [[no_unique_address]] StateSlot<std::string, 1> firstSlot;
        std::string first;
        [[no_unique_address]] StateSlot<std::string, 2> secondSlot;
        std::string second;
    };
    static_assert(sizeof(Two) == 2 * sizeof(std::string));
    Frame<std::string, 1> frame;
    frame.slot.of(frame.x) = "text";
    CHECK(frame.x == "text");
    frame.slot.of(frame.x) = {'a', 'b'};
    CHECK(frame.x == "ab");
}

TEST_CASE("state slot: what has no default constructor is made at its declaration") {
    Frame<Explicit, 1> frame;
    frame.slot.of(frame.x) = 3;
    CHECK(frame.x.value == 3);
    frame.x.value++;
    frame.slot.of(frame.x) = frame.x;
    CHECK(frame.x.value == 4);
}

TEST_CASE("state slot: a constant is replaced") {
    Frame<std::string const, 1> frame;
    frame.slot.of(frame.x) = "one";
    CHECK(frame.x == "one");
    frame.slot.of(frame.x) = frame.x + " more";
    CHECK(frame.x == "one more");
    frame.slot.of(frame.x) = {'a', 'b'};
    CHECK(frame.x == "ab");
}

TEST_CASE("state slot: the object is destroyed when it is replaced, and with the slot") {
    std::vector<std::string> log;
    {
        Frame<Reports, 1> frame;
        CHECK(log.empty());
        frame.slot.of(frame.x) = Reports(log, "a");
        log.clear();
        frame.slot.of(frame.x) = Reports(log, "b");
        CHECK(std::find(log.begin(), log.end(), "~a") != log.end());
        log.clear();
    }
    CHECK(log == std::vector<std::string>{"~b"});
    log.clear();
    {
        Frame<Reports, 1> never;
    }
    CHECK(log.empty());
}

TEST_CASE("state slot: a variable is moved from when it is returned, a constant is not") {
    Frame<std::string, 1> plain;
    plain.slot.of(plain.x) = std::string("plain");
    CHECK(std::string(plain.slot.moved(plain.x)) == "plain");
    CHECK(plain.x.empty());
    static_assert(std::is_same_v<decltype(plain.slot.moved(plain.x)), std::string&&>);
    Frame<std::string const, 1> constant;
    constant.slot.of(constant.x) = "constant";
    CHECK(std::string(constant.slot.moved(constant.x)) == "constant");
    CHECK(constant.x == "constant");
}

TEST_CASE("state slot: what can only be moved") {
    Frame<std::unique_ptr<int> const, 1> frame;
    frame.slot.of(frame.x) = std::make_unique<int>(3);
    CHECK(*frame.x == 3);
    frame.slot.of(frame.x) = std::make_unique<int>(4);
    CHECK(*frame.x == 4);
}

TEST_CASE("state slot: arrays are assigned element by element") {
    std::unique_ptr<int> pointers[2];
    assignArray(pointers, ArrayValue<std::unique_ptr<int>[2]>{{std::make_unique<int>(1), nullptr}});
    CHECK(*pointers[0] == 1);
    CHECK(pointers[1] == nullptr);
    int table[2][3] = {{1, 2, 3}, {4, 5, 6}};
    assignArray(table, ArrayValue<int[2][3]>{{{7}, {8, 9}}});
    CHECK(table[0][0] == 7);
    CHECK(table[0][2] == 0);
    CHECK(table[1][1] == 9);
    char text[4] = "abc";
    assignArray(text, ArrayValue<char[4]>{{"x"}});
    CHECK(std::string(text) == "x");
}
