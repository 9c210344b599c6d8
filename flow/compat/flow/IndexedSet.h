#pragma once
// IndexedSet, and a Map based on it, under the old header name.
//
//     Map<std::string, int> ages;
//     ages["Ann"] = 41;
//     ages.insert(mapPair(std::string("Bob"), 12));
//     for (auto i = ages.begin(); i != ages.end(); ++i) use(i->key, i->value);
//
// The elements of a Map are MapPairs. Keys of any type that compares with Key can be searched for.

#include "../indexed_set.h"

#include <type_traits>

using flow::IndexedSet;
using flow::NoMetric;

template <class Key, class Value>
class MapPair {
public:
    Key key;
    Value value;

    template <class K, class V>
    MapPair(K&& k, V&& v) : key(std::forward<K>(k)), value(std::forward<V>(v)) {}

    // Compared only by key.
    friend bool operator<(MapPair const& a, MapPair const& b) { return a.key < b.key; }
    friend bool operator==(MapPair const& a, MapPair const& b) { return a.key == b.key; }
    template <class K>
    friend bool operator<(MapPair const& a, K const& other) {
        return a.key < other;
    }
    template <class K>
    friend bool operator<(K const& other, MapPair const& b) {
        return other < b.key;
    }
};

template <class Key, class Value>
auto mapPair(Key&& key, Value&& value) {
    using Pair = MapPair<std::decay_t<Key>, std::decay_t<Value>>;
    return Pair(std::forward<Key>(key), std::forward<Value>(value));
}

template <class Key, class Value, class Pair = MapPair<Key, Value>, class Metric = NoMetric>
class Map : private IndexedSet<Pair, Metric> {
    using Set = IndexedSet<Pair, Metric>;

public:
    using typename Set::const_iterator;
    using typename Set::iterator;

    using Set::begin;
    using Set::clear;
    using Set::count;
    using Set::empty;
    using Set::end;
    using Set::erase;
    using Set::find;
    using Set::getElementBytes;
    using Set::getMetric;
    using Set::index;
    using Set::lastItem;
    using Set::lastLessOrEqual;
    using Set::lower_bound;
    using Set::previous;
    using Set::sumRange;
    using Set::sumTo;
    using Set::upper_bound;

    Value& operator[](Key const& key) { return get(key); }
    /// Returns the value of the key. If there is none, inserts Value() with `metric`.
    Value& get(Key const& key, Metric metric = Metric(1)) {
        auto found = Set::find(key);
        return found != Set::end() ? found->value : Set::insert(Pair(key, Value()), metric)->value;
    }
    iterator insert(Pair pair, bool replaceExisting = true, Metric metric = Metric(1)) {
        return Set::insert(std::move(pair), metric, replaceExisting);
    }
    int insert(std::vector<std::pair<Pair, Metric>> const& pairs, bool replaceExisting = true) {
        return Set::insert(pairs, replaceExisting);
    }
    Metric size() const {
        static_assert(!std::is_same_v<Metric, NoMetric>, "size() of a Map needs a metric");
        return Set::sumTo(Set::end());
    }
};
