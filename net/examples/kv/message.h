#pragma once
// The messages between servers and with clients. seal() (flow/memory/sealed.h) adds a checksum, to detect damage.

#include "flow/base/optional.h"
#include "flow/memory/sealed.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kv {
using namespace flow;

enum class Verb : std::uint8_t { Get, Put, Remove, CompareAndSet };

struct Reply {
    bool done = false; // false: ask another server, or ask again
    bool succeeded = false;
    Optional<std::string> value = {};
};

/// The request of a client. A client numbers its requests, and repeats a request with the same number until it is
/// answered: each number is executed once. Client 0 marks the entry that a new leader appends first.
struct Request {
    using Reply = kv::Reply;
    static constexpr char const* name = "kv/request";

    std::uint64_t client = 0;
    std::uint64_t number = 0;
    Verb verb = Verb::Get;
    std::string key = {};
    Optional<std::string> expected = {};
    Optional<std::string> value = {};
};

inline std::size_t bytesIn(Request const& request) {
    std::size_t bytes = request.key.size();
    for (Optional<std::string> const* value : {&request.expected, &request.value})
        bytes += value->present() ? value->get().size() : 0;
    return bytes;
}

struct Entry {
    std::uint64_t term = 0;
    Request request;
};

/// A message between servers, of Raft's four kinds (Ongaro and Ousterhout, "In Search of an Understandable Consensus
/// Algorithm", 2014).
struct Message {
    enum class Kind : std::uint8_t { AskVote, Vote, Append, Appended };

    Kind kind = Kind::AskVote;
    int from = 0;
    int to = 0;
    std::uint64_t term = 0;
    bool granted = false;            // in Vote and Appended
    std::uint64_t index = 0;         // AskVote: last entry. Append: entry before `entries`. Appended: last equal entry
    std::uint64_t entryTerm = 0;     // the term of the entry at `index`
    std::uint64_t committed = 0;     // in Append
    std::vector<Entry> entries = {}; // in Append
};

} // namespace kv
