#pragma once
// BufferedWriter: gathers small writes to a file, and writes them together.
//
//     BufferedWriter out(file, co_await file->size());   // from the end of the file on; by default from the beginning
//     co_await out.write("one line\n");
//     co_await out.flush();                              // the bytes are in the file; file->sync() makes them durable
//
// write() copies the bytes. It is ready at once while there is room in the buffer, and otherwise when the buffer is
// written. The destructor writes nothing: call flush() at the end. Any number of calls may wait; the bytes are written
// in the order of the calls. A file that was opened with OpenMode::Append refuses it.
//
// Cancel safety. Dropping the future of write() or flush() loses no bytes: a later flush() writes all bytes again
// for which no write has succeeded. Errors. After an error, for example disk_full, all bytes that are not written stay
// in the buffer, and a later write() or flush() writes them to the same place. A BufferedWriter must outlive the
// futures of its calls.

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
    /// The offset in the file behind all bytes so far.
    std::int64_t end() const { return offset_ + static_cast<std::int64_t>(buffer_.size()); }

private:
    Reference<AsyncFile> file_;
    std::int64_t offset_; // of buffer_ in the file
    std::size_t room_;
    std::string buffer_;
    Mutex turn_;
};

} // namespace flow
