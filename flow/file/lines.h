#pragma once
// Lines: reads a file or a connection line by line.
//
//     Lines lines(file);                                 // from the beginning of the file
//     while (Optional<std::string> line = co_await lines.next())
//         use(*line);                                    // without "\n"
//
//     Lines lines(connection, 1000);                     // a line has at most 1000 bytes
//     auto first = co_await race(lines.next(), delay(5.0));
//
// A line ends with "\n" or "\r\n"; the last line may have no end. After the last line, next() gives an empty Optional.
// Lines reads from a Reference to a file, or to any object with read(int atMost). That read() returns a future or an
// operation in place that gives some bytes, and no bytes at the end.
//
// Errors. next() throws the error of the read. A line above the limit fails with value_too_large and a sentence. After
// an error, each next() throws it again. Memory: one line, and the bytes of one read (at most 16 KiB).
//
// Cancel safety. next() returns an operation in place. If it loses a race, or is cancelled, it has taken no line. Only
// one next() may wait at a time. Lines reads ahead: bytes behind the last taken line may be gone from the connection. A
// Lines must outlive its operations, and belongs to one thread.

#include "flow/base/assert.h"
#include "flow/base/optional.h"
#include "flow/file/async_file.h"
#include "flow/wait/source.h"

#include <exception>
#include <functional>
#include <source_location>
#include <string>

namespace flow {

class Lines {
public:
    static constexpr std::size_t kLongest = 64 * 1024;

    struct Next {
        using Result = Optional<std::string>;
        Lines* lines;
        std::source_location caller;

        bool isReady() const { return lines->isReady() && lines->waiting_.isNext(*this); }
        void park(WaiterNode& waiter) { lines->park(waiter, *this); }
        Optional<std::string> take() const { return lines->take(); }
    };

    explicit Lines(Reference<AsyncFile> file, std::size_t longest = kLongest,
                   std::source_location caller = std::source_location::current())
        : read_([file](std::int64_t offset) { return file->read(offset, kPiece); }), longest_(longest) {
        FLOW_ASSERT_AT(caller, file, "a Lines is given a null Reference");
    }
    template <class Reader>
    explicit Lines(Reference<Reader> reader, std::size_t longest = kLongest,
                   std::source_location caller = std::source_location::current())
        : read_([reader](std::int64_t) { return futureOf(reader->read(kPiece)); }), longest_(longest) {
        FLOW_ASSERT_AT(caller, reader, "a Lines is given a null Reference");
    }
    Lines(Lines const&) = delete;
    Lines& operator=(Lines const&) = delete;

    Next next(std::source_location caller = std::source_location::current()) { return {this, caller}; }

private:
    using Bytes = Standalone<StringRef>;
    static constexpr int kPiece = 16 * 1024;

    template <class Op>
    static Future<Bytes> futureOf(Op op) {
        if constexpr (InPlace<Op>)
            return keep(op);
        else
            return op;
    }
    /// Searches the buffer for the end of the first line. Returns true if the end is known.
    bool hasLine();
    bool isTooLong();
    bool isReady();
    void park(WaiterNode& waiter, Next& op);
    Optional<std::string> take();
    Future<Void> fill();

    std::function<Future<Bytes>(std::int64_t)> read_; // reads at this offset
    std::size_t longest_;
    std::string buffer_;
    std::size_t begin_ = 0;               // the first line begins here
    std::size_t searched_ = 0;            // the first line does not end before this place
    std::size_t end_ = std::string::npos; // the end of the first line, if known
    std::int64_t received_ = 0;
    bool isEnded_ = false;
    std::exception_ptr error_; // the error of the read
    Source<Next> waiting_;
    Future<Void> filling_; // the last member, so that it ends before the members that it uses
};

} // namespace flow
