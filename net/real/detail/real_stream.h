#pragma once
// RealStream: a pipe, a terminal or a file as a Connection.
//
// A StreamFile is one direction. A pipe or a terminal is opened anew by /proc/self/fd. Only this program has the new
// open file, so the file can be non-blocking. For other files, and if opening anew is not allowed, the directions have
// a BlockingCall, and the poller watches an eventfd.

#include "flow/loop/turn.h"
#include "net/real/detail/blocking_call.h"
#include "net/real/detail/real_connection.h"

#include <memory>
#include <string>

namespace flow::net {

class RealStream;

/// One direction of a stream. The poller watches its descriptor: the file, or the eventfd of its calls.
class StreamFile : public RealSocket {
public:
    bool canBeForgotten() const { return hasNetwork(); }

protected:
    /// Opens the file of `descriptor` anew, or copies the descriptor. Throws an Error.
    StreamFile(RealNetwork& network, int descriptor, int flags) : StreamFile(network, open(descriptor, flags)) {}
    ~StreamFile() = default;

    std::shared_ptr<BlockingCall> call_; // null: the file does not block
    bool mayTry_ = true;                 // a call of the file has not blocked since the last news

private:
    struct Opened {
        OpenDescriptor file, events; // `events` is -1 for a file that does not block
    };
    static Opened open(int descriptor, int flags);
    StreamFile(RealNetwork& network, Opened opened);
};

class StreamInput final : public StreamFile, public FastAllocated<StreamInput> {
public:
    StreamInput(RealNetwork& network, int descriptor, RealStream& stream);

    /// Reads once into `to`. Returns 0, or an errno: EAGAIN if there is nothing now. Sets isAtEnd at the end of the
    /// file. Throws std::bad_alloc and platform_error.
    int read(ByteBuffer& to, bool& isAtEnd);
    void waitForNews() { watch(); }
    void forget(ByteBuffer const& buffer) { block().forget(buffer); }

private:
    void onNews(News news) noexcept override;
    bool isAwaited() const override;
    void onNetworkEnd() noexcept override;

    RealStream& stream_;
};

class StreamOutput final : public StreamFile, Turn, public FastAllocated<StreamOutput> {
public:
    StreamOutput(RealNetwork& network, int descriptor, RealStream& stream);

    void push(Bytes bytes) { queue_.push(std::move(bytes)); }
    /// Writes as many bytes as the file takes without blocking.
    void flush();
    /// Closes the file when all bytes are written.
    void end();
    /// Leaves the stream: writes for at most kLinger seconds more, and then deletes this object.
    void leave(std::size_t unsent);
    /// Deletes this object and its bytes.
    void drop() { delete this; }

private:
    ~StreamOutput() = default;

    struct Deadline : Turn {
        explicit Deadline(StreamOutput& o)
            : Turn([](Turn& self) { static_cast<Deadline&>(self).owner.giveUp(); }), owner(o) {}
        StreamOutput& owner;
    };

    void onNews(News news) noexcept override;
    bool isAwaited() const override { return isBusy(); }
    void onNetworkEnd() noexcept override;
    bool isBusy() const { return !queue_.isEmpty() || (call_ && call_->isBusy()); }
    /// Writes once. Returns 0 or an errno: EAGAIN if the file would block.
    int write();
    int writeByThread();
    void noteSent(std::size_t bytes);
    void fail(Error error);
    void giveUp();

    RealStream* stream_; // null after leave()
    SendQueue queue_;
    Deadline deadline_{*this};
    std::size_t left_ = 0; // bytes, after leave()
    bool isEnding_ = false;
};

class RealStream final : public Connection, public FastAllocated<RealStream> {
public:
    enum Direction : std::uint8_t { Reads = 1, Writes = 2 };

    /// Opens `descriptor` anew, for these directions. The descriptor stays the caller's. Throws an Error.
    RealStream(RealNetwork& network, int descriptor, int directions, std::string name);
    ~RealStream() override { close(); }

    void shutdownWrite() override;
    void close() override;
    void abort() override;
    Address localAddress() const override { return Address(); }
    Address peerAddress() const override { return Address(); }

private:
    friend StreamInput;
    friend StreamOutput;

    bool fill(std::size_t wanted) noexcept override;
    void beforeReaderParks() override;
    void send(std::span<Bytes> pieces) override;
    std::string peerText() const override { return name_; }
    void noteEnd(Error) noexcept override {} // no connection has ended
    Error errorOf(char const* call, int error) const;
    /// Discards the input. The caller then sets error_.
    void dropInput() noexcept;
    void onNetworkEnd() noexcept;

    std::string name_;
    std::unique_ptr<StreamInput> input_; // null: the stream does not read
    StreamOutput* output_ = nullptr;     // null: the stream does not write
    bool isClosed_ = false;
};

} // namespace flow::net
