// A kill destroys a process's computations in the order in which dropping them would: an owner after what it has lent.
#include "flow/combine/all.h"
#include "flow/combine/lifetime.h"
#include "flow/combine/race.h"
#include "flow/compat/collection.h"
#include "flow/compat/flow_lock.h"
#include "flow/sim/sim_loop.h"
#include "flow/sim/world.h"
#include "flow/sync/channel.h"
#include "flow/sync/event.h"
#include "flow/sync/semaphore.h"
#include "flow/tasks/fork.h"
#include "flow/tasks/scope.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"
#include "flow/wait/handler_slot.h"
#include "net/sim/sim_network.h"

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>

using namespace flow;

namespace {

std::vector<std::string> ends;
std::set<void const*> living;

struct Lender {
    explicit Lender(std::string n) : name(std::move(n)) { living.insert(this); }
    Lender(Lender const&) = delete;
    Lender& operator=(Lender const&) = delete;
    ~Lender() {
        living.erase(this);
        ends.push_back(name);
    }
    std::string name;
};

/// Uses its owner when it ends.
struct Borrower {
    Borrower(Lender* o, std::string n) : owner(o), name(std::move(n)) {}
    Borrower(Borrower const&) = delete;
    Borrower& operator=(Borrower const&) = delete;
    ~Borrower() {
        CHECK_MESSAGE(living.contains(owner), name);
        ends.push_back(name);
    }
    Lender* owner;
    std::string name;
};

Future<Void> borrowing(Lender* owner, std::string name) {
    Borrower guard(owner, name);
    try {
        co_await Future<Void>(Never());
    } catch (...) {
        ends.push_back("a handler of " + name);
        throw;
    }
}
Future<Void> borrowingDetached(Uncancellable, Lender* owner, std::string name) {
    Borrower guard(owner, name);
    co_await Future<Void>(Never());
}

/// How the process ends that runs main and is killed after a second.
std::vector<std::string> killed(std::function<Future<Void>()> main) {
    ends.clear();
    World world(1);
    net::SimNetwork network(world);
    Process& process = world.start({.name = "p", .main = std::move(main)});
    world.run(delay(1));
    REQUIRE(process.isRunning());
    world.kill(process);
    CHECK(world.leakedCells() == 0);
    CHECK(living.empty());
    return ends;
}
/// The same as if its main had been dropped.
void endsAsDropped(std::function<Future<Void>()> main) {
    std::vector<std::string> whenKilled = killed(main);
    ends.clear();
    {
        SimLoop loop;
        Future<Void> running = main();
        loop.run(delay(1));
    }
    std::erase_if(ends, [](std::string const& each) { return each.starts_with("a handler"); });
    CHECK(whenKilled == ends);
}

} // namespace

TEST_CASE("kill: locals, from the last one on, each with the computations behind it") {
    endsAsDropped([]() -> Future<Void> {
        Lender first("first");
        Future<Void> older = borrowing(&first, "older");
        Lender second("second");
        ActorCollection children;
        children.add(borrowing(&second, "child"));
        children.add(borrowing(&first, "another child"));
        Future<Void> younger = borrowing(&second, "younger");
        co_await Future<Void>(Never());
    });
}

TEST_CASE("kill: what a computation waits for ends before it") {
    auto waits = [](Lender* outer) -> Future<Void> {
        Lender own("own");
        Borrower guard(outer, "outer guard");
        co_await borrowing(&own, "awaited");
    };
    endsAsDropped([waits]() -> Future<Void> {
        Lender owner("owner");
        auto first = co_await race(waits(&owner), borrowing(&owner, "raced"));
        (void)first;
    });
    endsAsDropped([waits]() -> Future<Void> {
        Lender owner("owner");
        co_await (waits(&owner) && borrowing(&owner, "all"));
    });
}

TEST_CASE("kill: by the age of what owns a computation, not by its own") {
    endsAsDropped([]() -> Future<Void> {
        Promise<Lender*> made;
        Future<Void> server; // made later than its user, and dropped after it
        auto use = [](Future<Lender*> of) -> Future<Void> {
            Lender* owner = co_await of;
            Borrower guard(owner, "user");
            co_await Future<Void>(Never());
        };
        Future<Void> user = use(made.getFuture());
        auto serve = [](Promise<Lender*> out) -> Future<Void> {
            Lender owner("server");
            out.send(&owner);
            co_await Future<Void>(Never());
        };
        server = serve(made);
        co_await Future<Void>(Never());
    });
}

TEST_CASE("kill: uncancellable ones before what has started them") {
    std::vector<std::string> order = killed([]() -> Future<Void> {
        Lender owner("main");
        (void)borrowingDetached(Uncancellable(), &owner, "first");
        (void)borrowingDetached(Uncancellable(), &owner, "second");
        Future<Void> held = borrowingDetached(Uncancellable(), &owner, "held");
        co_await Future<Void>(Never());
    });
    CHECK(order == std::vector<std::string>{"second", "first", "held", "main"});
}

TEST_CASE("kill: an object that holds its own computations") {
    struct Service : Lender {
        Service() : Lender("service") {}
        Future<Void> run(std::shared_ptr<Service> self) {
            Borrower guard(this, "run");
            co_await borrowing(self.get(), "serving");
        }
        Future<Void> running;
        ActorCollection children;
    };
    std::vector<std::string> order = killed([]() -> Future<Void> {
        auto service = std::make_shared<Service>();
        service->children.add(borrowing(service.get(), "child"));
        service->running = service->run(service); // they hold each other
        return Never();
    });
    CHECK(order == std::vector<std::string>{"serving", "run", "child", "service"});
}

TEST_CASE("kill: locks, semaphores and what waits for them") {
    auto hold = [](FlowLock* lock, Semaphore* free, Mutex* mutex) -> Future<Void> {
        co_await lock->take();
        FlowLock::Releaser releaser(*lock);
        co_await free->acquire();
        struct GiveBack {
            Semaphore* to;
            ~GiveBack() { to->release(); }
        } giveBack{free};
        Mutex::Lock locked = co_await mutex->lock();
        ends.push_back("has all");
        co_await Future<Void>(Never());
    };
    std::vector<std::string> order = killed([hold]() -> Future<Void> {
        auto lock = std::make_unique<FlowLock>(3);
        auto free = std::make_unique<Semaphore>(2);
        auto mutex = std::make_unique<Mutex>();
        ActorCollection children;
        for (int i = 0; i < 5; ++i)
            children.add(hold(lock.get(), free.get(), mutex.get()));
        co_await Future<Void>(Never());
    });
    CHECK(order == std::vector<std::string>{"has all"});
}

TEST_CASE("kill: what waits at a channel or an event that goes does not go on") {
    auto receive = [](Channel<int>* from) -> Future<Void> {
        try {
            co_await from->receive();
        } catch (...) {
            ends.push_back("a handler");
        }
    };
    std::vector<std::string> order = killed([receive]() -> Future<Void> {
        Future<Void> waiting; // these go behind what they wait for
        HandlerSlot first, second;
        auto channel = std::make_unique<Channel<int>>(1);
        auto event = std::make_unique<Event>();
        waiting = receive(channel.get());
        call(channel->receive(), first, [](Error, int) { ends.push_back("called"); });
        call(event->wait(), second, [](Error) { ends.push_back("called"); });
        co_await Future<Void>(Never());
    });
    CHECK(order.empty());
}

namespace {

Task<> borrowingTask(Context, Lender* owner, std::string name) {
    Borrower guard(owner, name);
    co_await Future<Void>(Never());
}
Fork<> borrowingFork(Context, Lender* owner, std::string name) {
    Lender own(name + " own");
    Borrower guard(owner, name);
    Fork<> deeper = [](Context, Lender* below, std::string called) -> Fork<> {
        Borrower own(below, called);
        co_await delay(1000);
    }(co_await context(), &own, "below " + name);
    co_await borrowing(&own, "awaited by " + name);
}
Task<> treeOf(Context, Lender* outer) {
    Borrower guard(outer, "tree");
    Lender owner("task");
    Scope scope(co_await context());
    scope.spawn(borrowingTask(scope.context(), &owner, "in scope"));
    scope.spawn(borrowingTask(scope.context(), outer, "also in scope"));
    Fork<> fork = borrowingFork(co_await context(), &owner, "fork");
    co_await scope.join();
}

} // namespace

TEST_CASE("kill: a tree of tasks, from its leaves on") {
    std::vector<std::string> order = killed([]() -> Future<Void> {
        Lender owner("main");
        Environment environment;
        co_await start(treeOf(environment, &owner));
    });
    CHECK(order.back() == "main");
    CHECK(order.size() == 9);
    order = killed([]() -> Future<Void> {
        Lender owner("main");
        Environment environment;
        ActorCollection trees;
        for (int i = 0; i < 3; ++i)
            trees.add(start(treeOf(environment, &owner)));
        co_await Future<Void>(Never());
    });
    CHECK(order.back() == "main");
    CHECK(order.size() == 25);
}

TEST_CASE("kill: connections, listeners and the actors of both sides") {
    using namespace net;
    auto serveOne = [](Lender* owner, Reference<Connection> client) -> Future<Void> {
        Borrower guard(owner, "session");
        struct Farewell {
            Connection* to;
            ~Farewell() { (void)to->write("bye"_sr); }
        } farewell{client.getPtr()};
        for (;;) {
            Bytes bytes = co_await client->read();
            if (bytes.empty())
                co_return;
            co_await client->write(bytes);
        }
    };
    std::vector<std::string> order = killed([serveOne]() -> Future<Void> {
        Lender owner("server");
        Reference<Listener> listener = transport().listen(80);
        ActorCollection sessions;
        auto accept = [](Lender* to, Listener* from, ActorCollection* into, auto serve) -> Future<Void> {
            for (;;) {
                Reference<Connection> accepted = co_await from->accept();
                into->add(serve(to, accepted));
            }
        };
        Future<Void> accepting = accept(&owner, listener.getPtr(), &sessions, serveOne);
        std::vector<Reference<Connection>> clients;
        for (int i = 0; i < 3; ++i) {
            Reference<Connection> client = co_await transport().connect(listener->localAddress());
            clients.push_back(client);
            co_await client->write("hello"_sr);
            co_await client->readExactly(5);
        }
        co_await clients[0]->read();
    });
    CHECK(order == std::vector<std::string>{"session", "session", "session", "server"});
}

TEST_CASE("kill: a chain of a hundred thousand, from whichever end it was made") {
    auto link = [](Future<Void> next) -> Future<Void> { co_await next; };
    killed([link]() -> Future<Void> {
        Future<Void> chain = Never();
        for (int i = 0; i < 100'000; ++i)
            chain = link(std::move(chain));
        co_await chain;
    });
    struct Nest {
        static Future<Void> deeper(int levels) {
            Future<Void> next = levels > 0 ? deeper(levels - 1) : Never();
            co_await Future<Void>(Never());
        }
    };
    killed([]() -> Future<Void> { return Nest::deeper(1000); });
}

TEST_CASE("kill: what destructors cancel and start ends as well, and no handler runs") {
    auto late = [](Uncancellable) -> Future<Void> {
        struct End {
            ~End() { ends.push_back("started late"); }
        } end;
        co_await Future<Void>(Never());
    };
    std::vector<std::string> order = killed([late]() -> Future<Void> {
        Lender owner("main");
        struct Ending {
            decltype(late) startLate;
            Future<Void> held;
            ~Ending() {
                held.cancel();
                (void)startLate(Uncancellable());
            }
        } ending{late, borrowing(&owner, "cancelled")};
        co_await Future<Void>(Never());
    });
    CHECK(order == std::vector<std::string>{"cancelled", "main", "started late"});
}
