// Messages about an actor use its name in the source: here, the actor that dropped an error.
#include "flow/sim.h"
#include "tests/programs/trace.h"

using namespace flow;

#include "flow/actorcompiler.h"

ACTOR UNCANCELLABLE Future<Void> plain(Future<Void> f) {
    wait(f);
    throw io_error();
}

namespace {
ACTOR UNCANCELLABLE Future<Void> hidden(Future<Void> f) {
    wait(f);
    throw io_error();
}
} // namespace

namespace outer::inner {
ACTOR UNCANCELLABLE Future<Void> nested(Future<Void> f) {
    wait(f);
    throw io_error();
}
} // namespace outer::inner

struct MyClass {
    ACTOR UNCANCELLABLE static Future<Void> fetch(Future<Void> f) {
        wait(f);
        throw io_error();
    }
    ACTOR UNCANCELLABLE Future<Void> member(MyClass* self, Future<Void> f) {
        wait(f);
        throw io_error();
    }
    ACTOR UNCANCELLABLE static Future<Void> later(MyClass* self, Future<Void> f);
    ACTOR void detached(MyClass* self, Future<Void> f) {
        wait(f);
        throw io_error();
    }
};

ACTOR UNCANCELLABLE Future<Void> MyClass::later(MyClass* self, Future<Void> f) {
    wait(f);
    throw io_error();
}

ACTOR template <class T>
UNCANCELLABLE Future<T> generic(T value, Future<Void> f) {
    wait(f);
    throw io_error();
}

ACTOR UNCANCELLABLE Future<Void> overloaded(Future<Void> f) {
    wait(f);
    throw io_error();
}

ACTOR UNCANCELLABLE Future<Void> overloaded(int number, Future<Void> f) {
    wait(f);
    throw io_error();
}

ACTOR void detached(Future<Void> f) {
    wait(f);
    throw io_error();
}

ACTOR UNCANCELLABLE Future<Void> WithACapital(Future<Void> f) {
    wait(f);
    throw io_error();
}

ACTOR UNCANCELLABLE Future<Void> runActorState(Future<Void> f) {
    wait(f);
    throw io_error();
}

static Future<Void> written(Uncancellable, Future<Void> f) {
    co_await f;
    throw io_error();
}

struct Written {
    static Future<Void> byHand(Uncancellable, Future<Void> f) {
        co_await f;
        throw io_error();
    }
};

int main() {
    SimLoop sim;
    setDroppedErrorHandler([](const char* actor, Error error) { say("%s dropped %s", actor, error.name()); });
    MyClass object;
    Promise<Void> now;
    Future<Void> f = now.getFuture();
    // Waiters are resumed in the reverse order.
    (void)Written::byHand(Uncancellable(), f);
    (void)written(Uncancellable(), f);
    (void)runActorState(f);
    (void)WithACapital(f);
    detached(f);
    (void)overloaded(1, f);
    (void)overloaded(f);
    (void)generic(1, f);
    object.detached(&object, f);
    (void)MyClass::later(&object, f);
    (void)object.member(&object, f);
    (void)MyClass::fetch(f);
    (void)outer::inner::nested(f);
    (void)hidden(f);
    (void)plain(f);
    now.send(Void());
}
