#include "flow/file/lines.h"

#include "flow/base/format.h"
#include "flow/coro/coroutine.h"

#include <algorithm>

namespace flow {

bool Lines::hasLine() {
    if (end_ == std::string::npos) {
        end_ = buffer_.find('\n', searched_);
        searched_ = buffer_.size();
    }
    return end_ != std::string::npos;
}

bool Lines::isTooLong() {
    std::size_t length = (hasLine() ? end_ : buffer_.size()) - begin_;
    bool mayEndLine = end_ != std::string::npos || !isEnded_; // a last "\r" may be a part of "\r\n"
    if (mayEndLine && length != 0 && buffer_[begin_ + length - 1] == '\r')
        --length;
    return length > longest_;
}

bool Lines::isReady() {
    return hasLine() || isEnded_ || error_ || isTooLong();
}

void Lines::park(WaiterNode& waiter, Next& op) {
    FLOW_ASSERT_AT(op.caller, !waiting_.isWaitedFor(), "Lines: one next() may wait at a time");
    if (!isReady() && (!filling_.isValid() || filling_.isReady()))
        filling_ = fill();
    waiting_.park(waiter, op);
    if (isReady())
        waiting_.wakeInTurn();
}

Optional<std::string> Lines::take() {
    if (isTooLong())
        throw value_too_large().withSentence(format("a line has more than %zu bytes", longest_));
    bool isWhole = hasLine();
    if (!isWhole) {
        if (error_)
            std::rethrow_exception(error_);
        if (begin_ == buffer_.size())
            return {};
        end_ = buffer_.size();
    }
    std::string line = buffer_.substr(begin_, end_ - begin_);
    searched_ = begin_ = std::min(end_ + 1, buffer_.size());
    end_ = std::string::npos;
    if (isWhole && line.ends_with('\r'))
        line.pop_back();
    return line;
}

/// Reads until next() is ready. Runs on if its waiter leaves.
Future<Void> Lines::fill() {
    try {
        while (!isReady()) {
            Future<Bytes> reading = read_(received_);
            Bytes bytes = co_await std::move(reading);
            received_ += bytes.size();
            isEnded_ = bytes.empty();
            buffer_.erase(0, begin_);
            searched_ -= std::exchange(begin_, 0);
            buffer_ += bytes.toStringView();
        }
    } catch (...) {
        error_ = std::current_exception();
    }
    waiting_.wakeInTurn();
}

} // namespace flow
