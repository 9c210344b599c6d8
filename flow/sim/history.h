#pragma once
// History: the operations of the clients of a key-value store and their results, for checkLinearizable().
//
//     History history;
//     auto put = history.invoke(client, "key", History::Put{"value"});    // before the request leaves
//     wait(store.put("key", "value"));
//     history.ok(put);                                                     // after the reply has come
//
//     auto get = history.invoke(client, "key", History::Get{});
//     Optional<std::string> value = wait(store.get("key"));
//     history.ok(get, value);
//
// The order of these calls is the order of events: no clock is read. If an operation timed out, or its client was
// killed, call neither ok() nor failed(): the operation may take effect at any time after its invocation, or never. The
// client may go on to its next operation. Every key begins with no value. Not thread-safe.

#include "flow/base/non_copyable.h"
#include "flow/base/optional.h"

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace flow {

class History : NonCopyable {
public:
    struct Put {
        std::string value;
    };
    /// A read. Its result is the value, or nothing if the key has none.
    struct Get {};
    /// Leaves the key without a value, whether the key had one or not.
    struct Remove {};
    /// Writes `desired` and returns true if the value is `expected`. An empty Optional stands for no value.
    struct CompareAndSet {
        Optional<std::string> expected;
        Optional<std::string> desired;
    };

    /// A reference to an operation that was invoked.
    template <class Asked>
    struct Invoked {
        std::size_t index;
    };

    Invoked<Put> invoke(int client, std::string key, Put asked);
    Invoked<Get> invoke(int client, std::string key, Get asked);
    Invoked<Remove> invoke(int client, std::string key, Remove asked);
    Invoked<CompareAndSet> invoke(int client, std::string key, CompareAndSet asked);

    /// Notes that an operation took effect between its invocation and now. Each operation ends at most once.
    void ok(Invoked<Put> put);
    void ok(Invoked<Get> get, Optional<std::string> value);
    void ok(Invoked<Remove> remove);
    /// `succeeded` is false if the value was not the expected one; the operation then took effect as a read.
    void ok(Invoked<CompareAndSet> compareAndSet, bool succeeded);

    /// Notes that an operation certainly did not take effect, and never will.
    template <class Asked>
    void failed(Invoked<Asked> operation) {
        end(operation.index, Outcome::failed);
    }

    enum class Kind { put, get, remove, compareAndSet };
    enum class Outcome { unknown, ok, failed };
    static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

    struct Operation {
        Kind kind;
        int client;
        std::string key;
        Optional<std::string> expected = {}; // set for a CompareAndSet
        Optional<std::string> value = {};    // written by the operation, or returned by a Get
        bool succeeded = false;              // set for a CompareAndSet
        Outcome outcome = Outcome::unknown;
        std::size_t invoked = 0; // the number of the invocation among all events of the history
        std::size_t returned = kNever;

        /// Returns for example `put("1")`, `compareAndSet("1", none)`. Long values are cut.
        std::string call() const;
        /// Returns for example `ok`, `"1"`, `none`, `false`, `unknown`.
        std::string result() const;
    };
    /// Returns the operations in the order of their invocations.
    std::vector<Operation> const& operations() const { return operations_; }

private:
    std::size_t begin(Operation operation);
    Operation& end(std::size_t index, Outcome outcome);

    std::vector<Operation> operations_;
    std::size_t events_ = 0;
};

/// Returns the value in quotes, cut if it is long; `none` if there is no value.
std::string valueToText(Optional<std::string> const& value);

} // namespace flow
