#pragma once
// Calls actors of one file, ends what they wait for in an order that a seed decides, and cancels them after every step.
// It prints all that comes of it. The text behind it registers the actors:
//
//     static actorc_verify::Registration verified0("copy", [](actorc_verify::World& world) {
//         auto a0 = world.make<flow::Future<int>>();
//         return actorc_verify::held(copy(std::move(a0)));
//     });

#include "flow/sim.h"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace actorc_verify {

constexpr int kSeeds = 6;
constexpr int kSteps = 12;

inline std::string text(std::string const& value) {
    return value;
}
inline std::string text(flow::Void const&) {
    return "done";
}
template <class T>
    requires std::is_arithmetic_v<T>
std::string text(T value) {
    return std::to_string(value);
}
template <class T>
std::string text(std::vector<T> const& values) {
    return std::to_string(values.size()) + " values";
}
template <class T>
    requires std::is_class_v<T>
std::string text(T const&) {
    return "a value";
}

inline void say(std::string const& line) {
    std::puts(line.c_str());
}

/// What an actor was given, or what came of it.
class Watched {
public:
    virtual ~Watched() = default;
    virtual bool canSettle() const { return false; }
    virtual bool isPending() const { return false; }
    virtual void settle(int) {}
    virtual void look() = 0;
    virtual void drop() {}
    virtual void cancel() {}
};

class World {
public:
    explicit World(int seed) : state_(static_cast<std::uint64_t>(seed) * 7919 + 1) {}

    int below(int n) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<int>((state_ >> 33) % static_cast<unsigned>(n));
    }

    template <class T>
    T make();

    std::string newName(const char* kind) { return kind + (" " + std::to_string(++made_)); }

    std::vector<std::unique_ptr<Watched>> inputs;

private:
    std::uint64_t state_;
    int made_ = 0;
};

template <class T>
class Given : public Watched {
public:
    explicit Given(std::string name) : name_(std::move(name)) {}
    flow::Future<T> future() { return promise_.getFuture(); }
    bool canSettle() const override { return isOpen_; }
    void look() override {
        if (isOpen_ && !isTold_ && promise_.getFutureReferenceCount() == 0) {
            say(name_ + " is dropped");
            isTold_ = true;
        }
    }
    void settle(int how) override {
        isOpen_ = false;
        say(name_ + (how < 5 ? " is sent" : how < 7 ? " fails" : " breaks"));
        flow::Promise<T> promise = std::move(promise_);
        promise_ = flow::Promise<T>();
        if (how < 5)
            promise.send(World(how).make<T>());
        else if (how < 7)
            promise.sendError(flow::io_error());
    }
    void drop() override {
        if (isOpen_)
            settle(7);
    }

private:
    std::string name_;
    flow::Promise<T> promise_;
    bool isOpen_ = true, isTold_ = false;
};

template <class T>
class GivenStream : public Watched {
public:
    explicit GivenStream(std::string name) : name_(std::move(name)) {}
    flow::FutureStream<T> stream() { return promise_.getFuture(); }
    bool canSettle() const override { return isOpen_; }
    void look() override {}
    void settle(int how) override {
        say(name_ + (how < 5 ? " is sent" : how < 6 ? " ends" : how < 7 ? " fails" : " breaks"));
        if (how < 5)
            return promise_.send(World(how).make<T>());
        isOpen_ = false;
        flow::PromiseStream<T> promise = std::move(promise_);
        promise_ = flow::PromiseStream<T>();
        if (how < 7)
            promise.sendError(how == 5 ? flow::end_of_stream() : flow::io_error());
    }
    void drop() override {
        if (isOpen_)
            settle(7);
    }

private:
    std::string name_;
    flow::PromiseStream<T> promise_;
    bool isOpen_ = true;
};

template <class T>
class Result : public Watched {
public:
    Result(std::string name, flow::Future<T> future) : name_(std::move(name)), future_(std::move(future)) {}
    void look() override {
        if (isTold_ || !future_.isValid() || !future_.isReady())
            return;
        isTold_ = true;
        if (future_.isError())
            say(name_ + " fails: " + future_.getError().name());
        else
            say(name_ + ": " + text(future_.get()));
    }
    bool isPending() const override { return future_.isValid() && !future_.isReady(); }
    void cancel() override { future_.cancel(); }
    void drop() override { future_ = flow::Future<T>(); }

private:
    std::string name_;
    flow::Future<T> future_;
    bool isTold_ = false;
};

class Nothing : public Watched {
public:
    void look() override {}
};

template <class T>
std::unique_ptr<Watched> held(flow::Future<T> future) {
    return std::make_unique<Result<T>>("result", std::move(future));
}
/// Of an actor that returns nothing.
template <class Call>
std::unique_ptr<Watched> called(Call call) {
    call();
    return std::make_unique<Nothing>();
}

template <class T>
struct Maker {
    static T make(World& world) {
        if constexpr (std::is_same_v<T, bool>)
            return world.below(2) == 1;
        else if constexpr (std::is_arithmetic_v<T>)
            return static_cast<T>(world.below(5));
        else if constexpr (std::is_same_v<T, std::string>)
            return "text " + std::to_string(world.below(5));
        else
            return T();
    }
};
template <class T>
struct Maker<flow::Future<T>> {
    static flow::Future<T> make(World& world) {
        std::string name = world.newName("future");
        int how = world.below(6);
        if (how == 0)
            return world.make<T>();
        if (how == 1)
            return flow::timed_out();
        auto given = std::make_unique<Given<T>>(name);
        flow::Future<T> future = given->future();
        world.inputs.push_back(std::move(given));
        return future;
    }
};
template <class T>
struct Maker<flow::FutureStream<T>> {
    static flow::FutureStream<T> make(World& world) {
        auto given = std::make_unique<GivenStream<T>>(world.newName("stream"));
        flow::FutureStream<T> stream = given->stream();
        world.inputs.push_back(std::move(given));
        return stream;
    }
};
template <class T>
struct Maker<flow::Promise<T>> {
    static flow::Promise<T> make(World& world) {
        flow::Promise<T> promise;
        world.inputs.push_back(std::make_unique<Result<T>>(world.newName("promise"), promise.getFuture()));
        return promise;
    }
};

template <class T>
T World::make() {
    return Maker<T>::make(*this);
}

using Call = std::unique_ptr<Watched> (*)(World&);
struct Actor {
    const char* name;
    Call call;
};
inline std::vector<Actor>& actors() {
    static std::vector<Actor> all;
    return all;
}
struct Registration {
    Registration(const char* name, Call call) { actors().push_back({name, call}); }
};

/// Something that can still be ended; null if there is nothing.
inline Watched* open(World& world, int place) {
    std::vector<Watched*> open;
    for (auto const& each : world.inputs)
        if (each->canSettle())
            open.push_back(each.get());
    return open.empty() ? nullptr : open[static_cast<std::size_t>(place) % open.size()];
}

/// `cancelled`: after which step, or a number that is never reached. Returns how many steps it took.
inline int run(Actor const& actor, int seed, int cancelled) {
    flow::SimLoop loop;
    World world(seed);
    std::printf("# %s, seed %d", actor.name, seed);
    say(cancelled < kSteps ? ", cancelled after " + std::to_string(cancelled) + " steps" : "");
    std::unique_ptr<Watched> result = actor.call(world);
    auto look = [&] {
        result->look();
        for (auto const& each : world.inputs)
            each->look();
    };
    look();
    int step = 0;
    for (; step < kSteps; ++step) {
        if (step == cancelled) {
            say("cancel");
            seed % 2 ? result->cancel() : result->drop();
            look();
        }
        Watched* input = open(world, world.below(100));
        if (!input && !result->isPending() && step > cancelled)
            break;
        if (input && world.below(3) < 2) {
            input->settle(world.below(8));
        } else {
            say("time passes");
            loop.run(flow::Future<flow::Void>(flow::delay(1)));
        }
        look();
        if (!result->isPending() && cancelled >= kSteps && !open(world, 0))
            break;
    }
    say("end");
    result->drop();
    for (auto const& each : world.inputs)
        each->drop();
    loop.run(flow::Future<flow::Void>(flow::delay(1)));
    look();
    return step;
}

} // namespace actorc_verify

int main() {
    using namespace actorc_verify;
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    flow::setDroppedErrorHandler([](const char*, flow::Error error) { say(std::string("dropped: ") + error.name()); });
    for (Actor const& actor : actors()) {
        for (int seed = 1; seed <= kSeeds; ++seed) {
            int steps = run(actor, seed, kSteps);
            for (int cancelled = 0; cancelled <= steps && cancelled < kSteps; ++cancelled)
                run(actor, seed, cancelled);
        }
    }
    std::fflush(stdout);
    std::_Exit(0); // what runs on is not waited for
}
