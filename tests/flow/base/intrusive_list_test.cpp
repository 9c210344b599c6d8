#include "flow/base/intrusive_list.h"

#include <doctest/doctest.h>

#include <vector>

using namespace flow;
using namespace flow::detail;

namespace {

struct Item {
    Link link{};
    int number = 0;
};

std::vector<int> numbers(Link& head) {
    std::vector<int> result;
    for (Link* link = head.next; link != &head; link = link->next) {
        CHECK(link->next->prev == link);
        CHECK(link->prev->next == link);
        result.push_back(reinterpret_cast<Item*>(link)->number);
    }
    return result;
}

} // namespace

TEST_CASE("intrusive list: an empty head is linked to itself") {
    Link head;
    head.reset();
    CHECK(head.isEmpty());
    CHECK(head.next == &head);
    CHECK(head.prev == &head);
    CHECK(numbers(head).empty());
}

TEST_CASE("intrusive list: front, back, between") {
    Link head;
    head.reset();
    Item a{{}, 1}, b{{}, 2}, c{{}, 3}, d{{}, 4};
    CHECK(!a.link.isLinked());
    pushBack(head, a.link);
    CHECK(a.link.isLinked());
    CHECK(!head.isEmpty());
    pushBack(head, b.link);
    pushFront(head, c.link);
    insertBetween(a.link, d.link, b.link);
    CHECK(numbers(head) == std::vector{3, 1, 4, 2});
}

TEST_CASE("intrusive list: unlink at the ends, in the middle, and the only one") {
    Link head;
    head.reset();
    Item a{{}, 1}, b{{}, 2}, c{{}, 3};
    pushBack(head, a.link);
    pushBack(head, b.link);
    pushBack(head, c.link);
    b.link.unlink();
    CHECK(!b.link.isLinked());
    CHECK(numbers(head) == std::vector{1, 3});
    a.link.unlink();
    CHECK(numbers(head) == std::vector{3});
    pushFront(head, b.link);
    CHECK(numbers(head) == std::vector{2, 3});
    c.link.unlink();
    b.link.unlink();
    CHECK(head.isEmpty());
    CHECK(head.prev == &head);
}
