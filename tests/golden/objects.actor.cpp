#include "flow/actorcompiler.h"

class Counter {
public:
    ACTOR Future<int> add(int n) {
        state int sum = 0;
        wait(delay(1));
        sum += this->total + n;
        this->sum++;
        auto all = [this, n] { return sum + n; };
        auto wrong = [self = this] { return self->total; };
        struct Own {
            int value;
            int get() { return this->value; }
        };
        return all() + wrong() + Own{1}.get();
    }
    Future<int> adds(int n) {
        return ACTOR [self = this, n]() -> Future<int> {
            wait(delay(1));
            return this->total + n;
        }();
    }

private:
    int total;
};
