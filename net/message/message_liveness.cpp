// Heartbeats of a MessageSocket: disconnects silent peers.

#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/message/detail/message_state.h"

#include <cmath>
#include <limits>

namespace flow::net {

using zmtp::Fault;

namespace {

/// True if it is much later than `due`: this process was stopped, so bytes of the peer may be unread.
bool wasStopped(double due, double patience) {
    return now() - due > patience / 2;
}

} // namespace

/// Sends PINGs. Sets a fault and returns if the peer sends nothing for `patience` seconds after a PING.
Future<Void> MessageSocket::State::beat(Reference<Peer> peer) {
    if (options_.heartbeatIvl <= 0)
        co_await Future<Void>(Never());
    double patience = options_.heartbeatTimeout > 0 ? options_.heartbeatTimeout : options_.heartbeatIvl;
    double life = options_.heartbeatTtl > 0 ? double(options_.heartbeatTtl) : options_.heartbeatIvl + patience;
    double interval = std::min<double>(options_.heartbeatIvl, life / 2); // so a late PING still comes within the TTL
    std::string ttl;
    zmtp::appendBigEndian(ttl, static_cast<std::uint64_t>(std::min(std::ceil(life * 10 - 1e-6), 65535.0)), 2);
    constexpr double kNever = std::numeric_limits<double>::infinity();
    double asked = kNever; // the due time of the first PING since the peer's last bytes
    bool isSent = false;   // false while this PING could not be sent, because the connection was blocked
    for (double next = now();;) {
        if (peer->lastHeard >= asked) {
            asked = kNever;
            isSent = false;
        }
        if (now() >= asked + patience && isSilentSince(*peer, asked)) {
            if (isSent || peer->isBlocked) {
                peer->fault = Fault::HeartbeatTimedOut;
                co_return;
            }
            next = now(); // the peer has now read older bytes, so a PING can be sent
        }
        if (now() >= next) {
            next = now() + interval;
            if (!peer->isBlocked) {
                asked = isSent ? asked : now();
                isSent = true;
                command(*peer, "PING", ttl);
            }
            asked = std::min(asked, now());
        }
        double due = std::min(next, asked + patience);
        co_await delay(std::max(due - now(), 0.0));
        if (wasStopped(due, patience))
            asked = std::max(asked, now());
    }
}

void MessageSocket::State::pinged(Peer& peer, std::string_view data) {
    if (data.size() < 2 || data.size() > 18)
        return peer.end(Fault::BadCommand);
    peer.pingGap = now() - peer.lastPing;
    peer.lastPing = now();
    peer.ttl = static_cast<double>(zmtp::readBigEndian(data.substr(0, 2))) / 10;
    if (peer.ttl > 0 && (!peer.expiry.isValid() || peer.expiry.isReady()))
        peer.expiry = expire(peer);
    if (peer.output.bytes() < Output::kBatch) // otherwise the waiting bytes show that we are alive
        command(peer, "PONG", data.substr(2));
}

/// Ends the connection if the peer sends nothing for 1.5 times the TTL of its last PING, and for at least TTL + 0.1 s.
/// The extra time is needed because many programs send a PING only at the end of the TTL.
Future<Void> MessageSocket::State::expire(Peer& peer) {
    for (double from = 0; peer.ttl > 0;) {
        double patience = peer.ttl + std::max(peer.ttl / 2, 0.1);
        double due = std::max(peer.lastHeard, from) + patience;
        if (due <= now()) {
            if (isSilentSince(peer, now() - patience))
                break;
            due = now() + patience;
        }
        co_await delay(due - now());
        if (wasStopped(due, patience))
            from = now();
    }
    if (peer.ttl > 0)
        peer.end(Fault::HeartbeatTimedOut);
}

/// Stops reading at the high-water marks. PINGs are then not read, so assure() sends PONGs without them.
void MessageSocket::State::pause(Peer& peer) {
    peer.isPaused = true;
    bool isAsked = peer.ttl > 0 || peer.pingGap > 0;
    if (isAsked && (!peer.assuring.isValid() || peer.assuring.isReady()))
        peer.assuring = assure(peer);
}

/// Sends PONGs to a paused peer: four per Peer::ttl, or two per Peer::pingGap if that is more often.
Future<Void> MessageSocket::State::assure(Peer& peer) {
    constexpr double kShortest = 0.01, kLongest = 60; // seconds
    while (peer.isPaused && peer.isOpen()) {
        if (!peer.isBlocked)
            command(peer, "PONG", {});
        double byTtl = peer.ttl > 0 ? peer.ttl / 4 : kLongest, byGap = peer.pingGap > 0 ? peer.pingGap / 2 : kLongest;
        co_await delay(std::max(std::min(byTtl, byGap), kShortest));
    }
}

/// Reads, and returns true if the peer has sent nothing since `time`. Returns false if messages of the peer are unread
/// or the peer is paused, because then this program is slow, not the peer.
bool MessageSocket::State::isSilentSince(Peer& peer, double time) {
    readAhead(peer);
    if (peer.available() != 0 || peer.isPaused) {
        peer.lastHeard = now();
        inputCame(peer); // resumes a waiting receiver
    }
    return peer.lastHeard <= time;
}

} // namespace flow::net
