#pragma once
// Replica: one server of a replicated key-value store. Servers elect a leader, which puts requests into a log. An entry
// of the log is executed when a majority has it on disk. This is Raft, without snapshots and changes of membership.
//
//     class Server final : public Replica {      // how messages travel; see net/examples/kv/server.h
//         void transmit(Message const& message, net::Address const& to) override;
//         ...
//     };
//     co_await server.run();                     // until a failure; then start the server again
//
// Any failure ends the server. The restarted server recovers from its journal, so nothing stays half done. Messages may
// be lost, late or duplicated, but not damaged. Any server may be at any of the addresses.

#include "net/address.h"
#include "net/examples/kv/store.h"

#include "flow/base/non_copyable.h"
#include "flow/file/journal.h"
#include "flow/sync/semaphore.h"
#include "flow/sync/trigger.h"
#include "flow/tasks/scope.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace kv {

/// Servers report their actions to a Witness. A simulation checks the servers with a Witness.
class Witness {
public:
    virtual ~Witness() = default;
    virtual void leads([[maybe_unused]] int server, [[maybe_unused]] std::uint64_t term) {}
    /// Called before the server sends a message. A restart of the server must not lose this term, this vote, and the
    /// entries up to `executed`.
    virtual void promises([[maybe_unused]] int server, [[maybe_unused]] std::uint64_t term,
                          [[maybe_unused]] int votedFor, [[maybe_unused]] std::uint64_t executed) {}
    virtual void recovers([[maybe_unused]] int server, [[maybe_unused]] std::uint64_t term,
                          [[maybe_unused]] int votedFor, [[maybe_unused]] std::uint64_t lastIndex) {}
    /// `fresh`: the request was not executed before.
    virtual void executes([[maybe_unused]] int server, [[maybe_unused]] std::uint64_t index,
                          [[maybe_unused]] Entry const& entry, [[maybe_unused]] bool fresh) {}
};

class Replica : NonCopyable {
public:
    /// Makes server number `id` (from 0) of `servers` servers. `journal` is a path; its directory must exist.
    Replica(int id, int servers, std::vector<net::Address> addresses, std::string journal, Witness& witness);

    /// Runs the server. The future ends only with an error.
    Future<Void> run();

protected:
    virtual ~Replica() = default;

    /// Called after the journal has been read. Begins to use the network.
    virtual void open() {}
    /// Passes each message for this server to received().
    virtual Future<Void> listenToServers() = 0;
    /// Replies to each request with the result of answer().
    virtual Future<Void> listenToClients() = 0;
    /// Sends the message. Must not wait or fail.
    virtual void transmit(Message const& message, net::Address const& to) = 0;

    Future<Void> received(Message message, net::Address from);
    /// If the Reply is not `done`, the request may have been executed or not: ask another server, or this one again.
    Future<Reply> answer(Request request);

private:
    enum class Role { Follower, Candidate, Leader };
    /// A record of the journal: a new term, vote or length of the log, and entries.
    struct Record {
        std::uint64_t term = 0;
        int votedFor = -1;
        std::uint64_t keep = 0; // the number of log entries to keep, before `entries` follow
        std::vector<Entry> entries;
    };

    struct Progress {
        std::uint64_t next = 1;      // the index of the entry to send next
        std::uint64_t matches = 0;   // the follower's log is known to be equal up to this index
        double resendAt = 0;         // until this time the follower may still acknowledge earlier entries
        double patience = kPatience; // seconds; longer after each attempt
    };
    static constexpr double kPatience = 0.1, kMostPatience = 1; // seconds

    // replica.cpp
    Future<Void> recover();
    Future<Void> keepTime();
    Future<Void> electIfDue();
    template <class Step>
    Future<Void> inTurn(Step step);
    template <class Step>
    Future<Void> toItsEnd(Step step, Mutex::Lock turn);
    void send(Message message);

    // consensus.cpp: the caller holds turn_
    Future<Void> handle(Message message);
    Future<Void> enter(std::uint64_t term);
    Future<Void> startElection();
    void askForVotes();
    Future<Void> vote(Message message);
    void countVote(Message const& message);
    Future<Void> leadIfElected();
    Future<Void> appendOwn(Request request);
    Future<Void> follow(Message message);
    Future<Void> take(Message message);
    void acknowledged(Message const& message);
    Future<Void> write(Record record);
    std::vector<std::string> wholeState() const;
    void commitWhatAMajorityHas();
    void executeCommitted();
    void stepDown();
    void sendEntries(int to);

    int size() const { return servers_; }
    int majority() const { return size() / 2 + 1; }
    std::uint64_t lastIndex() const { return log_.size() - 1; }
    void postponeElection();

    const int id_;
    const int servers_;
    const std::vector<net::Address> addresses_;
    const std::string path_;
    Witness& witness_;
    Reference<Journal> journal_;
    Mutex turn_;           // for one step at a time
    Promise<Void> broken_; // fails when a step has failed

    // On disk:
    std::uint64_t term_ = 0;
    int votedFor_ = -1;
    std::vector<Entry> log_{1}; // begins with an empty entry, so the first index is 1

    Role role_ = Role::Follower;
    std::set<int> votes_;
    std::uint64_t committed_ = 0;
    std::uint64_t executed_ = 0;
    Store store_;
    Trigger progress_; // triggered when an entry is executed or the role changes
    double electionAt_ = 0;
    int elections_ = 0;
    int inVain_ = 0;                    // elections since the last election that made a leader
    std::vector<Progress> progressOf_;  // used by a leader: one for each server
    std::map<int, net::Address> known_; // the source address of each server's last message
    std::uint64_t sent_ = 0;
    Scope step_; // runs the step that holds turn_
};

} // namespace kv
