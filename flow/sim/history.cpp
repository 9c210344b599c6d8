#include "flow/sim/history.h"

#include "flow/memory/string_ref.h"

namespace flow {

History::Invoked<History::Put> History::invoke(int client, std::string key, Put asked) {
    return {begin({.kind = Kind::put, .client = client, .key = std::move(key), .value = std::move(asked.value)})};
}

History::Invoked<History::Get> History::invoke(int client, std::string key, Get) {
    return {begin({.kind = Kind::get, .client = client, .key = std::move(key)})};
}

History::Invoked<History::Remove> History::invoke(int client, std::string key, Remove) {
    return {begin({.kind = Kind::remove, .client = client, .key = std::move(key)})};
}

History::Invoked<History::CompareAndSet> History::invoke(int client, std::string key, CompareAndSet asked) {
    return {begin({.kind = Kind::compareAndSet,
                   .client = client,
                   .key = std::move(key),
                   .expected = std::move(asked.expected),
                   .value = std::move(asked.desired)})};
}

void History::ok(Invoked<Put> put) {
    end(put.index, Outcome::ok);
}

void History::ok(Invoked<Get> get, Optional<std::string> value) {
    end(get.index, Outcome::ok).value = std::move(value);
}

void History::ok(Invoked<Remove> remove) {
    end(remove.index, Outcome::ok);
}

void History::ok(Invoked<CompareAndSet> compareAndSet, bool succeeded) {
    end(compareAndSet.index, Outcome::ok).succeeded = succeeded;
}

std::size_t History::begin(Operation operation) {
    operation.invoked = events_++;
    operations_.push_back(std::move(operation));
    return operations_.size() - 1;
}

History::Operation& History::end(std::size_t index, Outcome outcome) {
    FLOW_ASSERT(index < operations_.size(), "the operation is none of this history");
    Operation& operation = operations_[index];
    FLOW_ASSERT(operation.returned == kNever, "the operation has ended before");
    operation.outcome = outcome;
    operation.returned = events_++;
    return operation;
}

std::string History::Operation::call() const {
    switch (kind) {
    case Kind::put:
        return "put(" + valueToText(value) + ")";
    case Kind::get:
        return "get()";
    case Kind::remove:
        return "remove()";
    case Kind::compareAndSet:
        break;
    }
    return "compareAndSet(" + valueToText(expected) + ", " + valueToText(value) + ")";
}

std::string History::Operation::result() const {
    if (outcome != Outcome::ok)
        return outcome == Outcome::failed ? "failed" : "unknown";
    if (kind == Kind::get)
        return valueToText(value);
    if (kind == Kind::compareAndSet)
        return succeeded ? "true" : "false";
    return "ok";
}

std::string valueToText(Optional<std::string> const& value) {
    constexpr std::size_t kShown = 24;
    if (!value.present())
        return "none";
    std::string const& text = value.get();
    if (text.size() <= kShown)
        return '"' + printable(text) + '"';
    // The length is added, because values that differ only after the cut often have different lengths.
    return '"' + printable(text.substr(0, kShown)) + "\"...(" + std::to_string(text.size()) + " bytes)";
}

} // namespace flow
