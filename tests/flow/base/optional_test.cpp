#include "flow/base/optional.h"

#include "tests/flow/support/death.h"
#include "tests/flow/support/tracer.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <unordered_set>

using namespace flow;

namespace {

struct User {
    std::string name;
    Optional<int> age;
};

} // namespace

TEST_CASE("optional: nothing and something") {
    Optional<int> none;
    CHECK_FALSE(none.present());
    CHECK_FALSE(bool(none));
    CHECK(none.orDefault(7) == 7);
    Optional<int> some = 3;
    CHECK(some.present());
    CHECK(some.get() == 3);
    CHECK(*some == 3);
    CHECK(some.orDefault(7) == 3);
    some.get() = 4;
    CHECK(some.get() == 4);
    some = 5;
    CHECK(some.get() == 5);
    some = none;
    CHECK_FALSE(some.present());
    some.emplace(6);
    some.reset();
    CHECK_FALSE(some.present());
    some = Optional<int>();
    CHECK_FALSE(some.present());
}

TEST_CASE("optional: get of nothing aborts") {
    Optional<std::string> none;
    CHECK_DIES(none.get(), "get() of nothing");
    CHECK_DIES((void)none->size(), "get() of nothing");
    CHECK_DIES((void)*none, "get() of nothing");
}

TEST_CASE("optional: map, flatMap and castTo") {
    Optional<User> user = User{"Ada", 36};
    Optional<User> nobody;
    CHECK(user.map(&User::name) == Optional<std::string>("Ada"));
    CHECK(user.map([](User const& u) { return u.name.size(); }).get() == 3);
    CHECK_FALSE(nobody.map(&User::name).present());
    CHECK(user.flatMap(&User::age) == Optional<int>(36));
    CHECK_FALSE(nobody.flatMap(&User::age).present());
    user->age.reset();
    CHECK_FALSE(user.flatMap(&User::age).present());
    CHECK(Optional<int>(65).castTo<char>().get() == 'A');
    CHECK_FALSE(Optional<int>().castTo<char>().present());
}

TEST_CASE("optional: conversions between optionals keep nothing as nothing") {
    Optional<char const*> text = "text";
    Optional<std::string> string = text;
    CHECK(string.get() == "text");
    CHECK_FALSE(Optional<std::string>(Optional<char const*>()).present());
    Optional<Optional<int>> nested = Optional<int>();
    CHECK(nested.present());
    CHECK_FALSE(nested.get().present());
}

TEST_CASE("optional: moves what it can, copies once otherwise") {
    test::Log log;
    {
        Optional<test::Tracer> a = test::Tracer(log, "t");
        log.clear();
        test::Tracer out = std::move(a).get();
        CHECK(log == test::Log{"move t"});
        Optional<test::Tracer> b = out;
        CHECK(log == test::Log{"move t", "copy t"});
    }
    Optional<std::unique_ptr<int>> pointer = std::make_unique<int>(9);
    CHECK(*std::move(pointer).orDefault(nullptr) == 9);
}

TEST_CASE("optional: order and hash") {
    CHECK(Optional<int>() < Optional<int>(-5));
    CHECK(Optional<int>(1) < Optional<int>(2));
    CHECK(Optional<int>() == Optional<int>());
    CHECK(Optional<int>(1) == 1);
    CHECK(Optional<int>() != 0);
    std::unordered_set<Optional<int>> set = {1, 2, Optional<int>(), 1};
    CHECK(set.size() == 3);
}

TEST_CASE("optional: functions with arguments, and of what the value points to") {
    struct Point {
        int x = 3;
        int plus(int more) const { return x + more; }
        Optional<int> above(int least) const { return x > least ? Optional<int>(x) : Optional<int>(); }
    };
    Point point;
    CHECK(Optional<Point>(point).map(&Point::plus, 4).get() == 7);
    CHECK(Optional<Point>(point).flatMap(&Point::above, 1).get() == 3);
    CHECK_FALSE(Optional<Point>(point).flatMap(&Point::above, 3).present());
    Optional<Point*> pointer(&point);
    CHECK(pointer.mapRef(&Point::x).get() == 3);
    CHECK(pointer.mapRef(&Point::plus, 1).get() == 4);
    CHECK(pointer.flatMapRef(&Point::above, 2).get() == 3);
    CHECK_FALSE(Optional<Point*>(nullptr).mapRef(&Point::x).present());
    CHECK_FALSE(Optional<Point*>().flatMapRef(&Point::above, 2).present());
}
