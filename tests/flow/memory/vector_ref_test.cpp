#include "flow/memory/vector_ref.h"

#include "flow/memory/standalone.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

using namespace flow;

TEST_CASE("vector_ref: grows in the arena") {
    Arena arena;
    VectorRef<int> numbers;
    CHECK(numbers.empty());
    for (int i = 0; i < 10000; ++i)
        numbers.push_back(arena, i);
    CHECK(numbers.size() == 10000);
    CHECK(std::accumulate(numbers.begin(), numbers.end(), 0L) == 49995000);
    CHECK(numbers.front() == 0);
    CHECK(numbers.back() == 9999);
    CHECK(*numbers.rbegin() == 9999);
    CHECK(numbers[77] == 77);
    CHECK(numbers.expectedSize() == 40000);
    numbers.pop_back();
    CHECK(numbers.back() == 9998);
    int capacity = numbers.capacity();
    numbers.pop_front(3);
    CHECK(numbers.front() == 3);
    CHECK(numbers.capacity() == capacity - 3);
    CHECK(numbers.size() == 9996);
    numbers.clear();
    CHECK(numbers.empty());
}

TEST_CASE("vector_ref: elements of itself may be pushed and appended") {
    Arena arena;
    VectorRef<int> numbers;
    for (int i = 0; i < 4; ++i)
        numbers.push_back(arena, i);
    arena.allocate(1); // so that it cannot grow in place
    for (int i = 0; i < 30; ++i)
        numbers.push_back(arena, numbers[1]);
    CHECK(numbers.back() == 1);
    numbers.append(arena, numbers.begin(), numbers.size());
    CHECK(numbers.size() == 68);
    CHECK(numbers[34 + 3] == 3);
}

TEST_CASE("vector_ref: the last one in an arena grows in place") {
    Arena arena(4000);
    VectorRef<int> numbers;
    numbers.push_back(arena, 1);
    int* place = numbers.begin();
    for (int i = 0; i < 400; ++i)
        numbers.push_back(arena, i);
    CHECK(numbers.begin() == place);
}

TEST_CASE("vector_ref: deep copies do not refer to what was copied") {
    Arena arena;
    VectorRef<StringRef> deep, shallow, appended;
    std::string text = "some text";
    deep.push_back_deep(arena, text);
    shallow.push_back(arena, text);
    StringRef list[] = {text, text};
    appended.append_deep(arena, list, 2);
    appended.emplace_back_deep(arena, StringRef(text));
    VectorRef<StringRef> copy(arena, shallow);
    text.assign(text.size(), '#');
    CHECK(deep[0] == "some text"_sr);
    CHECK(shallow[0] == text);
    CHECK(appended.size() == 3);
    CHECK(appended[1] == "some text"_sr);
    CHECK(appended[2] == "some text"_sr);
    CHECK(copy[0] == "some text"_sr);
    VectorRef<VectorRef<StringRef>> nested;
    nested.push_back_deep(arena, appended);
    CHECK(nested[0] == appended);
    CHECK(nested[0].begin() != appended.begin());
}

TEST_CASE("vector_ref: resize, reserve and slice") {
    Arena arena;
    VectorRef<int> numbers;
    numbers.reserve(arena, 100);
    CHECK(numbers.capacity() >= 100);
    CHECK(numbers.empty());
    numbers.resize(arena, 5);
    CHECK(numbers[4] == 0);
    std::iota(numbers.begin(), numbers.end(), 1);
    numbers.resize(arena, 3);
    numbers.resize(arena, 4);
    CHECK(numbers[3] == 0);
    CHECK(numbers.slice(1, 3).size() == 2);
    CHECK(numbers.slice(1, 3)[1] == 3);
    CHECK(numbers.slice(4, 4).empty());
    std::vector<int> more = {7, 8};
    numbers.append(arena, more.begin(), 2);
    CHECK(numbers.back() == 8);
    int plain[] = {1, 2, 3, 0, 7, 8};
    CHECK(numbers == VectorRef<int>(plain, 6));
    CHECK(VectorRef<int>(plain, 2) < VectorRef<int>(plain, 3));
    CHECK(numbers.slice(0, 1) != numbers.slice(1, 2));
}

TEST_CASE("vector_ref: out of range aborts") {
    Arena arena;
    VectorRef<int> numbers;
    CHECK_DIES((void)numbers.front(), "no first or last");
    CHECK_DIES((void)numbers.back(), "no first or last");
    CHECK_DIES(numbers.pop_back(), "no first or last");
    CHECK_DIES(numbers.pop_front(), "pop_front");
    CHECK_DIES(numbers.resize(arena, -1), "resize");
    CHECK_DIES((void)numbers.slice(0, 1), "slice");
#if FLOW_CHECKED
    CHECK_DIES((void)numbers[0], "out of range");
#endif
}
