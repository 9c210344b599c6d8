#pragma once
// BufferedWriter: collects small writes to a file in a buffer.
//
//     BufferedWriter out(file, co_await file->size());   // begins at the end of the file; by default at 0
//     co_await out.write("one line\n");
//     co_await out.flush();                              // the bytes are in the file; file->sync() makes them durable
//
// write() copies the bytes. It is ready immediately while the buffer has room, otherwise when the buffer is written.
// The destructor writes nothing: call flush() at the end. Any number of calls may wait; bytes are written in the order
// of the calls. Files that were opened with OpenMode::Append are refused.
//
// Cancel safety. Dropping the future of write() or flush() loses no bytes: the next flush() writes all bytes that are
// still in the buffer. Errors. After an error, such as disk_full, the unwritten bytes stay in the buffer, and a later
// write() or flush() writes them to the same place. A BufferedWriter must outlive the futures of its calls.

#include "flow/file/async_file.h"
#include "flow/sync/semaphore.h"

#include <source_location>
#include <string>
#include <string_view>

namespace flow {

class BufferedWriter {
public:
    static constexpr std::size_t kRoom = 64 * 1024;

    explicit BufferedWriter(Reference<AsyncFile> file, std::int64_t offset = 0, std::size_t room = kRoom,
                            std::source_location caller = std::source_location::current())
        : file_(std::move(file)), offset_(offset), room_(room) {
        FLOW_ASSERT_AT(caller, file_, "a BufferedWriter is given a null Reference");
        FLOW_ASSERT_AT(caller, offset >= 0, "a BufferedWriter is given a negative offset");
    }
    BufferedWriter(BufferedWriter const&) = delete;
    BufferedWriter& operator=(BufferedWriter const&) = delete;

    Future<Void> write(std::string_view bytes) {
        buffer_ += bytes;
        return buffer_.size() < room_ ? Future<Void>(Void()) : flush();
    }
    Future<Void> flush();
    /// Returns the offset in the file after all bytes written so far.
    std::int64_t end() const { return offset_ + static_cast<std::int64_t>(buffer_.size()); }

private:
    Reference<AsyncFile> file_;
    std::int64_t offset_; // the offset of buffer_ in the file
    std::size_t room_;
    std::string buffer_;
    Mutex turn_;
};

} // namespace flow
