#pragma once
// A model of a register, apart from the checker: a simulation with linearizable histories, and a search that follows
// the definition and nothing else.
//
//     std::vector<Operation> operations = simulate(random, {.operations = 6, .clients = 3, .values = 2});
//     CHECK(hasOrder(operations));

#include "flow/base/random.h"
#include "flow/sim/history.h"

#include <algorithm>
#include <map>
#include <ostream> // lets doctest print strings
#include <string>
#include <vector>

namespace flow::test {

using flow::History;
using Operation = History::Operation;
using Value = flow::Optional<std::string>;

/// Applies the operation to the value; whether its result, if it has one, is the right one.
inline bool apply(Operation const& operation, Value& value) {
    bool known = operation.outcome == History::Outcome::ok;
    switch (operation.kind) {
    case History::Kind::get:
        return !known || operation.value == value;
    case History::Kind::put:
    case History::Kind::remove:
        value = operation.value;
        return true;
    case History::Kind::compareAndSet:
        break;
    }
    bool matches = value == operation.expected;
    if (matches)
        value = operation.value;
    return !known || operation.succeeded == matches;
}

/// Whether this order of some of the operations is one that the definition allows.
inline bool isOrder(std::vector<Operation> const& operations, std::vector<std::size_t> const& order) {
    Value value;
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (std::size_t j = i + 1; j < order.size(); ++j) {
            if (operations[order[j]].returned < operations[order[i]].invoked)
                return false;
        }
        if (!apply(operations[order[i]], value))
            return false;
    }
    return true;
}

/// Whether there is such an order of all operations that are ok and any of those of unknown outcome: tries all.
inline bool hasOrder(std::vector<Operation> const& operations) {
    for (unsigned chosen = 0; chosen < 1u << operations.size(); ++chosen) {
        std::vector<std::size_t> order;
        bool right = true;
        for (std::size_t i = 0; i < operations.size(); ++i) {
            bool taken = chosen >> i & 1;
            right &= operations[i].outcome == History::Outcome::unknown ||
                     taken == (operations[i].outcome == History::Outcome::ok);
            if (taken)
                order.push_back(i);
        }
        if (!right)
            continue;
        do {
            if (isOrder(operations, order))
                return true;
        } while (std::next_permutation(order.begin(), order.end()));
    }
    return false;
}

/// What is left of the operations when only events before `end` have happened.
inline std::vector<Operation> beginning(std::vector<Operation> operations, std::size_t end) {
    std::erase_if(operations, [&](Operation const& operation) { return operation.invoked >= end; });
    for (Operation& operation : operations) {
        if (operation.returned >= end) {
            operation.returned = History::kNever;
            operation.outcome = History::Outcome::unknown;
        }
    }
    return operations;
}

struct Shape {
    int operations;
    int clients;
    int values;           // how many there are; 0: ever new ones
    double unknown = 0.2; // the chance that a client does not learn what became of its operation
    double compareAndSet = 0.3;
    double writes = 0.35;
};

/// The clients of one key. Each operation takes effect at one moment between its events; those of unknown
/// outcome then, later or never.
class Simulation {
public:
    Simulation(flow::DeterministicRandom& random, Shape const& shape)
        : random_(random), shape_(shape), busy_(static_cast<std::size_t>(shape.clients)) {}

    std::vector<Operation> run() {
        auto count = static_cast<std::size_t>(shape_.operations);
        while (operations_.size() < count || std::find(busy_.begin(), busy_.end(), true) != busy_.end()) {
            int client = random_.randomInt(0, shape_.clients);
            if (operations_.size() < count && !busy_[static_cast<std::size_t>(client)])
                invoke(client);
            else if (!running_.empty())
                goOn(static_cast<std::size_t>(random_.randomInt(0, static_cast<int>(running_.size()))));
        }
        for (Operation& operation : operations_) { // the result is unknown
            if (operation.outcome == History::Outcome::unknown && operation.kind == History::Kind::get)
                operation.value = {};
            operation.succeeded &= operation.outcome == History::Outcome::ok;
        }
        return std::move(operations_);
    }

private:
    struct Running {
        std::size_t index;
        bool abandoned, applied = false, awaited = true;
    };

    void invoke(int client) {
        Operation operation{.kind = History::Kind::get, .client = client, .key = "a", .invoked = events_++};
        double kind = random_.random01();
        if (kind < shape_.compareAndSet) {
            operation.kind = History::Kind::compareAndSet;
            operation.expected = random_.coinflip() ? value_ : randomValue();
            operation.value = randomValue();
        } else if (kind < shape_.compareAndSet + shape_.writes) {
            operation.value = randomValue();
            operation.kind = operation.value.present() ? History::Kind::put : History::Kind::remove;
        }
        busy_[static_cast<std::size_t>(client)] = true;
        running_.push_back({operations_.size(), random_.random01() < shape_.unknown});
        operations_.push_back(std::move(operation));
    }

    void goOn(std::size_t number) {
        Running& running = running_[number];
        if (running.abandoned && running.awaited && random_.coinflip()) {
            end(running); // a timeout: it runs on
        } else if (!running.applied) {
            running.applied = true;
            takeEffect(operations_[running.index]);
        } else {
            end(running);
            running = running_.back();
            running_.pop_back();
        }
    }

    void takeEffect(Operation& operation) {
        if (operation.kind == History::Kind::get) {
            operation.value = value_;
        } else if (operation.kind != History::Kind::compareAndSet || value_ == operation.expected) {
            operation.succeeded = operation.kind == History::Kind::compareAndSet;
            value_ = operation.value;
        }
    }

    void end(Running& running) {
        Operation& operation = operations_[running.index];
        if (running.awaited)
            busy_[static_cast<std::size_t>(operation.client)] = false;
        running.awaited = false;
        if (!running.abandoned) {
            operation.outcome = History::Outcome::ok;
            operation.returned = events_++;
        }
    }

    Value randomValue() {
        if (shape_.values == 0)
            return std::to_string(random_.random01() < 0.8 ? ++last_ : std::max(1, last_ - random_.randomInt(0, 3)));
        int value = random_.randomInt(0, shape_.values + 1);
        return value == 0 ? Value() : Value(std::to_string(value));
    }

    flow::DeterministicRandom& random_;
    Shape shape_;
    std::vector<Operation> operations_;
    std::vector<Running> running_;
    std::vector<bool> busy_;
    std::size_t events_ = 0;
    Value value_;
    int last_ = 0;
};

inline std::vector<Operation> simulate(flow::DeterministicRandom& random, Shape const& shape) {
    return Simulation(random, shape).run();
}

inline void recordReturn(Operation const& operation, std::size_t index, History& history) {
    if (operation.outcome == History::Outcome::failed)
        history.failed(History::Invoked<History::Put>{index});
    else if (operation.kind == History::Kind::put)
        history.ok(History::Invoked<History::Put>{index});
    else if (operation.kind == History::Kind::get)
        history.ok(History::Invoked<History::Get>{index}, operation.value);
    else if (operation.kind == History::Kind::remove)
        history.ok(History::Invoked<History::Remove>{index});
    else
        history.ok(History::Invoked<History::CompareAndSet>{index}, operation.succeeded);
}

/// Calls what a program would have called, in the order of the numbers of events, which may have gaps.
inline void record(std::vector<Operation> const& operations, History& history) {
    struct Event {
        std::size_t operation;
        bool isReturn;
    };
    std::map<std::size_t, Event> events;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        events[operations[i].invoked] = {i, false};
        if (operations[i].returned != History::kNever)
            events[operations[i].returned] = {i, true};
    }
    std::vector<std::size_t> indices(operations.size());
    for (auto const& [number, event] : events) {
        Operation const& operation = operations[event.operation];
        std::size_t& index = indices[event.operation];
        if (event.isReturn)
            recordReturn(operation, index, history);
        else if (operation.kind == History::Kind::put)
            index = history.invoke(operation.client, operation.key, History::Put{operation.value.get()}).index;
        else if (operation.kind == History::Kind::get)
            index = history.invoke(operation.client, operation.key, History::Get{}).index;
        else if (operation.kind == History::Kind::remove)
            index = history.invoke(operation.client, operation.key, History::Remove{}).index;
        else
            index = history
                        .invoke(operation.client, operation.key,
                                History::CompareAndSet{operation.expected, operation.value})
                        .index;
    }
}

} // namespace flow::test
