// The works of bench/actors/ with callbacks: flow/core/callback.h. Each stands for one actor, in a block of
// its own.

#include "bench/run.h"
#include "flow/core/callback.h"
#include "flow/core/future.h"
#include "flow/core/stream.h"
#include "flow/wait/delay.h"

#include <memory>
#include <vector>

namespace {

using namespace flow;
using bench::Counted;
using bench::Priorities;
using bench::Run;

/// Runs one pass after another: begin() starts a pass, which ends in next().
class Passes {
public:
    virtual ~Passes() = default;

    Future<Void> start() {
        Future<Void> ended = ended_.getFuture();
        next();
        return ended;
    }

    /// The passes are deleted with the last one.
    void next() {
        while (run->next())
            if (!pass())
                return;
        Promise<Void> ended = std::move(ended_);
        delete this;
        ended.send(Void());
    }

protected:
    explicit Passes(Run* run) : run(run) {}

    /// True if the pass is over already; if not, it ends with next().
    virtual bool pass() = 0;

    Run* run;

private:
    Promise<Void> ended_;
};

template <class Work>
Future<Void> drive(Run* run) {
    return (new Work(run))->start();
}

/// Waits for one thing in each pass.
template <class Moment, Moment (*make)()>
class Wait final : public Passes, Callback<Void> {
public:
    explicit Wait(Run* run) : Passes(run) {}

private:
    bool pass() override {
        Future<Void> moment = make();
        if (moment.isReady())
            return true;
        moment.addCallbackAndClear(this);
        return false;
    }
    void fire(Void const&) override { next(); }
};

Delay makeDelay() {
    return delay(0);
}
Yield makeYield() {
    return yield();
}

/// N of Each, which wait; the last that is called ends the pass.
class Many : public Passes {
protected:
    explicit Many(Run* run) : Passes(run) {}

    class Each final : public Callback<Void>, public FastAllocated<Each> {
    public:
        Each(Many* all, Future<Void> signal) : all_(all) { signal.addCallbackAndClear(this); }

    private:
        void fire(Void const&) override {
            Many* all = all_;
            delete this;
            if (++all->sum_ == all->run->size())
                all->next();
        }

        Many* all_;
    };

    void begin() { sum_ = 0; }

private:
    int sum_ = 0;
};

class Net2 final : public Many {
public:
    explicit Net2(Run* run) : Many(run) {}

private:
    bool pass() override {
        begin();
        Priorities priorities;
        for (int i = 0; i < run->size(); ++i)
            new Each(this, delay(0, priorities.next()));
        return false;
    }
};

class Timers final : public Many {
public:
    explicit Timers(Run* run) : Many(run) {}

private:
    bool pass() override {
        begin();
        for (int i = 1; i <= run->size(); ++i)
            new Each(this, delay(1e-9 * i));
        return false;
    }
};

/// send() calls each callback. The sender ends the pass, so that passes do not nest.
class Follow final : public Passes {
public:
    explicit Follow(Run* run) : Passes(run) {}

private:
    struct Each final : Callback<Void>, FastAllocated<Each> {
        explicit Each(int* sum) : sum(sum) {}
        void fire(Void const&) override {
            ++*sum;
            delete this;
        }
        int* sum;
    };

    bool pass() override {
        int sum = 0;
        Promise<Void> signal;
        for (int i = 0; i < run->size(); ++i)
            signal.getFuture().addCallbackAndClear(new Each(&sum));
        signal.send(Void());
        run->expect(sum == run->size());
        return true;
    }
};

class Chain final : public Passes {
public:
    explicit Chain(Run* run) : Passes(run) {}

private:
    struct PassOn final : Callback<int>, FastAllocated<PassOn> {
        void fire(int const& number) override {
            Promise<int> next = std::move(to);
            delete this;
            next.send(number + 1);
        }
        Promise<int> to;
    };

    bool pass() override {
        Promise<int> first;
        Future<int> last = first.getFuture();
        for (int i = 0; i < run->size(); ++i) {
            auto* link = new PassOn;
            last.addCallbackAndClear(link);
            last = link->to.getFuture();
        }
        first.send(0);
        run->expect(last.get() == run->size());
        return true;
    }
};

struct WaitCounted final : Callback<Void>, FastAllocated<WaitCounted> {
    WaitCounted(Future<Void> never, std::uint32_t* ends) : counted(ends) { never.addCallbackAndClear(this); }
    Counted counted;
};

class Cancel final : public Passes {
public:
    explicit Cancel(Run* run) : Passes(run) { waiting_.reserve(run->size()); }

private:
    bool pass() override {
        std::uint32_t ends = 0;
        for (int i = 0; i < run->size(); ++i)
            waiting_.push_back(std::make_unique<WaitCounted>(never_.getFuture(), &ends));
        waiting_.clear();
        run->expect(ends == static_cast<std::uint32_t>(run->size()));
        return true;
    }

    Promise<Void> never_;
    std::vector<std::unique_ptr<WaitCounted>> waiting_;
};

class TimerCancel final : public Passes {
public:
    explicit TimerCancel(Run* run) : Passes(run) {}

private:
    bool pass() override {
        std::uint32_t ends = 0;
        std::make_unique<WaitCounted>(delay(bench::laterSeconds(random_)), &ends).reset();
        run->expect(ends == 1);
        return true;
    }

    DeterministicRandom random_{11};
};

class TimerRandom final : public Passes {
public:
    explicit TimerRandom(Run* run) : Passes(run), waiting_(static_cast<std::size_t>(run->size())) {
        for (auto& each : waiting_)
            each = later();
    }

private:
    std::unique_ptr<WaitCounted> later() { return std::make_unique<WaitCounted>(delay(later_ += 1e-6), &ends_); }

    bool pass() override {
        waiting_[random_.randomInt(0, run->size())] = later();
        return true;
    }

    std::uint32_t ends_ = 0;
    double later_ = 30;
    DeterministicRandom random_{13};
    std::vector<std::unique_ptr<WaitCounted>> waiting_;
};

class Stream final : public Passes {
public:
    explicit Stream(Run* run) : Passes(run) {}

private:
    bool pass() override {
        sum_ = 0;
        FutureStream<int> received = numbers_.getFuture();
        for (int i = 0; i < run->size(); ++i)
            numbers_.send(1);
        while (received.isReady())
            sum_ += received.pop();
        run->expect(sum_ == run->size());
        return true;
    }

    PromiseStream<int> numbers_;
    int sum_ = 0;
};

const bench::Style style("callback", {
                                         {"DELAY", drive<Wait<Delay, makeDelay>>},
                                         {"YIELD", drive<Wait<Yield, makeYield>>},
                                         {"NET2", drive<Net2>},
                                         {"callback", drive<Follow>},
                                         {"chain", drive<Chain>},
                                         {"cancel", drive<Cancel>},
                                         {"stream", drive<Stream>},
                                         {"timer_cancel", drive<TimerCancel>},
                                         {"timer_random", drive<TimerRandom>},
                                         {"timers", drive<Timers>},
                                     });

} // namespace
