#pragma once
// Pool: a bounded number of connections, which callers use one after the other.
//
//     Pool<> pool([=] { return connect("db.example", 5432); }, {.most = 10});
//
//     Future<Bytes> ask(Pool<>* pool, Bytes question) {
//         Pool<>::Lease lease = co_await pool->acquire();
//         co_await lease->write(question);
//         Bytes answer = co_await lease->readUntil("\n"_sr, 1000);
//         lease.giveBack();                                // the exchange is complete: another caller may follow
//         co_return answer;
//     }
//
// acquire() returns the connection that was given back last. If the pool keeps none, it makes one. If `most`
// connections are in use, it waits; waiters are served in order. A Lease that ends without giveBack() resets its
// connection, since an error, an exception or a cancel may have left a part of a request or an unread answer on it. But
// an unused Lease gives its connection back, so a future of acquire() may lose a race or be dropped at any time.
//
// A kept connection is closed after `idle` seconds, or when isHealthy() is false in acquire(). By default a Connection
// is healthy if nothing has arrived since it was given back: no bytes, no end and no error. The other side can still
// close at the moment of the next request: a caller that may send its request twice tries again (see retry()). Pool<C>
// has objects of another class C, which its function returns as Future<Reference<C>>.
//
// acquire() fails with
//     operation_failed        `most` connections are in use, and `waiters` callers wait already
//     operation_obsolete      close() was called, before acquire() or while it waits
//     the error of `make`     if it throws or its future fails; the next caller tries again
//
// close() closes the kept connections; those in use are closed when they are given back. The destructor calls close().
// A Lease may outlive its Pool. A Pool belongs to one thread.

#include "flow/base/format.h"
#include "flow/base/seconds.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/inspect/object_name.h"
#include "flow/sync/event.h"
#include "flow/sync/semaphore.h"
#include "flow/tasks/scope.h"
#include "flow/wait/delay.h"
#include "net/connection.h"

#include <cmath>
#include <concepts>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace flow::net {

/// True if nothing has arrived on a kept connection. Always true for a class that does not derive from Connection.
template <class C>
bool isQuiet(C& connection) {
    if constexpr (std::derived_from<C, Connection>) {
        TurnBudget::Saved all(TurnBudget::kNoLimit); // without a limit isReady() checks the socket, even in a long turn
        return !connection.read().isReady();         // receives bytes, but removes none
    }
    return true;
}

template <class C>
struct PoolOptions {
    std::size_t most = 8;       // the most connections, in use and kept; at least 1
    std::size_t waiters = 1024; // the most callers that may wait for a connection
    std::size_t warm = 0;       // connections that the constructor begins to make; at most `most`
    Seconds idle = 60;          // seconds after which a kept connection is closed; more than 0
    std::string name = {};      // shown in reports about callers that wait (flow/inspect/object_name.h); empty: none
    std::function<bool(C&)> isHealthy = isQuiet<C>;
};

template <class C = Connection>
class Pool {
public:
    using Make = std::function<Future<Reference<C>>()>;
    class Lease;

    /// Throws invalid_option_value. The error of a warm connection that fails is reported as dropped.
    explicit Pool(Make make, PoolOptions<C> options = {}, std::source_location caller = std::source_location::current())
        : state_(makeReference<State>(std::move(make), std::move(options), caller)) {
        for (std::size_t i = 0; i < state_->options.warm; ++i)
            state_->warming.spawn(acquire(state_, true));
    }
    Pool(Pool const&) = delete;
    Pool& operator=(Pool const&) = delete;
    ~Pool() { close(); }

    Future<Lease> acquire() { return acquire(state_, false); }
    /// Like acquire(), but always makes a connection: for a second attempt after a kept connection has ended at the
    /// moment of the request. If there would be more than `most` connections, the oldest kept connection is closed.
    Future<Lease> acquireNew() { return acquire(state_, true); }
    void close() noexcept { Reference<State>(state_)->close(); } // a waiter may destroy the Pool, so hold the State
    std::size_t idle() const { return state_->kept.size(); }
    /// True if no connection is kept, in use or being made, and no caller waits for one.
    bool isUnused() const { return idle() == 0 && state_->inUse() == 0 && state_->places.waiters() == 0; }

private:
    struct State;
    static Future<Lease> acquire(Reference<State> state, bool isNew, Propagate = {});
    static Error closed() { return operation_obsolete().withSentence("the Pool is closed"); }

    Reference<State> state_;
};

template <class C>
struct Pool<C>::State : ReferenceCounted<State> {
    State(Make m, PoolOptions<C> o, std::source_location c)
        : make(std::move(m)), options(std::move(o)), caller(c), places(options.most) {
        FLOW_ASSERT_AT(caller, make, "Pool: there is no function that makes a connection");
        auto check = [](bool isValid, char const* option, std::string const& value, char const* rule) {
            if (!isValid)
                throw wrongOption("PoolOptions", option, value, rule);
        };
        if (!options.name.empty())
            name.emplace(places, options.name);
        check(options.most != 0, "most", "0", "it must be at least 1");
        check(options.warm <= options.most, "warm", std::to_string(options.warm), "it must be at most `most`");
        check(options.isHealthy != nullptr, "isHealthy", "null", "it must be a function");
        check(options.idle > 0, "idle", format("%g", double(options.idle)), "it must be more than 0");
    }

    bool isFull() { return places.available() <= 0 && places.waiters() >= options.waiters && !closing.isSet(); }
    std::size_t inUse() const { return options.most - static_cast<std::size_t>(places.permits()); }
    /// Takes the newest connection that is healthy; returns null if there is none.
    Reference<C> take() {
        while (!kept.empty()) {
            Reference<C> newest = std::move(kept.back().connection);
            kept.pop_back();
            if (options.isHealthy(*newest))
                return newest;
        }
        return {};
    }
    /// Keeps the connection. Closes it instead if the Pool is closed, the loop has ended, or memory runs out.
    void keep(Reference<C> connection) noexcept try {
        if (closing.isSet() || !hasLoop())
            return;
        kept.push_back({std::move(connection), now()});
        if (std::isfinite(options.idle) && (!sweeping.isValid() || sweeping.isReady()))
            sweeping = sweep(this);
    } catch (std::bad_alloc const&) {
    }
    /// Removes the connection from `kept` before its destructor runs, since that may run any code.
    void closeOldest() {
        Kept oldest = std::move(kept.front());
        kept.pop_front();
    }
    static Future<Void> sweep(State* self, Propagate = {}) {
        while (!self->kept.empty()) {
            co_await delayUntil(self->kept.front().since + self->options.idle);
            Reference<State> alive = Reference<State>::addRef(self); // a connection's destructor may destroy the Pool
            while (!self->kept.empty() && self->kept.front().since + self->options.idle <= now())
                self->closeOldest();
            if (self->closing.isSet())
                co_return;
        }
    }
    void close() {
        closing.set();
        sweeping = Future<Void>();
        while (!kept.empty())
            closeOldest();
        warming.close();
        places.close(closed()); // last, since it runs the waiters
    }

    struct Kept {
        Reference<C> connection;
        double since;
    };
    Make make;
    PoolOptions<C> options;
    std::source_location caller; // of the constructor of the Pool
    Semaphore places;
    std::optional<ObjectName> name; // of `places`
    Event closing;
    std::deque<Kept> kept; // the newest is the last
    Future<Void> sweeping;
    Scope warming{OnError::Report};
};

/// A connection in use. Must not be used after giveBack() or close().
template <class C>
class [[nodiscard]] Pool<C>::Lease {
public:
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&& other) noexcept {
        Lease taken(std::move(other));
        std::swap(state_, taken.state_);
        std::swap(place_, taken.place_);
        std::swap(connection_, taken.connection_);
        std::swap(isUsed_, taken.isUsed_);
        return *this;
    }
    ~Lease() {
        if (!connection_)
            return;
        if (!isUsed_)
            giveBack();
        else if constexpr (requires { connection_->abort(); })
            connection_->abort();
    }

    Reference<C> const& connection(std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, connection_, "Pool: a Lease is used after giveBack()");
        isUsed_ = true;
        return connection_;
    }
    C* operator->() { return connection().getPtr(); }

    /// Gives the connection back for the next caller. The exchange must be complete: nothing more may arrive.
    void giveBack(std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, connection_, "Pool: a Lease is given back twice, or has been moved from");
        state_->keep(std::move(connection_));
        connection_ = {};
        place_.release();
    }
    /// Closes the connection without a reset. The exchange must be complete. For a connection that cannot be reused.
    void close(std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, connection_, "Pool: a Lease is closed after giveBack(), or has been moved from");
        connection_ = {};
        place_.release();
    }

private:
    friend class Pool;
    Lease(Reference<State> state, Semaphore::Permit place, Reference<C> connection)
        : state_(std::move(state)), place_(std::move(place)), connection_(std::move(connection)) {}

    Reference<State> state_;
    Semaphore::Permit place_;
    Reference<C> connection_; // null after giveBack()
    bool isUsed_ = false;
};

template <class C>
Future<typename Pool<C>::Lease> Pool<C>::acquire(Reference<State> state, bool isNew, Propagate) {
    if (state->isFull())
        co_await coro::fail(operation_failed().withSentence(
            format("Pool: all %zu connections are in use, and %zu callers wait for one, the most that may wait",
                   state->options.most, state->options.waiters)));
    Semaphore::Permit place = co_await state->places.permit();
    Reference<C> connection;
    if (!isNew)
        connection = state->take();
    else if (!state->kept.empty() && state->kept.size() + state->inUse() > state->options.most)
        state->closeOldest();
    if (!connection) {
        Future<Reference<C>> making = state->make();
        checkValid(making, state->caller);
        auto first = co_await race(making, state->closing.wait());
        if (first.index() == 0) {
            connection = std::get<0>(std::move(first));
            FLOW_ASSERT_AT(state->caller, connection,
                           "Pool: the function that makes a connection has given a null Reference");
        }
    }
    if (state->closing.isSet()) // isHealthy, the function or a destructor may have closed the Pool
        co_await coro::fail(closed());
    co_return Lease(std::move(state), std::move(place), std::move(connection));
}

} // namespace flow::net
