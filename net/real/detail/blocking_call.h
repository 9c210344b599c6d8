#pragma once
// BlockingCall: read() or write() of a file that may block, on a thread of its own, one call at a time.
//
//     auto call = std::make_shared<BlockingCall>(std::move(file), std::move(eventfd));
//     call->begin(call, false);           // reads; later the poller reports the eventfd
//     if (call->hasEnded())
//         use(call->take());
//
// Nothing waits for the thread: the loop and the program end although a terminal gives no bytes. The thread shares the
// call, so the file stays open until the thread has ended.

#include "net/real/detail/real_socket.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace flow::net {

class BlockingCall {
public:
    static constexpr std::size_t kBytes = 256 * 1024;

    BlockingCall(OpenDescriptor file, OpenDescriptor news) : file_(std::move(file)), news_(std::move(news)) {}

    /// Reads once, at most kBytes, or writes all of `bytes`. Throws platform_error if the system starts no thread.
    static void begin(std::shared_ptr<BlockingCall> self, bool isWrite);
    bool hasEnded() const { return state_ == State::Ended; }
    /// True from begin() to take().
    bool isBusy() const { return state_ != State::None; }
    struct Result {
        std::size_t count;
        int error; // errno
    };
    /// Returns the result, once, after the call has ended.
    Result take() {
        state_ = State::None;
        return result_;
    }

    std::vector<std::uint8_t> bytes; // the bytes that were read, or to write; only the thread uses them during a call

private:
    enum class State : std::uint8_t { None, UnderWay, Ended };

    void read() noexcept;
    void write() noexcept;
    void waitFor(short event) const noexcept;

    OpenDescriptor file_, news_;
    Result result_{};
    std::atomic<State> state_ = State::None;
};

} // namespace flow::net
