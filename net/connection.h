#pragma once
// Connection: a stream of bytes in each direction, with operations to wait for.
//
//     Bytes some = co_await connection->read();                      // empty: the other side has ended its writing
//     std::size_t count = co_await connection->readSome(buffer);     // into your own memory; 0: the end
//     std::span<std::uint8_t> parts[] = {head, body};
//     co_await connection->readExactly(parts);                       // fills head, then body
//     Bytes header = co_await connection->readExactly(16);
//     Bytes line = co_await connection->readUntil("\r\n"_sr, 8192);  // with the line's end
//     co_await connection->write(line);
//     Future<Bytes> later = keep(connection->read());                // reads as soon as bytes arrive
//
// Each byte arrives once, in the order of the writes. A read does not show where a write ended: it may return a
// part of a write, or bytes of several writes.
//
// Reading. Each function returns an operation in place (flow/core/in_place.h), which the connection must outlive. An
// operation that loses a race or is cancelled has taken no bytes. Several reads may wait; the oldest is served first,
// except that a readUntil() for a text that has arrived overtakes an older readUntil() for a text that has not. The
// connection buffers received bytes until a read takes them; without them it holds no buffer. net/docs/sockets.md has a
// table of the functions: where the bytes go, and how often they are copied.
//
// Writing. write() queues all bytes before it returns, and sends them even if the returned operation is not awaited. If
// more bytes are queued than the high water mark, the operation is ready when at most the low water mark of bytes is
// left; otherwise it is ready immediately. Written bytes must not be changed.
//
// Errors: see flow/base/error_table.h, and isConnectionError().
//     connection_refused, connection_timed_out, host_unreachable     the connection could not be made
//     connection_reset          a reset by the other side: unread bytes are lost, and written bytes may be lost
//     connection_cut_off        readExactly() or readUntil() has found the end after some bytes; or, with TLS, any read
//                               has found an end that the other side has not announced by close_notify
//     end_of_stream             readExactly() or readUntil() has found the end, and no byte before it
//     value_too_large           readUntil() has not found the text within the limit
//     operation_obsolete        this side has closed the connection
//
// A connection closes when its last Reference is destroyed. It belongs to the loop on which it was made.

#include "flow/memory/reference.h"
#include "flow/memory/standalone.h"
#include "flow/wait/handler_slot.h"
#include "flow/wait/source.h"
#include "net/address.h"
#include "net/counters.h"
#include "net/detail/byte_buffer.h"
#include "net/drain.h"

#include <memory>
#include <optional>
#include <ranges>
#include <source_location>
#include <span>
#include <sys/types.h>
#include <type_traits>

namespace flow::net {

using Bytes = Standalone<StringRef>;
class Connection;

/// True if the error means that a connection could not be made, or has ended.
bool isConnectionError(Error const& error);

/// The caller's memory for a read: one buffer (an array, a vector, a string or a span of char or std::uint8_t), or a
/// range of several `std::span<std::uint8_t>`, which are filled in order. The memory and the range must stay valid
/// until the read has ended.
class ReadBuffer {
public:
    template <std::ranges::contiguous_range Memory>
        requires std::ranges::borrowed_range<Memory>
    ReadBuffer(Memory&& memory) {
        auto* data = std::ranges::data(memory);
        using Element = std::remove_pointer_t<decltype(data)>;
        if constexpr (std::is_same_v<Element, char> || std::is_same_v<Element, std::uint8_t>) {
            place_ = reinterpret_cast<std::uint8_t*>(data);
            size_ = std::ranges::size(memory);
        } else {
            static_assert(std::is_same_v<std::remove_const_t<Element>, std::span<std::uint8_t>>,
                          "a read writes into char, std::uint8_t or several std::span<std::uint8_t>");
            place_ = data;
            several_ = std::ranges::size(memory);
            for (std::span<std::uint8_t> each : memory)
                size_ += each.size();
        }
    }

    std::size_t size() const { return size_; }

private:
    friend class Connection;
    void const* place_;
    std::size_t size_ = 0;
    std::size_t several_ = 0; // the number of buffers in the range; 0: one buffer at place_
};

struct ReadRequest {
    enum class Kind : std::uint8_t { Some, Exactly, Until, Ready, Message };

    Connection* connection;
    void const* place;   // the caller's memory, or the text that ends the read; null: new memory
    std::uint32_t size;  // the limit, or for Exactly the number of bytes
    std::uint16_t count; // bytes of the text; or the number of buffers (0: one buffer)
    Kind kind;

    bool isReady();
    void park(WaiterNode& waiter);
    /// True if this request may overtake `older`: both wait for a text, and the text of `older` has not arrived.
    bool mayOvertake(ReadRequest& older) const;
    void describe(Description& out) const;
    StringRef text() const { return {static_cast<std::uint8_t const*>(place), count}; }
};

/// A read that returns the bytes in new memory.
struct Read : ReadRequest {
    using Result = Bytes;
    Bytes take();
};

struct ReadInto : ReadRequest {
    using Result = std::size_t;
    std::size_t take();
};

/// A read up to and including a text. Each read notes how far it has searched: several may wait for different texts.
struct ReadUntil : ReadRequest {
    using Result = Bytes;
    std::uint64_t searched = 0; // the text does not begin before this position of the stream
    Bytes take();
};

/// A request that takes nothing. It is ready when tryReadSome() may return something.
struct Readable : ReadRequest {
    using Result = Void;
    Void take() const { return Void(); }
};

/// The program at the other end of a Unix socket, as the kernel knows it.
struct PeerCredentials {
    pid_t process;
    uid_t user;
    gid_t group;
    friend bool operator==(PeerCredentials const&, PeerCredentials const&) = default;
};

class Connection : public ReferenceCounted<Connection>, public Drainable {
public:
    virtual ~Connection();

    /// The default of the high water mark. The default low water mark is half of it, or equal to it in a simulation.
    static constexpr std::size_t kHighWater = 64 * 1024;
    static constexpr std::uint32_t kLargestRead = 1u << 30;

    /// Reads at least one byte. The result is empty when the other side has ended its writing and all bytes were read.
    Read read(std::uint32_t atMost = kLargestRead, std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, atMost != 0, "a read of no bytes");
        return {{this, nullptr, atMost, 0, ReadRequest::Kind::Some}};
    }
    /// Reads exactly `bytes` bytes. Fails with connection_cut_off or end_of_stream if the end comes earlier.
    Read readExactly(std::uint32_t bytes) { return {{this, nullptr, bytes, 0, ReadRequest::Kind::Exactly}}; }
    /// Reads up to and including the text `end`, which has 1 to 65535 bytes and must stay valid until the operation
    /// ends. Fails with value_too_large if more than `limit` bytes would be needed.
    ReadUntil readUntil(StringRef end, std::uint32_t limit,
                        std::source_location caller = std::source_location::current());
    /// Waits for at least one byte, reads the available bytes, and returns their number; 0 means the end. `to` has at
    /// most 65535 buffers, with room for at least one byte. The buffers are written to only in the step in which the
    /// wait ends, so reads of several connections may share them.
    ReadInto readSome(ReadBuffer to, std::source_location caller = std::source_location::current()) {
        return into(to, ReadRequest::Kind::Some, caller);
    }
    /// Reads exactly as many bytes as fit into `to`.
    ReadInto readExactly(ReadBuffer to, std::source_location caller = std::source_location::current()) {
        return into(to, ReadRequest::Kind::Exactly, caller);
    }
    // The next functions are for code with its own buffers, such as MessageSocket. Do not use both tryWrite() and
    // write(): queued bytes of a write() are sent first, and tryWrite() may send nothing while they wait.

    /// Reads the available bytes, directly from the kernel if possible, and returns their number. Returns nothing if no
    /// bytes are available or the turn's budget is spent, and 0 at the end or after an error (see failure()). `to` has
    /// room for at least one byte. Throws nothing.
    std::optional<std::size_t> tryReadSome(ReadBuffer to) noexcept;
    Readable readable() { return {{this, nullptr, 1, 0, ReadRequest::Kind::Ready}}; }
    /// Sends as many bytes of the pieces as the kernel takes now, and returns their number: 0 also after an error. The
    /// caller keeps the other bytes.
    virtual std::size_t tryWrite(std::span<StringRef const> pieces) noexcept;
    /// Like tryWrite(), but sends `before` and then bytes of an open file, without copying the file into this program.
    /// Sends and returns nothing if this connection cannot, or if `before` is empty and the file has no byte at
    /// `offset`. Waits for the disk if the bytes are not in the system's memory.
    virtual std::optional<std::size_t> trySendFile(StringRef /*before*/, int /*file*/, std::uint64_t /*offset*/,
                                                   std::size_t /*size*/) noexcept {
        return {};
    }
    /// Ready when tryWrite() may take more. Fails if the connection has failed.
    virtual Drain writable() { return room(); }
    /// Returns the reason why nothing more can be read: end_of_stream if the other side has ended its writing. Returns
    /// an invalid Error as long as more bytes may come.
    Error failure() const {
        if (error_.isValid() || !ended_ || !received_.isEmpty())
            return error_;
        return cut_.isValid() ? cut_ : end_of_stream();
    }

    /// Returns the number of received bytes that no read has taken. Bytes that are still in the kernel do not count.
    std::size_t bufferedBytes() const { return received_.size(); }

    /// Writes the bytes. Must not be called after shutdownWrite().
    Drain write(Bytes bytes, std::source_location caller = std::source_location::current()) {
        return write(std::span<Bytes>(&bytes, 1), caller);
    }
    /// Writes all pieces in this order, as one write. Moves from the pieces.
    Drain write(std::span<Bytes> pieces, std::source_location caller = std::source_location::current());
    // The next functions call a handler once, after they have returned (see flow/wait/handler_slot.h). One read and one
    // write may wait at a time. Only the first call on a connection allocates.

    /// Like readSome(), and then calls handler(error, bytes) with the number of bytes.
    template <class Handler>
    void asyncReadSome(ReadBuffer to, Handler handler) {
        call(readSome(to), slots().read, handler);
    }
    /// Like write(), and then calls handler(error) when there is room for more bytes.
    template <class Handler>
    void asyncWrite(Bytes bytes, Handler handler) {
        call(write(std::move(bytes)), slots().write, handler);
    }
    /// Drops the waiting handlers without calling them, as the destructor does.
    void cancelHandlers() { slots_.reset(); }

    /// Ready when the kernel has taken all bytes written so far. They may not have arrived at the other side.
    virtual Drain flushed() { return empty(); }
    /// Ends the writing: the other side reads the end after the bytes written before. Reading goes on. Idempotent.
    virtual void shutdownWrite() = 0;
    /// Ends both directions. Waiting and later operations fail with operation_obsolete. Written bytes, and then the
    /// end, are still sent, for at most kLinger seconds and without confirmation. If the other side has sent bytes that
    /// were not read here, or goes on writing, the connection fails on that side. Idempotent.
    virtual void close() = 0;
    static constexpr double kLinger = 30;
    /// Like close(), but resets the connection: the other side's connection fails, and written bytes may be lost. A
    /// Unix socket has no reset: its other side reads the end. Idempotent.
    virtual void abort() = 0;

    virtual Address localAddress() const = 0;
    virtual Address peerAddress() const = 0;
    /// Returns the counts of reads and writes so far; zeros if the transport does not count.
    virtual SocketCounters counters() const { return {}; }
    /// Returns the program that has connected, or that has called listen(), as it was at that time. Returns nothing if
    /// this is no open Unix socket of the machine.
    virtual std::optional<PeerCredentials> peerCredentials() const { return {}; }
    /// Returns the socket's descriptor, for options that SocketOptions does not have: setsockopt() on it. Returns -1 if
    /// there is none: in a simulation, or when the connection has ended. Do not read, write or close it.
    virtual int nativeDescriptor() const { return -1; }

protected:
    using Buffers = std::span<std::span<std::uint8_t> const>;

    Connection() : Drainable(kHighWater / 2, kHighWater) {}
    Connection(std::size_t low, std::size_t high) : Drainable(low, high) {}

    // The transport implements these functions.

    /// Puts more bytes into received_, or sets ended_ or error_. Returns false if there is nothing now; then the
    /// transport later calls readersMayTry(). Runs no user code, throws nothing. At most `wanted` bytes are needed.
    virtual bool fill(std::size_t wanted) noexcept = 0;
    /// Like fill(), but when received_ is empty, it may put bytes into the buffers, which have room for `size` bytes.
    /// Returns the number of these bytes, and sets isSomething to the result of fill().
    virtual std::size_t fillInto(Buffers, std::size_t size, bool& isSomething) noexcept {
        isSomething = fill(size);
        return 0;
    }
    /// True if fillInto() with this size is sure to return bytes, or to set ended_ or error_. Receives nothing. Size 0
    /// stands for Kind::Message: only the transport knows how to receive a message.
    virtual bool hasBytes(std::size_t) noexcept { return false; }
    /// True if fillInto() may return something now.
    virtual bool mayFill() noexcept { return fill(1); }
    /// Called before a read waits. Throws an Error if nothing could end the wait.
    virtual void beforeReaderParks() {}
    /// Sends the bytes, or queues them. Sets error_ if the connection is gone.
    virtual void send(std::span<Bytes> pieces) = 0;

    std::string peerText() const override { return peerAddress().toString(); }
    /// Makes the waiting reads check again whether they are ready, in later turns.
    void readersMayTry() { readers_.wakeForNews(TaskPriority::ReadSocket); }
    bool isReadWaitedFor() const { return readers_.isWaitedFor(); }
    bool isDrainWaitedFor() const { return drains_.isWaitedFor(); }
    /// True if `operation` is the address of the first waiting read or drain.
    bool isFirstRead(void const* operation) { return isReadWaitedFor() && &readers_.first() == operation; }
    bool isFirstDrain(void const* operation) { return isDrainWaitedFor() && &drains_.first() == operation; }
    /// Fails all waiting operations, and all later calls, with the error.
    void fail(Error error);
    /// Writes the trace event of the end. fail() calls it; a transport that sets error_ itself must call it too.
    virtual void noteEnd(Error error) noexcept;
    /// Makes waiting operations wait forever.
    void abandonWaiters() noexcept {
        readers_.abandonAll();
        drains_.abandonAll();
    }
    /// Fails the waiting operations immediately. Destructors of derived classes call this function.
    void failWaiters() noexcept;

    ByteBuffer received_;
    bool ended_ = false;      // no more bytes will follow received_
    Error cut_;               // the error of reads that reach the end, if the connection was cut off
    bool writeEnded_ = false; // by shutdownWrite()

private:
    friend struct ReadRequest;
    friend struct Read;
    friend struct ReadUntil;
    friend struct ReadInto;

    ReadInto into(ReadBuffer to, ReadRequest::Kind kind, std::source_location caller);
    template <class Use>
    static auto withBuffers(void const* place, std::size_t size, std::size_t several, Use use) {
        if (several != 0)
            return use(Buffers(static_cast<std::span<std::uint8_t> const*>(place), several));
        std::span<std::uint8_t> one(static_cast<std::uint8_t*>(const_cast<void*>(place)), size);
        return use(Buffers(&one, 1));
    }
    std::size_t takeInto(Buffers to, std::size_t atMost);
    std::size_t receiveInto(Buffers to, std::size_t size, bool& isSomething) noexcept;
    /// True if the request may receive into the caller's memory.
    bool isDirectFor(ReadRequest const& request) const {
        return request.place && request.kind == ReadRequest::Kind::Some && received_.isEmpty() && !ended_ &&
               !error_.isValid();
    }
    bool hasFor(ReadRequest& request);
    bool isReadyFor(ReadRequest& request);
    /// Returns the number of bytes that the request takes, or throws the request's error.
    std::size_t sizeFor(ReadRequest const& request);
    Bytes takeBytes(std::size_t count);
    void consume(std::size_t bytes) {
        TurnBudget::useBytes(bytes);
        received_.consume(bytes);
        taken_ += bytes;
    }

    struct Slots {
        HandlerSlot read, write;
    };
    Slots& slots() {
        if (!slots_)
            slots_ = std::make_unique<Slots>();
        return *slots_;
    }

    Source<ReadRequest> readers_;
    std::unique_ptr<Slots> slots_; // made by the first call with a handler
    std::uint64_t taken_ = 0;      // the number of bytes that reads have taken so far
    bool isPutOff_ = false;        // a read needs more bytes, but the turn's budget is spent: see connection.cpp
};

} // namespace flow::net
