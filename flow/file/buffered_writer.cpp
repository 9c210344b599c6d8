#include "flow/file/buffered_writer.h"

#include "flow/coro/coroutine.h"

namespace flow {

// Bytes leave the buffer only after they are written. If a write is cancelled and repeated, both writes put the same
// bytes at the same place, so their order does not matter.
Future<Void> BufferedWriter::flush() {
    Mutex::Lock turn = co_await turn_.lock();
    if (buffer_.empty())
        co_return;
    std::string bytes = buffer_;
    co_await file_->write(offset_, bytes);
    offset_ += static_cast<std::int64_t>(bytes.size());
    buffer_.erase(0, bytes.size());
}

} // namespace flow
