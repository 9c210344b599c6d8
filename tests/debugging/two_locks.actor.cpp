// For flow/docs/debugging_a_deadlock.md: two transfers of money, of which none comes to its end.
#include "flow/flow.h"
#include "flow/inspect/object_name.h"
#include "flow/loop/real_loop.h"

#include <cstdio>

#include "flow/actorcompiler.h" // must be last

using namespace flow;

struct Account {
    Mutex mutex;
    int balance = 100;
};

ACTOR Future<Void> transfer(Account* from, Account* to, int amount) {
    state Mutex::Lock holdsFrom = wait(from->mutex.lock());
    wait(delay(0.01)); // asks whether there is enough
    state Mutex::Lock holdsTo = wait(to->mutex.lock());
    from->balance -= amount;
    to->balance += amount;
    return Void();
}

ACTOR Future<Void> runBank(Account* savings, Account* daily) {
    state Future<Void> out = transfer(savings, daily, 30);
    state Future<Void> back = transfer(daily, savings, 20);
    wait(out);
    wait(back);
    return Void();
}

int main() {
    RealLoop real;
    Account savings, daily;
    ObjectName savingsName{savings, "savings"}, dailyName{daily, "daily"}; // for reports
    real.run(runBank(&savings, &daily));
    std::printf("%d and %d\n", savings.balance, daily.balance);
}
