#pragma once
// What the simulations of the patterns of questions and answers have in common: clients that ask while everything
// fails, and then in peace. What must hold: each question ends once, with its own answer or with an error that says
// why, in a bounded time; and in peace with its answer.

#include "flow/core/future.h"
#include "flow/sim/simulation.h"
#include "flow/sim/world.h"
#include "net/examples/patterns/lazy_pirate.h"
#include "net/message/message.h"
#include "net/sim/sim_network.h"

namespace flow::net {

/// Those of the network and of processes.
Faults ofNetworkAndProcesses(Faults const& all);

class Questions {
public:
    static constexpr int kClients = 3;

    Questions(World& world, SimNetwork& network) : world_(world), network_(network) {}

    /// Starts a process into which faults are injected, and that starts again. Its address: "tcp://10.0.0.1".
    std::string start(std::string name, std::function<Future<Void>()> main);
    /// Starts the clients. Of each question `make` makes what is asked, and `read` gives what was answered to it;
    /// nothing: the answer is an error.
    using Make = std::function<Message(std::string const&)>;
    using Read = std::function<std::optional<std::string>(Message const&)>;
    void ask(std::string endpoint, Make make, Read read);
    /// Half a minute of faults, and then so long that what they have begun is over.
    Future<Void> makePeace();
    /// The same, and what must hold in the end.
    Future<Void> judge();

    /// What servers and workers do: they answer, and sometimes they hang, or end.
    Answer answer() const;

private:
    static Future<Message> answerOne(Questions const* questions, Message question);
    Future<Void> askAll(std::string endpoint, int client, Make make, Read read);

    World& world_;
    SimNetwork& network_;
    int asked_[kClients] = {}, ended_[kClients] = {}; // in all lives of the client
    int lost_[kClients] = {};                         // questions of a client that was killed before the answer
    int answers_[kClients] = {};
    bool isPeace_ = false;    // nothing fails any more
    bool mustAnswer_ = false; // and what had begun before is over
};

} // namespace flow::net
