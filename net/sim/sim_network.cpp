#include "net/sim/sim_network.h"

#include "flow/sim/detail/inject.h"
#include "net/sim/detail/datagrams.h"
#include "net/sim/detail/host.h"

#include <cmath>
#include <cstring>

namespace flow::net {
namespace {

/// Returns a hash that is equal on all machines with the same byte order.
std::uint64_t hashOf(std::uint64_t start, StringRef bytes) {
    constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15u;
    std::uint64_t hash = start;
    auto add = [&hash](std::uint64_t word) {
        hash = (hash ^ word) * kFactor;
        hash ^= hash >> 32;
    };
    add(static_cast<std::uint64_t>(bytes.size()));
    std::uint8_t const* at = bytes.begin();
    for (; bytes.end() - at >= 8; at += 8) {
        std::uint64_t word;
        std::memcpy(&word, at, 8);
        add(word);
    }
    std::uint64_t rest = 0;
    for (; at != bytes.end(); ++at)
        rest = rest << 8 | *at;
    add(rest);
    return hash;
}

LinkShape const& checked(LinkShape const& shape) {
    FLOW_ASSERT(shape.latency >= 0 && shape.jitter >= 0 && std::isfinite(shape.latency + shape.jitter),
                "the latency and the jitter of a link are seconds, from 0 on");
    FLOW_ASSERT(shape.bandwidth > 0, "the bandwidth of a link must be more than 0: cut() stops it");
    return shape;
}

} // namespace

SimNetwork::SimNetwork(World& world, LinkShape const& shape)
    : world_(world), shape_(checked(shape)), seed_(world.random().randomUInt64()) {
    FLOW_ASSERT(world.processes().empty(), "a SimNetwork is made before the processes of its World");
    sessions_.reset();
    flights_.reset();
    world_.add(*this);
    for (FaultKind kind : {FaultKind::partitionOneWay, FaultKind::partitionTwoWay})
        world_.onFault(kind, [this, kind](Process& process) {
            DeterministicRandom& random = world_.random(kind);
            double seconds = faultDuration(random, 3);
            if (kind == FaultKind::partitionOneWay)
                return cut(process, *random.randomChoice(world_.processes()), seconds);
            for (auto& other : world_.processes())
                if (random.coinflip())
                    partition(process, *other, seconds);
        });
}

SimNetwork::~SimNetwork() {
    FLOW_ASSERT(!world_.current(), "a SimNetwork is destroyed by a simulated process");
    world_.remove(*this);
    for (FaultKind kind : {FaultKind::partitionOneWay, FaultKind::partitionTwoWay})
        world_.onFault(kind, nullptr);
    for (Host* host : hosts_) {
        world_.kill(host->process());
        host->unplug();
    }
    while (!sessions_.isEmpty())
        static_cast<Session*>(sessions_.next)->vanish();
    while (!flights_.isEmpty())
        SimDatagramSocket::drop(flights_.next);
}

void SimNetwork::prepare(Process& process) {
    hosts_.push_back(&process.attach<Host>(*this, process));
}

void SimNetwork::shape(LinkShape const& shape) {
    shape_ = checked(shape);
    for (auto& [ends, cable] : cables_)
        cable.shape = shape;
}

void SimNetwork::shape(Process& a, Process& b, LinkShape const& shape) {
    cable(a, b).shape = cable(b, a).shape = checked(shape);
}

void SimNetwork::cut(Process& from, Process& to, Seconds seconds) {
    double& until = cable(from, to).cutUntil;
    until = std::max(until, world_.now() + seconds);
}

void SimNetwork::partition(Process& a, Process& b, Seconds seconds) {
    cut(a, b, seconds);
    cut(b, a, seconds);
}

void SimNetwork::clog(Process& from, Process& to, Seconds seconds) {
    double& until = cable(from, to).clogUntil;
    until = std::max(until, world_.now() + seconds);
}

void SimNetwork::heal() {
    for (auto& [ends, cable] : cables_)
        cable.cutUntil = cable.clogUntil = 0;
    for (auto* link = sessions_.next; link != &sessions_; link = link->next)
        static_cast<Session*>(link)->speedUp();
    lookAgain();
}

void SimNetwork::lookAgain() {
    for (auto* link = sessions_.next; link != &sessions_; link = link->next)
        static_cast<Session*>(link)->lookAgain();
    SimDatagramSocket::lookAgain(flights_);
}

void SimNetwork::setName(std::string name, std::vector<Address> addresses) {
    if (addresses.empty())
        names_.erase(name);
    else
        names_[std::move(name)] = std::move(addresses);
}

Host* SimNetwork::hostAt(Address const& address) const {
    if (!address.isV4())
        return nullptr;
    for (Host* host : hosts_)
        if (host->process().address() == address.v4())
            return host;
    return nullptr;
}

Cable& SimNetwork::cable(Process const& from, Process const& to) {
    return cables_.try_emplace({from.id(), to.id()}, from.id(), to.id(), shape_, seed_).first->second;
}

double SimNetwork::arrivalOf(Cable& cable, std::size_t bytes) {
    double now = world_.now();
    if (world_.injects(FaultKind::clog, cable.id()))
        cable.clogUntil = std::max(cable.clogUntil, now + faultDuration(world_.random(FaultKind::clog), 1));
    cable.freeAt = std::max(cable.freeAt, now) + static_cast<double>(bytes) / cable.shape.bandwidth;
    double share = cable.random.random01();
    double arrival = cable.freeAt + cable.shape.latency + cable.shape.jitter * (share * share * share);
    if (world_.injects(FaultKind::latencySpike, cable.id()))
        arrival += faultDuration(world_.random(FaultKind::latencySpike), 0.2);
    return arrival;
}

Bytes SimNetwork::mayCorrupt(Cable& cable, Bytes bytes) {
    if (bytes.empty() || !world_.injects(FaultKind::messageCorruption, cable.id()))
        return bytes;
    Bytes wrong = static_cast<StringRef>(bytes); // a copy, since other Bytes may share the memory
    std::int64_t bit = world_.random(FaultKind::messageCorruption).randomInt64(0, std::int64_t{8} * wrong.size());
    mutateString(wrong)[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    return wrong;
}

void SimNetwork::noteArrival(Cable const& cable, Kind kind, StringRef bytes) {
    ++arrived_;
    world_.note(EventKind::Message, hashOf(cable.id() << 3 ^ static_cast<std::uint64_t>(kind), bytes));
}

} // namespace flow::net
