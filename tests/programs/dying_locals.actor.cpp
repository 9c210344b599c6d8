// Waits that destroy what they wait for, since that refers to a plain local: a checked build ends the program there, and
// names the local. Each runs in a child. Waits that look like them, and are right, run on.
#include "flow/flow.h"
#include "flow/sim.h"
#include "flow/sync/channel.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "flow/actorcompiler.h"

using namespace flow;

struct Host : ReferenceCounted<Host> {
    int n = 1;
    Channel<int> numbers{1};

    Host() {}
    Future<int> plain() { return n; }
    Future<int> coroutine() {
        co_await delay(1);
        co_return n;
    }
    Future<int> actor() { return actor(this); }
    ACTOR static Future<int> actor(Host* self);
};
Future<Reference<Host>> open() {
    co_await delay(1);
    co_return makeReference<Host>();
}
Future<std::pair<int, Reference<Host>>> openPair() {
    co_await delay(1);
    co_return std::pair(1, makeReference<Host>());
}

ACTOR Future<int> Host::actor(Host* self) {
    wait(delay(1));
    return self->n;
}

// ---------------------------------------------------------------------------------------------------------------------
// Wrong

ACTOR Future<int> result() {
    Reference<Host> c = wait(open());
    int n = wait(c->numbers.receive());
    return n;
}
ACTOR Future<int> twoReferences() {
    Reference<Host> c = wait(open());
    Reference<Host> d = c;
    int n = wait(d->numbers.receive());
    return n;
}
ACTOR Future<int> unpacked() {
    auto [i, c] = wait(openPair());
    (void)i;
    int n = wait(c->numbers.receive());
    return n;
}
ACTOR Future<int> unique() {
    auto host = std::make_unique<Host>();
    int n = wait(host->numbers.receive());
    return n;
}
ACTOR Future<int> object() {
    Host host;
    int n = wait(host.numbers.receive());
    return n;
}
ACTOR Future<int> referred() {
    std::optional<Host> host;
    host.emplace();
    auto& same = *host;
    int n = wait(same.numbers.receive());
    return n;
}
ACTOR Future<int> element() {
    std::vector<std::unique_ptr<Host>> hosts;
    hosts.push_back(std::make_unique<Host>());
    Host* first = hosts[0].get();
    int n = wait(first->numbers.receive());
    return n;
}
ACTOR Future<int> captured() {
    Host host;
    auto receive = [&] { return host.numbers.receive(); };
    int n = wait(receive());
    return n;
}
ACTOR Future<int> chosen() {
    loop {
        Host host;
        choose {
            when(wait(delay(1))) {}
            when(int n = wait(host.numbers.receive())) { return n; }
        }
    }
}
ACTOR Future<Void> sent(Channel<std::string>* texts) {
    std::string n = "n"; // a send() of an int would hold it
    wait(texts->send(n));
    return Void();
}
ACTOR Future<int> byCoroutine() {
    Host host;
    int n = wait(host.coroutine());
    return n;
}
ACTOR Future<int> byActor() {
    Host host;
    int n = wait(host.actor());
    return n;
}
ACTOR Future<int> address() {
    Host host;
    int n = wait(Host::actor(&host));
    return n;
}
ACTOR Future<int> kept() {
    Host host;
    int n = wait(keep(host.numbers.receive()));
    return n;
}
ACTOR Future<Void> inside(Future<Void> first) {
    try {
        wait(first);
        Host host;
        if (host.n == 1) {
            int n = wait(host.actor());
            (void)n;
        }
    } catch (Error& e) {
        std::printf("%s\n", e.name());
    }
    return Void();
}

// ---------------------------------------------------------------------------------------------------------------------
// Right

ACTOR Future<int> states() {
    state Host host;
    state Reference<Host> c = wait(open());
    host.numbers.send(1).take();
    c->numbers.send(2).take();
    state int n = wait(host.numbers.receive());
    int m = wait(c->numbers.receive());
    return n + m;
}
ACTOR Future<int> heldElsewhere() {
    state Future<Reference<Host>> opening = open();
    state Reference<Host> held = makeReference<Host>();
    Reference<Host> c = wait(opening);
    c->numbers.send(3).take();
    state int n = wait(c->numbers.receive());
    Reference<Host> d = held;
    int m = wait(d->actor());
    return n + m;
}
ACTOR Future<int> usedBefore() {
    Host host;
    int n = wait(host.plain());
    static Channel<int> numbers(1);
    numbers.send(3 + n).take();
    int m = wait(numbers.receive());
    return m;
}

// ---------------------------------------------------------------------------------------------------------------------

void print(const char* message, const char*, int, const char*) {
    const char* name = std::strchr(message, '`');
    std::printf("%.*s\n", name ? static_cast<int>(std::strcspn(name, ",")) : 0, name ? name : "");
    std::fflush(stdout);
    ::_exit(0);
}

template <class Start>
void dies(const char* name, const char* local, Start start) {
    std::printf("%s: ", name);
    std::fflush(stdout);
#if FLOW_CHECKED
    (void)local;
    pid_t child = ::fork();
    if (child == 0) {
        setAssertionHandler(print);
        SimLoop sim;
        (void)sim.run(start());
        std::printf("lives\n");
        std::fflush(stdout);
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
#else
    (void)start;
    std::printf("`%s`\n", local);
#endif
}

int main() {
    dies("result", "c", [] { return result(); });
    dies("two references", "c", [] { return twoReferences(); });
    dies("unpacked", "c", [] { return unpacked(); });
    dies("unique", "host", [] { return unique(); });
    dies("object", "host", [] { return object(); });
    dies("referred", "host", [] { return referred(); });
    dies("element", "hosts", [] { return element(); });
    dies("captured", "host", [] { return captured(); });
    dies("chosen", "host", [] { return chosen(); });
    Channel<std::string> texts(1);
    dies("sent", "n", [&] { return sent(&texts); });
    dies("coroutine", "host", [] { return byCoroutine(); });
    dies("actor", "host", [] { return byActor(); });
    dies("address", "host", [] { return address(); });
    dies("kept", "host", [] { return kept(); });
    dies("inside", "host", [] { return inside(Void()); });
    SimLoop sim;
    std::printf("%d\n", sim.run(states()));
    std::printf("%d\n", sim.run(heldElsewhere()));
    std::printf("%d\n", sim.run(usedBefore()));
}
