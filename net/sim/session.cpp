// A session has two halves (one at each machine) and two pipes (messages in flight, one in each direction).
//
// Open: open() sends the request. The machine of side 1 offers it to a listener and answers. Then both halves are
// established. Data: send() puts a segment into the pipe with its arrival time. deliver(), on the world's loop, takes
// the segments that have arrived and calls arrive(), which changes the half and wakes its process. Only wake(), in the
// loop of the process, completes futures. A Credit reports how many bytes were read, which shortens the sender's queue.
//
// End: each direction ends separately (shutdownWrite). A reset or a fault fails a half immediately. A session is freed
// when no machine, no process and no message in flight refers to it.

#include "net/sim/detail/session.h"

#include "net/detail/address_error.h"
#include "net/detail/connection_events.h"
#include "net/sim/detail/host.h"

#include <cerrno>

namespace flow::net {

class SimConnection final : public Connection {
public:
    SimConnection(Session& session, int side)
        : Connection(kHighWater, kHighWater), session_(Reference<Session>::addRef(&session)), side_(side) {}
    ~SimConnection() override {
        if (!error_.isValid())
            noteEnd(operation_obsolete());
        session_->handleGone(side_);
    }

    Drain flushed() override { return {this, 0, Error()}; } // the machine takes all bytes immediately
    void shutdownWrite() override {
        writeEnded_ = true;
        session_->shutdownWrite(side_);
    }
    void close() override {
        session_->close(side_);
        fail(operation_obsolete());
    }
    void abort() override {
        session_->abort(side_, operation_obsolete());
        fail(operation_obsolete());
    }
    Address localAddress() const override { return session_->address(side_); }
    Address peerAddress() const override { return session_->address(1 - side_); }

    // Called by the session.

    bool isAwaited() const { return isReadWaitedFor() || isDrainWaitedFor(); }
    void stop() { abandonWaiters(); }
    void noteRead(std::size_t bytes) { noteGone(bytes); }
    void wake() {
        if (session_->error(side_).isValid())
            return fail(session_->error(side_));
        readersMayTry();
        wakeDrains();
    }
    std::string sourceOf(void const* what, std::string const& peer) {
        if (isFirstRead(what))
            return "bytes from " + peer;
        return isFirstDrain(what) ? peer + " to read" : std::string();
    }

private:
    void noteEnd(Error error) noexcept override {
        if (session_->isEstablished(side_)) // else the connect() has failed
            Connection::noteEnd(error);
    }
    bool fill(std::size_t) noexcept override {
        if (session_->hasReceived(side_)) {
            received_.append(session_->takeReceived(side_));
            return true;
        }
        if (session_->error(side_).isValid()) {
            if (!error_.isValid())
                noteEnd(session_->error(side_));
            error_ = session_->error(side_);
            wakeDrains();
        }
        ended_ = session_->readEnded(side_);
        return error_.isValid() || ended_;
    }
    void send(std::span<Bytes> pieces) override {
        Bytes all = std::move(pieces[0]);
        for (Bytes const& each : pieces.subspan(1))
            all = all.withSuffix(each);
        if (all.empty() && !session_->error(side_).isValid())
            return;
        noteWritten(static_cast<std::size_t>(all.size()));
        session_->write(side_, std::move(all));
        if (session_->error(side_).isValid())
            fail(session_->error(side_));
    }

    Reference<Session> session_;
    int side_;
};

bool Session::Half::isAwaited() const {
    return opening || (handle && handle->isAwaited());
}

Session::Session(SimNetwork& network, Host& from, Address fromAddress, Host& to, Address toAddress)
    : network_(network) {
    Host* hosts[] = {&from, &to};
    for (int side : {0, 1}) {
        Pipe& pipe = pipes_[side];
        pipe.session = this;
        pipe.resume = [](WaiterNode* waiter) {
            auto* self = static_cast<Pipe*>(waiter);
            self->session->deliver(*self);
        };
        pipe.link = {nullptr, nullptr};
        pipe.cable = &network.cable(hosts[side]->process(), hosts[1 - side]->process());
        Half& half = halves_[side];
        half.session = this;
        half.resume = [](WaiterNode* waiter) {
            auto* self = static_cast<Half*>(waiter);
            self->session->wake(*self);
        };
        half.link = {nullptr, nullptr};
        half.next = nullptr;
        half.host = hosts[side];
        half.address = side == 0 ? fromAddress : toAddress;
    }
    pushBack(network.sessions_, *this);
}

Session::~Session() {
    if (isLinked())
        unlink();
}

Reference<Session> Session::open(SimNetwork& network, Host& from, Address fromAddress, Host& to, Address toAddress) {
    World& world = network.world_;
    World::Kernel kernel(world);
    Reference<Session> session(new Session(network, from, fromAddress, to, toAddress));
    Cable& cable = *session->pipes_[0].cable;
    session->isRefused_ = world.injects(FaultKind::connectionRefused, cable.id());
    if (world.injects(FaultKind::slowLink, cable.id()))
        session->bandwidth_ = cable.shape.bandwidth * 0.001 * (1.01 - world.random(FaultKind::slowLink).random01());
    if (world.injects(FaultKind::connectionHalfOpen, cable.id()))
        session->messagesLeft_ = world.random(FaultKind::connectionHalfOpen).randomInt(1, 100);
    session->enter(session->halves_[0]);
    session->send(session->halves_[0], Kind::Open);
    return session;
}

// -------------------------------------------------------------------------------------------------------------------
// Called by processes

Reference<Connection> Session::handle(int side) {
    auto handle = makeReference<SimConnection>(*this, side);
    halves_[side].handle = handle.getPtr();
    return handle;
}

Future<Void> Session::established() {
    return halves_[0].opening.emplace().getFuture();
}

void Session::write(int side, Bytes bytes) {
    Half& half = halves_[side];
    if (half.error.isValid())
        return;
    World::Kernel kernel(network_.world_);
    Cable& cable = *pipes_[side].cable;
    if (network_.world_.injects(FaultKind::connectionReset, cable.id()))
        abort(side, connection_reset());
    else
        send(half, Kind::Data, network_.mayCorrupt(cable, std::move(bytes)));
}

void Session::shutdownWrite(int side) {
    Half& half = halves_[side];
    if (!half.isKnown || std::exchange(half.writeEnded, true))
        return;
    World::Kernel kernel(network_.world_);
    send(half, Kind::End);
}

void Session::close(int side) {
    Half& half = halves_[side];
    if (!half.isKnown)
        return;
    World::Kernel kernel(network_.world_);
    half.isClosed = true;
    if (!half.isEstablished || !half.received.isEmpty())
        send(half, Kind::Reset);
    else if (!half.writeEnded)
        send(half, Kind::End);
    fail(half, operation_obsolete());
}

void Session::abort(int side, Error error) {
    Half& half = halves_[side];
    if (!half.isKnown)
        return;
    World::Kernel kernel(network_.world_);
    send(half, Kind::Reset);
    fail(half, error);
}

void Session::handleGone(int side) {
    Half& half = halves_[side];
    half.handle = nullptr;
    close(side);
    leaveUnlessNeeded(half);
}

/// Returns the bytes of one write. An injected fault may return a part of the write, or join several writes.
Bytes Session::takeReceived(Half& half) {
    World& world = network_.world_;
    World::Kernel kernel(world);
    std::uint64_t link = pipeFrom(other(half)).cable->id();
    while (half.received.size() > 1 && world.injects(FaultKind::mergedRead, link)) {
        Bytes first = half.received.pop();
        half.received.front() = half.received.front().withPrefix(first);
    }
    Bytes& front = half.received.front();
    int size = front.size();
    int taken = size;
    if (size > 1 && world.injects(FaultKind::shortRead, link))
        taken = world.random(FaultKind::shortRead).randomInt(1, size);
    Bytes bytes(front.substr(0, taken), front.arena());
    if (taken == size)
        half.received.pop();
    else
        front = Bytes(front.substr(taken), front.arena());
    half.unreported += static_cast<std::size_t>(taken);
    if (half.unreported >= Connection::kHighWater / 2)
        send(half, Kind::Credit, {}, std::exchange(half.unreported, 0));
    return bytes;
}

/// Completes the operations of the process. The resumed code may call any function here, and may drop the handle.
void Session::wake(Half& half) {
    auto self = Reference<Session>::addRef(this);
    if (half.opening && (half.isEstablished || half.error.isValid())) {
        Promise<Void> opening = takePromise(half.opening);
        traceConnection(half.error.isValid() ? "ConnectFailed" : "Connected", other(half).address, half.error);
        half.error.isValid() ? opening.sendError(half.error) : opening.send(Void());
    }
    if (half.handle)
        half.handle->wake();
    leaveUnlessNeeded(half);
}

// -------------------------------------------------------------------------------------------------------------------
// Called by machines

void Session::enter(Half& half) {
    half.isKnown = true;
    ++network_.openEnds_;
    pushBack(half.host->halves_, static_cast<ListLink&>(half));
    addref();
}

/// Removes `half` from the list of its machine, unless `half` is needed. May destroy the session.
void Session::leaveUnlessNeeded(Half& half) {
    auto& place = static_cast<ListLink&>(half);
    if (half.isNeeded() || !place.isLinked())
        return;
    place.unlink();
    detach(&half);
    delref();
}

/// Ends `half` with `error`. May destroy the session.
void Session::fail(Half& half, Error error) {
    if (!std::exchange(half.isKnown, false))
        return;
    --network_.openEnds_;
    half.error = error;
    while (!half.received.isEmpty())
        half.received.pop();
    notify(half);
    leaveUnlessNeeded(half);
}

void Session::notify(Half& half) {
    if (half.isAwaited())
        half.host->wake(half);
}

void Session::accepted() {
    halves_[1].isEstablished = true;
    enter(halves_[1]);
}

void Session::stop(ListLink* place, bool powerLost) {
    Half& half = *static_cast<Half*>(place);
    auto self = Reference<Session>::addRef(half.session);
    abandon(half.opening);
    if (half.handle)
        std::exchange(half.handle, nullptr)->stop();
    if (half.isKnown && !powerLost)
        self->send(half, Kind::Reset);
    self->fail(half, connection_reset());
    self->leaveUnlessNeeded(half);
}

std::string Session::sourceOf(ListLink* place, void const* what) {
    Half& half = *static_cast<Half*>(place);
    Half& peer = half.session->other(half);
    std::string name = peer.host->process().name() + " at " + peer.address.toString();
    if (sets(half.opening, what))
        return name + " to answer";
    return half.handle ? half.handle->sourceOf(what, name) : std::string();
}

void Session::vanish() {
    auto self = Reference<Session>::addRef(this);
    unlink();
    for (Pipe& pipe : pipes_) {
        if (pipe.segments.isEmpty())
            continue;
        detach(&pipe);
        while (!pipe.segments.isEmpty())
            pipe.segments.pop();
        delref();
    }
}

void Session::send(Half& half, Kind kind, Bytes bytes, std::uint64_t credit) {
    Pipe& pipe = pipeFrom(half);
    double at = network_.arrivalOf(*pipe.cable, static_cast<std::size_t>(bytes.size()));
    if (bandwidth_ > 0) {
        pipe.freeAt = std::max(pipe.freeAt, network_.world_.now()) + bytes.size() / bandwidth_;
        at = std::max(at, pipe.freeAt);
    }
    pipe.last = at = std::max(at, pipe.last);
    bool isFirst = pipe.segments.isEmpty();
    pipe.segments.push(Segment{at, std::move(bytes), credit, kind});
    if (isFirst) {
        addref();
        park(pipe, at);
    }
}

void Session::park(Pipe& pipe, double time) {
    network_.world_.parkUntil(&pipe, time, TaskPriority::ReadSocket);
}

double Session::heldUntil(Pipe& pipe) {
    bool isDark = !halves_[&pipe == &pipes_[0]].host->isPowered();
    return isDark ? kUntilHealed : std::max(pipe.cable->cutUntil, pipe.cable->clogUntil);
}

/// True if the machine still has the address to which the message was sent.
bool Session::isAtItsAddress(Half const& half) {
    return half.address.isLoopback() || half.address.v4() == half.host->process().address();
}

void Session::speedUp() {
    if (bandwidth_ == 0)
        return;
    bandwidth_ = 0;
    double now = network_.world_.now();
    for (Pipe& pipe : pipes_) {
        for (std::uint32_t i = 0; i < pipe.segments.size(); ++i)
            pipe.segments.at(i).at = std::min(pipe.segments.at(i).at, now);
        pipe.last = std::min(pipe.last, now);
    }
}

void Session::lookAgain() {
    for (Pipe& pipe : pipes_)
        if (!pipe.segments.isEmpty()) {
            detach(&pipe);
            park(pipe, pipe.segments.front().at);
        }
}

void Session::deliver(Pipe& pipe) {
    auto self = Reference<Session>::addRef(this);
    Half& half = halves_[&pipe == &pipes_[0]];
    while (!pipe.segments.isEmpty()) {
        double at = std::max(pipe.segments.front().at, heldUntil(pipe));
        if (at > network_.world_.now())
            return park(pipe, at); // if `at` is infinite, lookAgain() ends the wait
        arrive(half, pipe.segments.pop());
    }
    delref();
}

void Session::arrive(Half& half, Segment segment) {
    network_.noteArrival(*pipeFrom(other(half)).cable, segment.kind, segment.bytes);
    if (messagesLeft_ == 0)
        return;
    switch (segment.kind) {
    case Kind::Open:
        send(half, !isRefused_ && isAtItsAddress(half) && half.host->offer(*this) ? Kind::Accepted : Kind::Reset);
        return;
    case Kind::Accepted:
        half.isEstablished = true;
        return notify(half);
    case Kind::Data:
        if (messagesLeft_ > 0)
            --messagesLeft_;
        if (half.isKnown)
            half.received.push(std::move(segment.bytes));
        else if (other(half).isKnown)
            send(half, Kind::Reset);
        break;
    case Kind::End:
        half.readEnded = true;
        if (!half.isKnown && !half.isClosed && other(half).isKnown)
            send(half, Kind::Reset);
        break;
    case Kind::Credit:
        if (half.handle)
            half.handle->noteRead(segment.credit);
        break;
    case Kind::Reset:
        return fail(half, half.isEstablished ? connection_reset()
                                             : errorAt(errorOfCall(ECONNREFUSED), "connect to", other(half).address));
    case Kind::Datagram:
        break;
    }
    notify(half);
}

} // namespace flow::net
