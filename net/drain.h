#pragma once
// Drain: the operation that a writer awaits. It is ready when the bytes are sent, or when there is room for more.
//
//     co_await connection->write(bytes);       // until there is room for more
//     co_await connection->flushed();          // until the kernel has all bytes
//
// write() takes the bytes before it returns. The bytes are sent even if the Drain is dropped or loses a race.

#include "flow/base/format.h"
#include "flow/core/void.h"
#include "flow/wait/source.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace flow::net {

class Drainable;

/// The operation of a writer. The object to which `what` points must outlive the operation.
struct Drain {
    using Result = Void;
    Drainable* what;
    std::uint64_t mark; // ready when this many bytes have been sent since the first write
    Error error;        // the error of the call that made this Drain

    bool isReady() const;
    void park(WaiterNode& waiter);
    Void take() const;
    void describe(Description& out) const;
    operator Future<Void>() const { return keep(*this); }
};

/// The base of classes with a queue of bytes to send.
class Drainable {
public:
    std::size_t queuedBytes() const { return static_cast<std::size_t>(written_ - gone_); }
    /// Returns an operation that is ready when at most `bytes` of the bytes queued now are left.
    Drain drainedTo(std::size_t bytes) { return {this, queuedBytes() > bytes ? written_ - bytes : 0, Error()}; }
    /// Sets the water marks. A writer waits if more than `high` bytes are queued, until at most `low` bytes are left.
    void setWaterMarks(std::size_t low, std::size_t high) {
        FLOW_ASSERT(low <= high, "the low water mark is above the high one");
        low_ = low;
        high_ = high;
    }

protected:
    Drainable(std::size_t low, std::size_t high) : low_(low), high_(high) {}
    ~Drainable() = default;

    /// Returns an operation that is ready when there is room for more bytes.
    Drain room() { return queuedBytes() > high_ ? drainedTo(low_) : Drain{this, 0, Error()}; }
    /// Returns an operation that is ready when all bytes written so far are sent.
    Drain empty() { return {this, written_, Error()}; }
    Drain failed(Error error) { return {this, 0, error}; }
    /// Returns an error that leaves this object, with "CALL PEER: " before its text, so that it says which connection
    /// has failed. Leaves alone end_of_stream, operation_obsolete, client_invalid_operation, and an error that has the
    /// peer in its text.
    [[gnu::cold]] Error named(std::string_view call, Error error) const noexcept;
    std::size_t lowWaterMark() const { return low_; }
    void noteWritten(std::size_t bytes) { written_ += bytes; }
    void noteGone(std::size_t bytes) { gone_ += bytes; }
    /// Returns a text for reports, such as "10.0.0.1:80"; "" if there is no single receiver.
    virtual std::string peerText() const { return {}; }
    /// Makes waiting operations check whether they are ready.
    void wakeDrains() { drains_.wakeForNews(TaskPriority::WriteSocket); }

    Error error_; // the error of all operations, if it is set
    Source<Drain> drains_;

private:
    friend struct Drain;
    std::uint64_t written_ = 0;
    std::uint64_t gone_ = 0;
    std::size_t low_, high_;
};

inline bool Drain::isReady() const {
    return error.isValid() || what->error_.isValid() || what->gone_ >= mark;
}
inline void Drain::park(WaiterNode& waiter) {
    what->drains_.park(waiter, *this);
}
inline void Drain::describe(Description& out) const {
    std::uint64_t left = mark > what->gone_ ? mark - what->gone_ : 0;
    std::string peer = what->peerText();
    out.text =
        format("%llu bytes to be sent%s", static_cast<unsigned long long>(left), peer.empty() ? "" : " to ") + peer;
}
inline Void Drain::take() const {
    if (error.isValid() || what->error_.isValid()) [[unlikely]]
        throw what->named("write to", error.isValid() ? error : what->error_);
    return Void();
}

} // namespace flow::net
