#pragma once
// SimNetwork: the network between the processes of a World. In each of them transport() is a simulated machine at the
// process's address.
//
//     World world(seed, Faults::swarm(seed));
//     SimNetwork network(world);
//     Process& a = world.start({.name = "a", .main = serve});
//     Process& b = world.start({.name = "b", .main = ask});
//     network.partition(a, b, 10);                // they hear nothing of each other for ten seconds
//
// Made before the processes, destroyed before the World; that stops them.
//
// Connections behave as TCP's do. What is sent over a link that is cut or clogged, or to a machine without power,
// arrives when that is over; datagrams that arrive at a cut link or such a machine are lost. A process that stops
// leaves its machine alive: its connections are reset, and new ones are refused. A machine that loses its power
// says nothing. Its waiters wait on; when it is back, what they have sent to it is answered by a reset.
// A connection that is not answered fails after kConnectTimeout.
//
// Faults: all that are "per message", "per connection" and "per datagram", and the partitions. A message is one write.

#include "flow/sim/world.h"
#include "net/sim/cable.h"
#include "net/transport.h"

#include <map>

namespace flow::net {

class Host;

class SimNetwork final : ProcessHook, NonCopyable {
public:
    static constexpr double kConnectTimeout = 10;  // seconds on the clock of the process that connects
    static constexpr std::uint32_t kBacklog = 128; // connections that nobody has accepted, of each listener

    explicit SimNetwork(World& world, LinkShape const& shape = {});
    ~SimNetwork();

    // Called from outside processes, or from the code of one.

    /// Of all links, for what is sent from now on.
    void shape(LinkShape const& shape);
    /// Of the links between two.
    void shape(Process& a, Process& b, LinkShape const& shape);
    /// Nothing that `from` sends arrives at `to`, for so many seconds or until heal().
    void cut(Process& from, Process& to, double seconds = kUntilHealed);
    /// The same in both directions.
    void partition(Process& a, Process& b, double seconds = kUntilHealed);
    /// What `from` sends to `to`, or has sent, does not arrive before so many seconds have passed.
    void clog(Process& from, Process& to, double seconds);
    /// Ends all cuts and clogs.
    void heal();

    /// What the name resolves to, in each process: addresses; their ports do not count. None: it is no name any more.
    /// Processes that have looked it up may keep it for kNameSeconds.
    void setName(std::string name, std::vector<Address> addresses);
    static constexpr double kNameSeconds = 60;

    /// Ends of connections that a machine has: each connection has two, until it is closed or fails there.
    std::size_t openEnds() const { return openEnds_; }
    /// What has arrived: writes, datagrams, and what machines tell each other about their connections.
    std::uint64_t arrived() const { return arrived_; }

private:
    friend class Host;
    friend class Session;
    friend class SimDatagramSocket;

    /// What a message is, in its event.
    enum class Kind : std::uint8_t { Open, Accepted, Data, End, Reset, Credit, Datagram };

    void prepare(Process& process) override;
    Host* hostAt(Address const& address) const;
    Host& hostOf(Process const& process) const { return *hosts_[process.id() - 1]; }
    Cable& cable(Process const& from, Process const& to);
    /// When what is sent now arrives, and what it meets with on the way.
    double arrivalOf(Cable& cable, std::size_t bytes);
    Bytes mayCorrupt(Cable& cable, Bytes bytes);
    void noteArrival(Cable const& cable, Kind kind, StringRef bytes);
    /// What is held up looks anew when it may arrive.
    void lookAgain();

    World& world_;
    LinkShape shape_;
    std::uint64_t seed_;                                              // of the cables
    std::vector<Host*> hosts_;                                        // by the ids of their processes
    std::map<std::pair<std::uint32_t, std::uint32_t>, Cable> cables_; // those that were ever asked for
    ListLink sessions_;
    ListLink flights_; // of datagrams
    std::map<std::string, std::vector<Address>> names_;
    std::size_t openEnds_ = 0;
    std::uint64_t arrived_ = 0;
};

} // namespace flow::net
