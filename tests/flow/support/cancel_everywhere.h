#pragma once
// Cancels a computation at each of its suspension points, in every way, and checks that nothing is left of it.
//
//     cancelEverywhere("waitForAny", [](Inputs& in) { return waitForAny(std::vector{in.number(0), in.number(1)}); });
//
// The computation is made anew for each combination of: after how many steps it is cancelled, in which order the steps
// come, whether inputs end in values or errors, and how it is cancelled. Each step completes one input, or lets time
// pass; those that are left come after the cancel.

#include "flow/core/stream.h"
#include "flow/sim/sim_loop.h"

#include <functional>
#include <memory>
#include <vector>

namespace flow::test {

class Inputs;

/// Lives as long as the computation, or the input, that holds it.
class Sentinel {
public:
    explicit Sentinel(Inputs& inputs);
    Sentinel(Sentinel const& other) : Sentinel(*other.inputs_) {}
    Sentinel& operator=(Sentinel const&) = delete;
    ~Sentinel();

private:
    Inputs* inputs_;
};

/// What a computation may wait for.
class Inputs {
public:
    static constexpr int kPromises = 3;
    static constexpr int kSteps = kPromises + 4;

    explicit Inputs(bool fail) : fail_(fail) {}

    /// An actor that holds a Sentinel and ends in step i, with the value i.
    Future<int> number(int i);
    Future<Void> event(int i);
    /// A stream that has an element after one step and ends in another.
    FutureStream<int> numbers();
    FutureStream<Future<Void>> events();
    Sentinel sentinel() { return Sentinel(*this); }

    /// An object that outlives the computation.
    template <class T, class... Args>
    T& keep(Args&&... args) {
        auto object = std::make_shared<T>(std::forward<Args>(args)...);
        kept_.push_back(object);
        return *object;
    }
    /// What one more step does.
    void onStep(std::function<void()> action) { actions_.push_back(std::move(action)); }
    /// What must hold when the computation is destroyed and all steps are done.
    void afterwards(std::function<bool()> holds) { conditions_.push_back(std::move(holds)); }

    void step(int i);
    void letTimePass();
    bool conditionsHold() const;
    /// How many Sentinels there are.
    int alive() const { return alive_; }
    Future<int> promised(int i) const { return promises_[i].getFuture(); }

    /// Called by the destructor of a Sentinel.
    std::function<void()> onDeath;

private:
    friend class Sentinel;

    void pass(double seconds);

    bool fail_;
    int alive_ = 0;
    SimLoop loop_;
    std::vector<std::shared_ptr<void>> kept_;
    std::vector<std::function<void()>> actions_;
    std::vector<std::function<bool()>> conditions_;
    Promise<int> promises_[kPromises];
    std::vector<PromiseStream<int>> streams_;
    std::vector<PromiseStream<Future<Void>>> streamsOfEvents_;
};

/// A future of any type.
class AnyFuture {
public:
    template <class T>
    AnyFuture(Future<T> future) : cell_(std::move(future).release()) {}
    AnyFuture(AnyFuture&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
    ~AnyFuture() { drop(); }

    bool isValid() const { return cell_ != nullptr; }
    bool isReady() const { return cell_->isReady(); }
    bool wasCancelled() const { return cell_->isError() && cell_->error == actor_cancelled(); }
    void cancel() const { detail::cancel(cell_); }
    void drop() {
        if (detail::Cell* cell = std::exchange(cell_, nullptr))
            detail::releaseFuture(cell);
    }
    detail::Cell* cell() const { return cell_; }

private:
    detail::Cell* cell_;
};

/// What is special about a computation.
struct Traits {
    bool runsOn = false;      // it goes on without its future
    bool endsWell = false;    // a cancel makes its result ready with a value
    bool hasHandlers = false; // of its own, which C++ exceptions reach
};

void cancelEverywhere(const char* name, std::function<AnyFuture(Inputs&)> const& make, Traits traits = {});

} // namespace flow::test
