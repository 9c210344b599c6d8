// The loop of a World: the order in which processes run, faults, the record of events, and failures.
//
// A turn of the world's own loop runs the steps of the test. When none is ready, idleUntil() chooses the process that
// wakes first (if several wake at the same time, the seed chooses), moves the time to that moment, and runs one turn of
// that process (world_processes.cpp). Each step and each fault is an event of the digest.
//
// A fault is injected if dice_ draws it and filter_ admits its number. injectFaults() (inject.cpp) draws the faults
// "per second of a process"; injects() and buggify() draw all others, and are called where the fault can happen.

#include "flow/sim/world.h"

#include "flow/base/detail/seed.h"
#include "flow/base/format.h"
#include "flow/diag/detail/symbol.h"
#include "flow/loop/detail/run_turn.h"
#include "flow/sim/detail/inject.h"

#include <limits>
#include <string_view>

namespace flow {

/// Registers all cells, and makes some allocations of processes fail.
class World::Watch final : public LiveBlocks {
public:
    explicit Watch(World& world) : world_(world) {}

private:
    bool allocating() noexcept override {
        Process* process = world_.current_;
        bool fails =
            process && !process->isEnding_ && process->failingAllocation_ >= 0 && process->failingAllocation_-- == 0;
        if (fails)
            world_.injected(FaultKind::allocationFailure, process->id_);
        return !fails;
    }

    World& world_;
};

World::World(std::uint64_t seed, Faults const& faults, Record* record)
    : seed_(seed), faults_(faults), record_(record), dice_(seedFor(seed, "faults")), random_(seedFor(seed, "world")),
      order_(seedFor(seed, "order")), ownRandom_(seedFor(seed, "own")),
      randomBefore_(replaceDeterministicRandom(&ownRandom_)), watch_(std::make_unique<Watch>(*this)),
      injections_(kFaultKinds) {
    BuggifySource* before = setBuggifySource(this);
    FLOW_ASSERT(!before, "a World is made while this thread has another");
    setOwnerOfCells(this);
    forgetUnreadErrors();
    watch_->enter(&cells_);
    setFaults(faults);
}

World::~World() {
    stopAll();
    end();
    processes_.clear();
    watch_->enter(nullptr);
    watch_.reset();
    setOwnerOfCells(nullptr);
    setBuggifySource(nullptr);
    replaceDeterministicRandom(randomBefore_);
}

void World::setFaults(Faults const& faults) {
    for (std::size_t i = 0; i < kFaultKinds; ++i)
        FLOW_ASSERT(faults.of(FaultKind(i)) >= 0 && faults.of(FaultKind(i)) <= 1,
                    format("the probability of %s is not between 0 and 1", faultName(FaultKind(i))).c_str());
    faults_ = faults;
    if (faults.powerLoss <= 0)
        for (auto& process : processes_)
            process->lossAtRisk_ = 0;
    whenOutside([this] {
        if (!injectsEachSecond(faults_))
            faultsToCome_ = Future<Void>();
        else if (!faultsToCome_.isValid())
            faultsToCome_ = injectFaults(*this);
    });
}

void World::disableFaults() {
    setFaults(Faults());
}

bool World::admits(FaultKind kind) {
    std::uint64_t number = candidates_[kind]++;
    if (!filter_.admits(kind, number))
        return false;
    injected_.add(kind, {number, number});
    return true;
}

bool World::injects(FaultKind kind, std::uint64_t what) {
    if (!dice_.injects(kind, faults_.of(kind)) || !admits(kind))
        return false;
    injected(kind, what);
    return true;
}

void World::injected(FaultKind kind, std::uint64_t what) {
    ++faultCounts_[kind];
    if (worldWatch_)
        worldWatch_->injected(kind, current_);
    add({now_, what, current_ ? current_->id_ : 0, static_cast<std::int32_t>(kind), EventKind::Fault});
}

void World::onFault(FaultKind kind, std::function<void(Process&)> inject) {
    injections_[static_cast<std::size_t>(kind)] = std::move(inject);
}

bool World::buggify(const char* file, unsigned line, double probability) {
    if (faults_.buggify <= 0)
        return false;
    std::string_view name(file); // without the path, which depends on how the file was compiled
    name.remove_prefix(name.rfind('/') + 1);
    std::uint64_t site = seedFor(line, name);
    auto [place, isNew] = visits_.try_emplace(site);
    std::optional<DeterministicRandom>& visits = place->second;
    constexpr double kArmed = 0.25;
    if (isNew) {
        DeterministicRandom random(seed_ ^ site);
        if (random.random01() < kArmed)
            visits = random;
    }
    if (!visits || visits->random01() >= (probability < 0 ? faults_.buggify : probability) ||
        !admits(FaultKind::buggify))
        return false;
    injected(FaultKind::buggify, site);
    return true;
}

double const* World::findKnob(std::string const& name) const {
    if (!current_)
        return nullptr;
    auto const& knobs = current_->options_.knobs;
    auto place = knobs.find(name);
    return place == knobs.end() ? nullptr : &place->second;
}

Process* World::next() {
    Process* first = nullptr;
    double earliest = std::numeric_limits<double>::infinity();
    int equals = 0;
    for (auto& process : processes_) {
        double at = std::max(process->wakesAt(), now_);
        if (at < earliest) {
            earliest = at;
            equals = 1;
            first = process.get();
        } else if (at == earliest && at != std::numeric_limits<double>::infinity() &&
                   order_.randomInt(0, ++equals) == 0) {
            first = process.get();
        }
    }
    return first;
}

bool World::idleUntil(double deadline) {
    Process* process = next();
    double at = process ? std::max(process->wakesAt(), now_) : std::numeric_limits<double>::infinity();
    if (double next = std::min(at, deadline); next > limit_ && next != std::numeric_limits<double>::infinity()) {
        fail(format("it takes longer than %g s of its world\n", limit_) + waitGraph());
        return true;
    }
    if (at < deadline) {
        now_ = at;
        takeTurn(*process);
        return true;
    }
    if (deadline == std::numeric_limits<double>::infinity()) {
        if (isGuarded())
            sleep(deadline); // waits for another thread, which virtual time does not control
        return isGuarded();
    }
    now_ = deadline;
    return true;
}

bool World::sliceIsOver() {
    resetSlice();
    return true;
}

bool World::runTurn() {
    auto take = [this] {
        WaiterNode* next = takeReady();
        if (next)
            noteStep(next, currentPriority(), nullptr);
        return next;
    };
    return isWatched() ? runWatchedTurnWith(take) : runTurnWith(take);
}

void World::noteStep(WaiterNode* waiter, TaskPriority priority, Process* process) {
    DeterministicRandom const& random = process ? process->random_ : ownRandom_;
    SimulationEvent event{now_, random.peek(), process ? process->id_ : 0, static_cast<std::int32_t>(priority),
                          EventKind::Task};
    digest_.add(event);
    auto describe = [&] {
        char name[128];
        actorNameAt(reinterpret_cast<void const*>(waiter->resume), name, sizeof name);
        return std::string(name) + " of " + (process ? process->name() : "the world");
    };
    if (record_)
        record_->add(event, describe);
    if (std::exchange(moment_, now_) != now_)
        steps_ = 0;
    if (++steps_ > stepsInOneMoment_)
        fail(format("it runs more than %llu steps while no time passes\nthe last one is ",
                    static_cast<unsigned long long>(stepsInOneMoment_)) +
             describe());
}

void World::add(SimulationEvent const& event) {
    digest_.add(event);
    if (record_)
        record_->add(event, [] { return std::string(); });
}

void World::note(EventKind kind, std::uint64_t detail) {
    add({now_, detail, current_ ? current_->id_ : 0, 0, kind});
}

void World::fail(std::string const& text) {
    if (!failure_)
        failure_ = SimulationFailure::of(text);
    stop();
}

std::size_t World::leakedCells() const {
    std::size_t count = 0;
    for (auto const& group : dead_)
        group->forEach([&](auto*) { ++count; });
    return count;
}

} // namespace flow
