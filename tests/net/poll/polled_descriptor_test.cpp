#include "net/poll/detail/polled_descriptor.h"

#include <doctest/doctest.h>

using namespace flow::net;

namespace {

struct Asked final : PolledDescriptor {
    bool awaited = false;
    mutable int questions = 0;

    Asked() : PolledDescriptor(-1) {}
    void onNews(News) noexcept override {}
    bool isAwaited() const override {
        ++questions;
        return awaited;
    }
};

} // namespace

TEST_CASE("descriptor list: the awaited one is checked first the next time") {
    PolledDescriptorList list;
    Asked many[10];
    for (Asked& each : many)
        list.add(each);
    CHECK_FALSE(list.isAwaited());
    many[0].awaited = true;
    CHECK(list.isAwaited());
    int questions = 0;
    for (Asked& each : many)
        each.questions = 0;
    for (int i = 0; i < 100; ++i)
        CHECK(list.isAwaited());
    for (Asked& each : many)
        questions += each.questions;
    CHECK(questions == 100);
    int seen = 0;
    list.forEach([&](PolledDescriptor& each) {
        ++seen;
        list.remove(each);
        CHECK_FALSE(each.isWatched());
    });
    CHECK(seen == 10);
    CHECK(list.size() == 0);
}
