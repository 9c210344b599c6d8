#pragma once
// Replica: one server of a replicated key-value store. Servers elect a leader, which puts requests into a log; an entry
// is executed when a majority has it on disk. This is Raft, without snapshots and changes of membership.
//
//     class Server final : public Replica {      // how messages travel; see net/examples/kv/server.h
//         void transmit(Message const& message, net::Address const& to) override;
//         ...
//     };
//     co_await server.run();                     // until something fails; then start it again
//
// Whatever fails ends the server, which recovers from its journal, so that nothing stays half done. A message may be
// lost, late, or arrive twice; one that was damaged must not arrive. Any server may be at any of the addresses.

#include "net/address.h"
#include "net/examples/kv/journal.h"
#include "net/examples/kv/store.h"

#include "flow/base/non_copyable.h"
#include "flow/sync/semaphore.h"
#include "flow/sync/trigger.h"
#include "flow/tasks/scope.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace kv {

/// Is called with what the servers of a simulation do, to check it.
class Witness {
public:
    virtual ~Witness() = default;
    virtual void leads([[maybe_unused]] int server, [[maybe_unused]] std::uint64_t term) {}
    /// A server has sent its term, its vote in it and what it has executed. After a restart they must still be true.
    virtual void promises([[maybe_unused]] int server, [[maybe_unused]] std::uint64_t term,
                          [[maybe_unused]] int votedFor, [[maybe_unused]] std::uint64_t executed) {}
    virtual void recovers([[maybe_unused]] int server, [[maybe_unused]] std::uint64_t term,
                          [[maybe_unused]] int votedFor, [[maybe_unused]] std::uint64_t lastIndex) {}
    /// `fresh`: not a repetition.
    virtual void executes([[maybe_unused]] int server, [[maybe_unused]] std::uint64_t index,
                          [[maybe_unused]] Entry const& entry, [[maybe_unused]] bool fresh) {}
};

class Replica : NonCopyable {
public:
    /// One of `servers`, with ids from 0. `journal` is the path of its journal's files, in a directory that is there.
    Replica(int id, int servers, std::vector<net::Address> addresses, std::string journal, Witness& witness);

    /// Ends only by an error.
    Future<Void> run();

protected:
    virtual ~Replica() = default;

    /// After the journal has been read: begins to use the network.
    virtual void open() {}
    /// Hands over what is for this server to received().
    virtual Future<Void> listenToServers() = 0;
    /// Replies with what answer() returns.
    virtual Future<Void> listenToClients() = 0;
    /// Does not wait and does not fail.
    virtual void transmit(Message const& message, net::Address const& to) = 0;

    Future<Void> received(Message message, net::Address from);
    /// Without `done`, another server has to be asked, or this one again; the request may have been executed or not.
    Future<Reply> answer(Request request);

private:
    enum class Role { Follower, Candidate, Leader };
    /// The content of a record of the journal: at most one of each.
    struct Record {
        std::uint64_t term = 0;
        int votedFor = -1;
        std::uint64_t keep = 0; // how many entries stay, before `entries` follow
        std::vector<Entry> entries;
    };

    /// The progress of a server that follows this leader.
    struct Progress {
        std::uint64_t next = 1;      // the entry that it gets next
        std::uint64_t matches = 0;   // up to which its log is known to be equal
        double resendAt = 0;         // until then it may still acknowledge what was sent
        double patience = kPatience; // longer each time
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

    // consensus.cpp: each with turn_ taken
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
    Mutex turn_;           // one thing at a time
    Promise<Void> broken_; // something failed half-way

    // On disk:
    std::uint64_t term_ = 0;
    int votedFor_ = -1;
    std::vector<Entry> log_{1}; // from 1

    Role role_ = Role::Follower;
    std::set<int> votes_;
    std::uint64_t committed_ = 0;
    std::uint64_t executed_ = 0;
    Store store_;
    Trigger progress_; // something was executed, or the role has changed
    double electionAt_ = 0;
    int elections_ = 0;
    int inVain_ = 0;                    // elections since the last one that gave a leader
    std::vector<Progress> progressOf_;  // of a leader: each server's
    std::map<int, net::Address> known_; // where each server was last heard from
    std::uint64_t sent_ = 0;
    Scope step_; // that has its turn
};

} // namespace kv
