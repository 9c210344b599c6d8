#pragma once
// A store of keys and values on several replicas: it works, and is linearizable, while more than half of them do.
//
//     Store store({first, second, third});
//     co_await store.put("colour", "blue");
//     Optional<std::string> colour = co_await store.get("colour");
//
// A write takes effect when most replicas have it, with a version above all that most replicas had. A read takes the
// highest version of most replicas, and writes it to most of them before it returns it: any two majorities have a
// replica in common. Replicas keep the values in memory; one that has ended must not come back at its address.

#include "flow/flow.h"
#include "net/address.h"

#include <compare>
#include <string>
#include <vector>

/// Listens there and answers requests.
flow::Future<flow::Void> serveReplica(flow::net::Address at);

struct Versioned {
    std::uint64_t number = 0; // 0: there is no value
    std::uint64_t writer = 0; // of two writes with the same number the one with the higher writer counts
    std::string value;
    auto operator<=>(Versioned const&) const = default;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, number, writer, value);
    }
};

/// A client. It must outlive its futures, and has one put at a time.
class Store {
public:
    explicit Store(std::vector<flow::net::Address> replicas) : replicas_(std::move(replicas)) {}
    flow::Future<flow::Void> put(std::string key, std::string value);
    flow::Future<flow::Optional<std::string>> get(std::string key);

private:
    flow::Future<Versioned> newest(std::string key);
    flow::Future<flow::Void> writeToMost(std::string key, Versioned value);
    std::size_t most() const { return replicas_.size() / 2 + 1; }

    std::vector<flow::net::Address> replicas_;
    std::uint64_t writer_ = flow::deterministicRandom()->randomUInt64();
    std::uint64_t lastNumber_ = 0; // no number is used twice, also if a put was cancelled
};
