#pragma once
// SimNetwork: the network between the processes of a World. In each process, transport() returns a simulated machine at
// the process's address.
//
//     World world(seed, Faults::swarm(seed));
//     SimNetwork network(world);
//     Process& a = world.start({.name = "a", .main = serve});
//     Process& b = world.start({.name = "b", .main = ask});
//     network.partition(a, b, 10);                // no message passes between them for ten seconds
//
// Make the network before the processes, and destroy it before the World. Its destructor stops the processes.
//
// Connections behave as in TCP. Bytes that are sent over a cut or clogged link, or to a machine without power, arrive
// when the link or machine works again; datagrams are lost, except over a clogged link. When a process stops, its
// machine resets the connections and refuses new ones. A machine without power sends nothing, and its peers wait. When
// power is back, it answers their messages with a reset. connect() waits at most kConnectTimeout seconds for an answer.
//
// Injected faults: the kinds from partitionOneWay to datagramReorder in flow/sim/faults.h.

#include "flow/base/seconds.h"
#include "flow/sim/world.h"
#include "net/sim/detail/cable.h"
#include "net/transport.h"

#include <map>

namespace flow::net {

class Host;

class SimNetwork final : ProcessHook, NonCopyable {
public:
    static constexpr double kConnectTimeout = 10;  // seconds on the clock of the process that connects
    static constexpr std::uint32_t kBacklog = 128; // the connections of a listener that may wait to be accepted

    explicit SimNetwork(World& world, LinkShape const& shape = {});
    ~SimNetwork();

    // Call these functions from outside processes, or from the code of a process.

    /// Sets the shape of all links, for messages sent from now on.
    void shape(LinkShape const& shape);
    /// Sets the shape of the links between two processes.
    void shape(Process& a, Process& b, LinkShape const& shape);
    /// For `seconds`, or until heal(), nothing from `from` arrives at `to`. Connections continue after that.
    void cut(Process& from, Process& to, Seconds seconds = kUntilHealed);
    /// Cuts both directions.
    void partition(Process& a, Process& b, Seconds seconds = kUntilHealed);
    /// Like cut(), but everything arrives later, datagrams too.
    void clog(Process& from, Process& to, Seconds seconds);
    /// Ends all cuts and clogs, and makes slow connections as fast as others.
    void heal();

    /// Sets the addresses of a name, for all processes, and ignores their ports. Without addresses, removes the name.
    /// Processes may cache an answer for kNameSeconds.
    void setName(std::string name, std::vector<Address> addresses);
    static constexpr double kNameSeconds = 60;

    /// Returns the number of open ends. A connection has an end at each machine, until it closes or fails there.
    std::size_t openEnds() const { return openEnds_; }
    /// Returns the number of arrived messages: writes, datagrams, and control messages of connections.
    std::uint64_t arrived() const { return arrived_; }

private:
    friend class Host;
    friend class Session;
    friend class SimDatagramSocket;

    /// The kind of a message, which its arrival event contains.
    enum class Kind : std::uint8_t { Open, Accepted, Data, End, Reset, Credit, Datagram };

    void prepare(Process& process) override;
    Host* hostAt(Address const& address) const;
    Host& hostOf(Process const& process) const { return *hosts_[process.id() - 1]; }
    Cable& cable(Process const& from, Process const& to);
    /// Returns the arrival time of a message that is sent now. May inject faults.
    double arrivalOf(Cable& cable, std::size_t bytes);
    Bytes mayCorrupt(Cable& cable, Bytes bytes);
    void noteArrival(Cable const& cable, Kind kind, StringRef bytes);
    /// Makes all messages in flight compute their arrival again.
    void lookAgain();

    World& world_;
    LinkShape shape_;
    std::uint64_t seed_;                                              // the seed of the cables' random generators
    std::vector<Host*> hosts_;                                        // by the ids of their processes
    std::map<std::pair<std::uint32_t, std::uint32_t>, Cable> cables_; // each is made at its first use
    ListLink sessions_;
    ListLink flights_; // the datagrams in flight
    std::map<std::string, std::vector<Address>> names_;
    std::size_t openEnds_ = 0;
    std::uint64_t arrived_ = 0;
};

} // namespace flow::net
