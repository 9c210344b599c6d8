#include "flow/memory/reference.h"

#include "flow/memory/fast_allocator.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <map>
#include <thread>
#include <unordered_set>
#include <vector>

using namespace flow;

namespace {

int live = 0;

struct Animal : ReferenceCounted<Animal>, FastAllocated<Animal> {
    explicit Animal(int l = 4) : legs(l) { ++live; }
    Animal(Animal const& other) : ReferenceCounted(other), FastAllocated(), legs(other.legs) { ++live; }
    Animal& operator=(Animal const&) = default;
    ~Animal() { --live; }
    Reference<Animal> self() { return Reference<Animal>::addRef(this); }
    int legs;
};

struct Shape : ReferenceCounted<Shape> {
    virtual ~Shape() = default;
    virtual int corners() const = 0;
};
struct Square final : Shape {
    Square() { ++live; }
    ~Square() override { --live; }
    int corners() const override { return 4; }
};

struct Shared : ThreadSafeReferenceCounted<Shared> {
    ~Shared() { --live; }
};

/// Counts in its own way.
struct Custom {
    mutable int count = 1;
    void addref() const { ++count; }
    void delref() const { --count; }
};

} // namespace

TEST_CASE("reference: the object lives as long as a reference") {
    test::Balance balance;
    {
        Reference<Animal> a = makeReference<Animal>(2);
        CHECK(a->legs == 2);
        CHECK(a->isSoleOwner());
        Reference<Animal> b = a;
        CHECK(a == b);
        CHECK(a->debugGetReferenceCount() == 2);
        a.clear();
        CHECK_FALSE(a.isValid());
        CHECK(a == nullptr);
        CHECK(live == 1);
        a = std::move(b);
        CHECK(b.getPtr() == nullptr);
        CHECK((*a).legs == 2);
        Reference<Animal> self = a->self();
        CHECK(self->debugGetReferenceCount() == 2);
        a = *&a;
        CHECK(a->debugGetReferenceCount() == 2);
    }
    CHECK(live == 0);
}

TEST_CASE("reference: a copy of an object has a count of its own") {
    Reference<Animal> a = makeReference<Animal>(3);
    Reference<Animal> more = a;
    Reference<Animal> copy = makeReference<Animal>(*a);
    CHECK(copy->isSoleOwner());
    *copy = *a;
    CHECK(copy->isSoleOwner());
    CHECK(a->debugGetReferenceCount() == 2);
}

TEST_CASE("reference: derived to base and back") {
    {
        Reference<Square> square = makeReference<Square>();
        Reference<Shape> shape = square;
        CHECK(shape->corners() == 4);
        CHECK(shape == square);
        CHECK(shape.castTo<Square>() == square);
        shape = std::move(square);
        CHECK_FALSE(square);
        CHECK(shape->isSoleOwner());
    }
    CHECK(live == 0);
}

TEST_CASE("reference: extractPtr gives the reference away") {
    Reference<Animal> a = makeReference<Animal>();
    Animal* pointer = a.extractPtr();
    CHECK_FALSE(a);
    CHECK(live == 1);
    delref(pointer);
    CHECK(live == 0);
    Reference<Animal> null = Reference<Animal>::addRef(nullptr);
    CHECK_FALSE(null);
}

TEST_CASE("reference: keys of maps and sets") {
    Reference<Animal> a = makeReference<Animal>();
    Reference<Animal> b = makeReference<Animal>();
    std::unordered_set<Reference<Animal>> set = {a, b, a};
    CHECK(set.size() == 2);
    std::map<Reference<Animal>, int> map = {{a, 1}, {b, 2}};
    CHECK(map[a] == 1);
    CHECK(map[b] == 2);
}

TEST_CASE("reference: whatever counts will do") {
    Custom custom;
    {
        Reference<Custom> a = Reference<Custom>::addRef(&custom);
        Reference<Custom> b = a;
        CHECK(custom.count == 3);
    }
    CHECK(custom.count == 1);
    addref(&custom);
    CHECK(custom.count == 2);
}

TEST_CASE("reference: setPtrUnsafe counts nothing") {
    Custom custom;
    {
        Reference<Custom> a;
        a.setPtrUnsafe(&custom);
        CHECK(a.getPtr() == &custom);
        a.setPtrUnsafe(nullptr);
    }
    CHECK(custom.count == 1);
}

TEST_CASE("reference: threads share a thread-safe count") {
    live = 1;
    Reference<Shared> shared = makeReference<Shared>();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([shared] {
            for (int k = 0; k < 10000; ++k)
                Reference<Shared> copy = shared;
        });
    for (std::thread& thread : threads)
        thread.join();
    CHECK(shared->isSoleOwner());
    CHECK(shared->debugGetReferenceCount() == 1);
    shared.clear();
    CHECK(live == 0);
}

TEST_CASE("reference: using a null one aborts in checked builds" * doctest::skip(!FLOW_CHECKED)) {
    Reference<Animal> null;
    CHECK_DIES(null->legs = 1, "null Reference");
}
