#pragma once
// Connection: a stream of bytes in each direction, with operations to wait for.
//
//     Bytes some = co_await connection->read();                      // empty: the other side has ended its writing
//     std::size_t count = co_await connection->readSome(buffer);     // into one's own memory; 0: the end
//     std::span<std::uint8_t> parts[] = {head, body};
//     co_await connection->readExactly(parts);                       // fills head, then body
//     Bytes header = co_await connection->readExactly(16);
//     Bytes line = co_await connection->readUntil("\r\n"_sr, 8192);  // with the line's end
//     co_await connection->write(line);
//     Future<Bytes> later = keep(connection->read());                // takes the bytes as soon as there are any
//
// Bytes arrive in the order in which they were written, each once, but in other pieces: a read does not show where a
// write ended.
//
// Reading. Each function gives an operation in place: it refers to the connection, which must outlive it, and takes
// bytes only when it has won: an operation that loses a race or is cancelled has taken nothing. Several may wait; the
// oldest is served first, but a readUntil() whose text has arrived does not wait for an older one whose text has not.
// Received bytes that no read has taken stay in memory that grows with them; an idle connection holds no memory. The
// table in net/docs/sockets.md compares the functions: where the bytes go, and how often they are copied.
//
// Writing. write() takes all of the bytes before it returns. They are sent after those of earlier writes, also if
// the returned operation is not awaited. It is ready if at most the high water mark of bytes wait to be sent;
// otherwise, when at most the low water mark do. The bytes must not be changed once they have been written.
//
// Errors: see flow/base/error_table.h, and isConnectionError().
//     connection_refused, connection_timed_out, host_unreachable     of connecting
//     connection_reset          the other side has reset the connection: unread bytes are lost, written ones may be
//     connection_cut_off        readExactly() or readUntil() has found the end behind some bytes; with TLS, also any
//                               read if the other side has not said that it ends
//     end_of_stream             readExactly() or readUntil() has found the end, and no byte before it
//     value_too_large           readUntil() has not found the text within the limit
//     operation_obsolete        this side has closed the connection
//
// A connection closes when its last Reference goes. It belongs to the loop on which it was made.

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
#include <type_traits>

namespace flow::net {

using Bytes = Standalone<StringRef>;
class Connection;

/// True if the error means that a connection could not be made, or has ended.
bool isConnectionError(Error const& error);

/// The caller's memory for a read: one buffer (an array, a vector, a string or a span of char or std::uint8_t), or
/// several, as a range of `std::span<std::uint8_t>`, which are filled in their order. The memory, and the range, must
/// stay valid until the read has ended.
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
    std::size_t several_ = 0; // 0: one buffer
};

/// The base of all reads.
struct ReadRequest {
    enum class Kind : std::uint8_t { Some, Exactly, Until, Ready };

    Connection* connection;
    void const* place;   // the caller's memory, or the text that ends the read; null: new memory
    std::uint32_t size;  // at most, or exactly, so many bytes
    std::uint16_t count; // bytes of the text; or the number of buffers, 0 for one
    Kind kind;

    bool isReady();
    void park(WaiterNode& waiter);
    /// True if it may be served before `older`: both wait for a text, and that of `older` has not arrived.
    bool mayOvertake(ReadRequest& older) const;
    void describe(Description& out) const;
    StringRef text() const { return {static_cast<std::uint8_t const*>(place), count}; }
};

/// Returns bytes with memory of their own.
struct Read : ReadRequest {
    using Result = Bytes;
    Bytes take();
};

/// Writes into the caller's memory and returns the number of bytes.
struct ReadInto : ReadRequest {
    using Result = std::size_t;
    std::size_t take();
};

/// Up to and with a text. Several may wait with different texts: each has its own place in the search.
struct ReadUntil : ReadRequest {
    using Result = Bytes;
    std::uint64_t searched = 0; // bytes of the whole stream in which the text does not begin
    Bytes take();
};

/// Takes nothing: it is ready when tryReadSome() may return something.
struct Readable : ReadRequest {
    using Result = Void;
    Void take() const { return Void(); }
};

class Connection : public ReferenceCounted<Connection>, public Drainable {
public:
    virtual ~Connection();

    /// The default of both water marks.
    static constexpr std::size_t kHighWater = 64 * 1024;
    static constexpr std::uint32_t kLargestRead = 1u << 30;

    /// Some bytes, as soon as there are any; none when the other side has ended its writing and everything was read.
    Read read(std::uint32_t atMost = kLargestRead, std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, atMost != 0, "a read of no bytes");
        return {{this, nullptr, atMost, 0, ReadRequest::Kind::Some}};
    }
    /// Exactly so many bytes. Fails with connection_cut_off or end_of_stream if the end comes before.
    Read readExactly(std::uint32_t bytes) { return {{this, nullptr, bytes, 0, ReadRequest::Kind::Exactly}}; }
    /// Bytes up to and with the text `end`, which is not empty, has at most 65535 bytes, and must stay valid until
    /// then. Fails with value_too_large if more than `limit` bytes would be needed.
    ReadUntil readUntil(StringRef end, std::uint32_t limit,
                        std::source_location caller = std::source_location::current());
    /// As many bytes as there are, and at least one; 0 is the end. At most 65535 buffers, with room for at least one
    /// byte.
    ReadInto readSome(ReadBuffer to, std::source_location caller = std::source_location::current()) {
        return into(to, ReadRequest::Kind::Some, caller);
    }
    /// As many as fit.
    ReadInto readExactly(ReadBuffer to, std::source_location caller = std::source_location::current()) {
        return into(to, ReadRequest::Kind::Exactly, caller);
    }
    // For users with buffers of their own in both directions, such as messages. Do not use both tryWrite() and write():
    // queued bytes of a write() are sent first, and tryWrite() may take nothing as long as there are any.

    /// Reads as many bytes as are available, straight from the kernel if possible; nothing if there are none now; 0 at
    /// the end or after an error: failure() says which. The memory has at least one byte. Throws nothing.
    std::optional<std::size_t> tryReadSome(ReadBuffer to) noexcept;
    Readable readable() { return {{this, nullptr, 1, 0, ReadRequest::Kind::Ready}}; }
    /// Sends as many bytes of the pieces as the kernel takes now, and returns their number; 0 after an error as well.
    /// The caller keeps the rest.
    virtual std::size_t tryWrite(std::span<StringRef const> pieces) noexcept;
    /// When tryWrite() may take more. Fails when the connection has.
    virtual Drain writable() { return room(); }
    /// The reason why nothing more can be read: end_of_stream if the other side has ended its writing. Invalid as long
    /// as more may come.
    Error failure() const {
        if (error_.isValid() || !ended_ || !received_.isEmpty())
            return error_;
        return cut_.isValid() ? cut_ : end_of_stream();
    }

    /// Received bytes that were not taken, without those that are still in the kernel.
    std::size_t bufferedBytes() const { return received_.size(); }

    /// Not after shutdownWrite().
    Drain write(Bytes bytes, std::source_location caller = std::source_location::current()) {
        return write(std::span<Bytes>(&bytes, 1), caller);
    }
    /// Writes all of them in this order, as one write; they are moved from.
    Drain write(std::span<Bytes> pieces, std::source_location caller = std::source_location::current());
    // Operations with handlers, which are called once and never inside these functions: see flow/wait/handler_slot.h.
    // One read and one write at a time. Only the first call on a connection allocates.

    /// Calls handler(error, bytes).
    template <class Handler>
    void asyncReadSome(ReadBuffer to, Handler handler) {
        call(readSome(to), slots().read, handler);
    }
    /// Calls handler(error) when there is room for more.
    template <class Handler>
    void asyncWrite(Bytes bytes, Handler handler) {
        call(write(std::move(bytes)), slots().write, handler);
    }
    /// Waiting handlers are not called; the same holds when the last Reference goes.
    void cancelHandlers() { slots_.reset(); }

    /// Ready when the kernel has taken all that was written so far. That does not mean that it has arrived.
    virtual Drain flushed() { return empty(); }
    /// Ends the writing: the other side reads the end after the bytes written before. Reading goes on. Idempotent.
    virtual void shutdownWrite() = 0;
    /// Ends both directions; pending and later operations fail with operation_obsolete. Written bytes are still sent,
    /// for at most kLinger seconds and without confirmation, and then the end. If the other side has sent something
    /// that was not read here, or goes on writing, its connection fails. Idempotent.
    virtual void close() = 0;
    static constexpr double kLinger = 30;
    /// Like close(), but resets the connection: the other side's connection fails, and written bytes may not be sent. A
    /// Unix socket has no reset: there the other side reads the end. Idempotent.
    virtual void abort() = 0;

    virtual Address localAddress() const = 0;
    virtual Address peerAddress() const = 0;
    /// Counts of reads and writes so far; zeros if the transport does not count.
    virtual SocketCounters counters() const { return {}; }

protected:
    using Buffers = std::span<std::span<std::uint8_t> const>;

    Connection() : Drainable(kHighWater / 2, kHighWater) {}
    Connection(std::size_t low, std::size_t high) : Drainable(low, high) {}

    // The transport implements these.

    /// Puts more bytes into received_, or sets ended_ or error_. False if there is nothing now; the transport calls
    /// readersMayTry() later. Runs no user code, throws nothing. `wanted`: the number of bytes that can be used.
    virtual bool fill(std::size_t wanted) noexcept = 0;
    /// Like fill(), but may put bytes into the caller's memory, of `size` bytes, when received_ is empty: returns their
    /// number.
    virtual std::size_t fillInto(Buffers, std::size_t size, bool& isSomething) noexcept {
        isSomething = fill(size);
        return 0;
    }
    /// True if fillInto() of so many bytes is sure to return some, or to set ended_ or error_. It receives nothing.
    virtual bool hasBytes(std::size_t) noexcept { return false; }
    /// True if fillInto() may return something now.
    virtual bool mayFill() noexcept { return fill(1); }
    /// A read is about to wait. Throws an Error if nothing could end that.
    virtual void beforeReaderParks() {}
    /// Sends the bytes, or queues them. Sets error_ if the connection is gone.
    virtual void send(std::span<Bytes> pieces) = 0;

    std::string receiverText() const override { return " to " + peerAddress().toString(); }
    /// Lets waiting operations check again, in turns of their own.
    void readersMayTry() { readers_.wakeForNews(TaskPriority::ReadSocket); }
    bool isReadWaitedFor() const { return readers_.isWaitedFor(); }
    bool isDrainWaitedFor() const { return drains_.isWaitedFor(); }
    /// True if the operation at this address is the first waiting read, or drain.
    bool isFirstRead(void const* operation) { return isReadWaitedFor() && &readers_.first() == operation; }
    bool isFirstDrain(void const* operation) { return isDrainWaitedFor() && &drains_.first() == operation; }
    /// Fails all waiting operations, and all later calls, with the error.
    void fail(Error error);
    /// Waiting operations are never completed.
    void abandonWaiters() noexcept {
        readers_.abandonAll();
        drains_.abandonAll();
    }
    /// Fails the operations that still wait, at once. For destructors of derived classes.
    void failWaiters() noexcept;

    ByteBuffer received_;
    bool ended_ = false;      // no more bytes will follow received_
    Error cut_;               // the error of reads that reach this end, if the end was not intended
    bool writeEnded_ = false; // by shutdownWrite()

private:
    friend struct ReadRequest;
    friend struct Read;
    friend struct ReadUntil;
    friend struct ReadInto;

    ReadInto into(ReadBuffer to, ReadRequest::Kind kind, std::source_location caller);
    /// Calls `use` with the list of the buffers at `place`.
    template <class Use>
    static auto withBuffers(void const* place, std::size_t size, std::size_t several, Use use) {
        if (several != 0)
            return use(Buffers(static_cast<std::span<std::uint8_t> const*>(place), several));
        std::span<std::uint8_t> one(static_cast<std::uint8_t*>(const_cast<void*>(place)), size);
        return use(Buffers(&one, 1));
    }
    /// Moves the first received bytes into the buffers; returns their number.
    std::size_t takeInto(Buffers to, std::size_t atMost);
    /// Receives into the buffers.
    std::size_t receiveInto(Buffers to, std::size_t size, bool& isSomething) noexcept;
    /// True if the request may receive into the caller's memory.
    bool isDirectFor(ReadRequest const& request) const {
        return request.place && request.kind == ReadRequest::Kind::Some && received_.isEmpty() && !ended_ &&
               !error_.isValid();
    }
    bool hasFor(ReadRequest& request);
    bool isReadyFor(ReadRequest& request);
    /// The number of bytes that the request takes; throws its error.
    std::size_t sizeFor(ReadRequest const& request);
    /// The first bytes that were received, in memory of their own.
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
    std::uint64_t taken_ = 0;      // bytes by reads so far
    bool isPutOff_ = false;        // a read that needs more has received what a turn may, and goes on in a later one
};

} // namespace flow::net
