#pragma once
// AsyncMap<K, V>: a map in which a program can wait for the change of a key.
//
//     AsyncMap<std::string, int> versions;
//     wait(versions.onChange("config"));          // the next change of this key
//     versions.set("config", 7);
//
// A key that was never set has the value V(); setting a key to V() removes it from the map. A watch (a future of
// onChange()) of such a key takes an entry until the watch fires or is dropped. The waiters run before the change
// returns, newest first. They read the new value, and may change the map again. The destructor of the map fails the
// waiters with broken_promise. Cancel-safe. K needs <. V needs ==, copies and a default constructor.
//
// The watches of a YieldedAsyncMap fire as yieldedFuture does: the oldest first, between other work of the loop.

#include "flow/compat/async_trigger.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/yielded.h"

#include <iterator>
#include <map>
#include <vector>

namespace flow {

template <class K, class V>
class AsyncMap {
public:
    AsyncMap() = default;
    AsyncMap(AsyncMap const&) = delete;
    AsyncMap& operator=(AsyncMap const&) = delete;
    virtual ~AsyncMap() { auto items = std::move(items_); } // items_ is empty while the watches end here

    /// Returns a future that is ready at the next change of the key.
    Future<Void> onChange(K const& key) {
        return onChange(key, [](Future<Void> change) { return change; });
    }

    /// Returns the value of the key; V() if it has none. The reference is valid until the key changes.
    V const& get(K const& key) const {
        auto place = items_.find(key);
        return place == items_.end() ? default_ : place->second.value;
    }
    /// Sets the value and wakes the watchers, unless the value is the same. V() removes the key from the map.
    void set(K const& key, V const& value) {
        if (!(get(key) == value))
            setUnconditional(key, value);
    }
    /// Sets the value, and wakes the watchers even if the value is equal.
    void setUnconditional(K const& key, V const& value) {
        if (value == default_)
            return take(items_.find(key)).trigger();
        V copy = value; // if this copy throws, no key is left without a value
        Item& item = items_[key];
        item.value = std::move(copy);
        item.change.trigger();
    }
    void clear(K const& key) { set(key, V()); }

    /// Wakes the watchers of the key without a change.
    void trigger(K const& key) { wake(items_.find(key)).trigger(); }
    /// Wakes the watchers of the keys in [begin, end) without a change.
    void triggerRange(K const& begin, K const& end) {
        for (AsyncTrigger& change : wakeRange(items_.lower_bound(begin), items_.lower_bound(end)))
            change.trigger();
    }
    void triggerAll() {
        for (AsyncTrigger& change : wakeRange(items_.begin(), items_.end()))
            change.trigger();
    }
    /// Fails the watchers of the keys in [begin, end) with `error`.
    void sendError(K const& begin, K const& end, Error error) {
        for (AsyncTrigger& change : wakeRange(items_.lower_bound(begin), items_.lower_bound(end)))
            change.sendError(error);
    }

    /// Returns the keys that have a value or are watched.
    std::vector<K> getKeys() const {
        std::vector<K> keys;
        for (auto const& [key, item] : items_)
            keys.push_back(key);
        return keys;
    }
    /// Returns 1 if the key has a value or is watched, otherwise 0.
    int count(K const& key) const { return static_cast<int>(items_.count(key)); }
    int size() const { return static_cast<int>(items_.size()); }

protected:
    /// Like onChange(key), but passes its future to through(), and returns the result.
    template <class F>
    Future<Void> onChange(K const& key, F through) {
        auto place = items_.try_emplace(key).first;
        try {
            Future<Void> change = through(place->second.change.onTrigger());
            return place->second.value == default_ ? watch(this, key, std::move(change)) : change;
        } catch (...) {
            forget(key);
            throw;
        }
    }

private:
    struct Item {
        V value{};
        AsyncTrigger change;
    };
    using Items = std::map<K, Item>;
    using Place = typename Items::iterator;

    /// Takes the trigger of an entry. The caller fires the trigger when the map is in its new state.
    AsyncTrigger wake(Place place) {
        if (place != items_.end() && !(place->second.value == default_))
            return std::move(place->second.change);
        return take(place);
    }
    AsyncTrigger take(Place place) {
        if (place == items_.end())
            return AsyncTrigger();
        auto taken = items_.extract(place); // destroyed after it has left the map: its destructor may use the map
        return std::move(taken.mapped().change);
    }
    std::vector<AsyncTrigger> wakeRange(Place place, Place end) {
        std::vector<AsyncTrigger> changes;
        changes.reserve(static_cast<std::size_t>(std::distance(place, end)));
        while (place != end)
            changes.push_back(wake(place++));
        return changes;
    }

    /// Watches a key without a value. If the last watch of the key is dropped, removes the entry.
    static Future<Void> watch(AsyncMap* self, K key, Future<Void> change) {
        ErrorOr<Void> result = co_await tryGet(std::move(change));
        if (result.present())
            co_return;
        if (result.isError(error_code_actor_cancelled))
            self->forget(key);
        co_await coro::fail(result.getError());
    }
    void forget(K const& key) {
        auto place = items_.find(key);
        if (place != items_.end() && place->second.value == default_ && !place->second.change.isAwaited())
            items_.erase(place);
    }

    V default_{};
    Items items_;
};

template <class K, class V>
class YieldedAsyncMap : public AsyncMap<K, V> {
public:
    /// Returns a future that is ready after the next change of the key.
    Future<Void> onChange(K const& key) {
        return AsyncMap<K, V>::onChange(key, [](Future<Void>&& change) { return yieldedFuture(std::move(change)); });
    }
};

} // namespace flow
