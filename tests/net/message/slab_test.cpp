#include "net/message/detail/slab.h"

#include <doctest/doctest.h>

using namespace flow::net;

TEST_CASE("slab: a freed one is made again, and one that is shared is not") {
    SlabRef a = SlabRef::make(SlabRef::kBytes);
    CHECK(a->capacity() == SlabRef::kBytes);
    CHECK(a.isSole());
    char* place = a->bytes();
    SlabRef b = a;
    CHECK_FALSE(a.isSole());
    a.clear();
    CHECK(b.isSole());
    SlabRef other = SlabRef::make(SlabRef::kBytes);
    CHECK(other->bytes() != place);
    b.clear();
    SlabRef again = SlabRef::make(SlabRef::kBytes - 5);
    CHECK(again->bytes() == place);
    CHECK(SlabRef::make(5000)->capacity() == 8192);
    CHECK(SlabRef::make(20)->capacity() == 20);
    CHECK(SlabRef::make(0)->capacity() == 1);
}
