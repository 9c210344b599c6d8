#pragma once
// Server: one replica of a key-value store. Servers elect a leader, which puts requests into a log that a majority must
// have on disk before an entry is executed: Raft, without snapshots and changes of membership.
//
//     Cluster cluster{3, {a, b, c}};
//     co_await runServer(id, cluster, witness);          // until something fails, then start it anew
//
// Between servers go datagrams, to clients connections. Whatever fails ends the server, which recovers from its
// journal: so nothing is ever half done.

#include "net/transport.h"
#include "tests/sim/kv/journal.h"
#include "tests/sim/kv/message.h"

#include "flow/lib/async_trigger.h"
#include "flow/lib/collection.h"
#include "flow/lib/flow_lock.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace kv {

struct Cluster {
    int servers = 0;                     // their ids are from 0
    std::vector<net::Address> addresses; // where to look for them: any of them may be at any of these

    static constexpr std::uint16_t kServerPort = 4000; // datagrams
    static constexpr std::uint16_t kClientPort = 5000; // connections
};

/// Sees what servers do, from outside of them all.
class Witness {
public:
    virtual void leads(int server, std::uint64_t term) = 0;
    /// What a server says to others holds in its later lives, too: the term, its vote in it, what it has executed.
    virtual void promises(int server, std::uint64_t term, int votedFor, std::uint64_t executed) = 0;
    virtual void recovers(int server, std::uint64_t term, int votedFor, std::uint64_t lastIndex) = 0;
    /// `fresh`: not a repetition.
    virtual void executes(int server, std::uint64_t index, Entry const& entry, bool fresh) = 0;

protected:
    ~Witness() = default;
};

/// Ends only by an error.
Future<Void> runServer(int id, Cluster const& cluster, Witness& witness);

/// The data, and the last answer to each client.
class Store {
public:
    /// Executes each number of a client once. Returns whether it was a new one.
    bool execute(Request const& request);
    /// Nothing done, if it is not the last one of its client that was executed.
    Reply replyTo(Request const& request);
    /// Without looking whether it has been executed.
    void executeAgain(Request const& request);
    Optional<std::string> get(std::string const& key) const;

private:
    struct Session {
        std::uint64_t number = 0;
        Reply reply;
    };

    Reply perform(Request const& request);

    std::map<std::string, std::string> data_;
    std::map<std::uint64_t, Session> sessions_;
};

class Server : NonCopyable {
public:
    Server(int id, Cluster const& cluster, Witness& witness);

    Future<Void> run();

private:
    static constexpr int kMostClients = 16;

    enum class Role { Follower, Candidate, Leader };
    /// What a record of the journal says: at most one of each.
    struct Record {
        std::uint64_t term = 0;
        int votedFor = -1;
        std::uint64_t keep = 0; // how many entries stay, before `entries` follow
        std::vector<Entry> entries;

        template <class Ar>
        void serialize(Ar& ar) {
            serializer(ar, term, votedFor, keep, entries);
        }
    };

    // server.cpp
    Future<Void> recover();
    Future<Void> listenToServers();
    Future<Void> listenToClients();
    Future<Void> serveClient(Reference<net::Connection> connection, FlowLock::Releaser place);
    Future<Reply> answer(Request request);
    Future<Void> keepTime();
    template <class Step>
    Future<Void> inTurn(Step step);

    // consensus.cpp: each with turn_ taken
    Future<Void> handle(Message message);
    Future<Void> enter(std::uint64_t term);
    Future<Void> startElection();
    void askForVotes();
    Future<Void> vote(Message message);
    void countVote(Message const& message);
    Future<Void> lead();
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
    void send(Message message);

    int size() const { return cluster_.servers; }
    int majority() const { return size() / 2 + 1; }
    int votesNeeded() const;
    std::uint64_t lastIndex() const { return log_.size() - 1; }
    void postponeElection();

    const int id_;
    Cluster const& cluster_;
    Witness& witness_;
    Reference<Journal> journal_;
    Reference<net::DatagramSocket> socket_;
    FlowLock turn_{1}; // one thing at a time
    FlowLock places_{kMostClients};
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
    AsyncTrigger progress_; // something was executed, or the role has changed
    double electionAt_ = 0;
    int elections_ = 0;
    std::vector<std::uint64_t> next_;    // of a leader: the entry that each server gets next
    std::vector<std::uint64_t> matches_; // and up to which its log is known to be the same
    std::map<int, net::Address> known_;  // where each server was last heard from
    std::uint64_t sent_ = 0;
    ActorCollection sending_{false};
};

} // namespace kv
