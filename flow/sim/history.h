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
// The order of these calls is the order of events: no clock is read. An operation without a call of ok() or
// failed(), because it timed out or its client was killed, may have taken effect at any time since, or may yet, or
// never. A client may go on to its next operation nevertheless. Every key begins with no value. Not thread-safe.

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
    /// Its result is the value, or nothing if the key has none.
    struct Get {};
    /// Leaves the key without a value, whether it had one or not.
    struct Remove {};
    /// Writes `desired` if the value is `expected`, and has the result true then. An empty Optional stands for no
    /// value.
    struct CompareAndSet {
        Optional<std::string> expected;
        Optional<std::string> desired;
    };

    /// Names an operation that was invoked.
    template <class Asked>
    struct Invoked {
        std::size_t index;
    };

    Invoked<Put> invoke(int client, std::string key, Put asked);
    Invoked<Get> invoke(int client, std::string key, Get asked);
    Invoked<Remove> invoke(int client, std::string key, Remove asked);
    Invoked<CompareAndSet> invoke(int client, std::string key, CompareAndSet asked);

    /// The operation took effect, between its invocation and now. Each operation ends at most once.
    void ok(Invoked<Put> put);
    void ok(Invoked<Get> get, Optional<std::string> value);
    void ok(Invoked<Remove> remove);
    /// `succeeded`: the value was the expected one. If it was not, the operation took effect as well: it read the
    /// value.
    void ok(Invoked<CompareAndSet> compareAndSet, bool succeeded);

    /// The operation certainly did not take effect, and never will.
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
        Optional<std::string> expected = {}; // of a CompareAndSet
        Optional<std::string> value = {};    // written by the operation, or returned by a Get
        bool succeeded = false;              // of a CompareAndSet
        Outcome outcome = Outcome::unknown;
        std::size_t invoked = 0; // the number of this event among all events of the history
        std::size_t returned = kNever;

        /// For example `put("1")`, `compareAndSet("1", none)`. Long values are cut.
        std::string call() const;
        /// For example `ok`, `"1"`, `none`, `false`, `unknown`.
        std::string result() const;
    };
    /// In the order of their invocations.
    std::vector<Operation> const& operations() const { return operations_; }

private:
    std::size_t begin(Operation operation);
    Operation& end(std::size_t index, Outcome outcome);

    std::vector<Operation> operations_;
    std::size_t events_ = 0;
};

/// A value as tables show it: in quotes, cut if it is long, or `none`.
std::string valueToText(Optional<std::string> const& value);

} // namespace flow
