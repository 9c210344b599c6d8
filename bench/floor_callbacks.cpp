// The works with a function pointer for each step: see floor.h.

#include "bench/floor.h"
#include "bench/free_list.h"

#include <ranges>
#include <vector>

namespace {

using namespace bench::floor;
using bench::Run;

template <class Derived>
Derived* made(void (*run)(Node*)) {
    return ::new (bench::FreeList<sizeof(Derived)>::allocate()) Derived{{run, nullptr}};
}
template <class Derived>
void release(Derived* node) {
    bench::FreeList<sizeof(Derived)>::release(node);
}

struct DelayNode : Node {
    Run* pass;
    Queue* queue;
};

void performDelay(Run* run) {
    Queue queue;
    DelayNode node{{[](Node* node) {
                        auto* self = static_cast<DelayNode*>(node);
                        if (self->pass->next())
                            self->queue->push(self);
                    },
                    nullptr},
                   run,
                   &queue};
    queue.push(&node);
    queue.runAll();
}

struct Increment : Node {
    std::uint32_t* sum = nullptr;
};

void increment(Node* node) {
    auto* self = static_cast<Increment*>(node);
    ++*self->sum;
    release(self);
}

void performNet2(Run* run) {
    PriorityQueue queue;
    while (run->next()) {
        std::uint32_t sum = 0;
        bench::Priorities priorities;
        for (int i = 0; i < run->size(); ++i) {
            auto* node = made<Increment>(increment);
            node->sum = &sum;
            queue.push(node, PriorityQueue::rank(priorities.next()));
        }
        queue.runAll();
        run->expect(sum == static_cast<std::uint32_t>(run->size()));
    }
}

void performCallback(Run* run) {
    Queue waiting;
    while (run->next()) {
        std::uint32_t sum = 0;
        for (int i = 0; i < run->size(); ++i) {
            auto* node = made<Increment>(increment);
            node->sum = &sum;
            waiting.push(node);
        }
        waiting.runAll();
        run->expect(sum == static_cast<std::uint32_t>(run->size()));
    }
}

struct Link : Node {
    int number = 0;
};

void passOn(Node* node) {
    auto* self = static_cast<Link*>(node);
    auto* to = static_cast<Link*>(self->next);
    to->number = self->number + 1;
    release(self);
    return to->run(to);
}

void performChain(Run* run) {
    while (run->next()) {
        Link last{{[](Node*) {}, nullptr}};
        Link* first = &last;
        for (int i = 0; i < run->size(); ++i) {
            auto* link = made<Link>(passOn);
            link->next = first;
            first = link;
        }
        first->run(first);
        run->expect(last.number == run->size());
    }
}

int giveNumber(int number) {
    return number;
}

void performCreateReady(Run* run) {
    int (*function)(int) = giveNumber;
    int sum = 0;
    while (run->next()) {
        asm("" : "+r"(function)); // so that it stays a call
        sum += function(1);
    }
    run->expect(sum > 0);
}

/// As large as the block of an actor that waits for a timer.
struct Timer {
    Timer* next;
    Timer* previous;
    double deadline;
    std::byte rest[72];
};

/// Blocks side by side, and a list by deadline.
class Timers {
public:
    explicit Timers(int most) : blocks_(static_cast<std::size_t>(most)) {
        for (Timer& block : blocks_ | std::views::reverse)
            free(&block);
    }

    Timer* set() {
        Timer* timer = std::exchange(free_, free_->next);
        timer->next = &list_;
        timer->previous = list_.previous;
        timer->deadline = later_ += 1e-6;
        list_.previous = list_.previous->next = timer;
        return timer;
    }
    void drop(Timer* timer) {
        timer->next->previous = timer->previous;
        timer->previous->next = timer->next;
        free(timer);
    }

private:
    void free(Timer* block) { block->next = std::exchange(free_, block); }

    std::vector<Timer> blocks_;
    Timer* free_ = nullptr;
    Timer list_{&list_, &list_, 0, {}};
    double later_ = 30;
};

void performTimerRandom(Run* run) {
    Timers timers(run->size() + 1);
    std::vector<Timer*> waiting(static_cast<std::size_t>(run->size()));
    for (Timer*& each : waiting)
        each = timers.set();
    flow::DeterministicRandom random(13);
    while (run->next())
        timers.drop(std::exchange(waiting[random.randomInt(0, run->size())], timers.set()));
}

const bench::PeerStyle callbacks("floor-callback", {
                                                       {"DELAY", performDelay},
                                                       {"NET2", performNet2},
                                                       {"callback", performCallback},
                                                       {"create_ready", performCreateReady},
                                                       {"chain", performChain},
                                                       {"timer_random", performTimerRandom},
                                                   });

} // namespace
