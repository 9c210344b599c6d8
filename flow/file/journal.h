#pragma once
// Journal: records on a disk that may lose, tear or damage written bytes. Each record is written to one file, then to a
// second one. A valid copy replaces a damaged one. A record without a valid copy was never acknowledged.
//
// After an error of the disk, a read may give data that is not on the disk: neither the bytes of a failed sync nor the
// names of a directory with a failed sync are written again. So open() does not rely on the data that it reads. It
// writes both files anew: a new file has a temporary name until it replaces the old file.
//
//     Reference<Journal> journal = co_await Journal::open("/log");
//     for (std::string const& record : journal->records()) replay(record);
//     co_await journal->append("record");                // when this is ready, the record survives
//     co_await all(journal->append("b"), journal->append("c"));    // those that wait for a write share the next one
//     if (journal->length() > 100)
//         co_await journal->replace({"all of it"});      // instead of the records so far
//
// Order. Calls take effect in the order in which they are made. Records that are appended while earlier ones are being
// written are written together, when those are on the disk.
//
// Cancel safety. The journal owns the writing: dropping the future of a call drops the answer only, and the next calls
// go on behind it. The destructor ends a write that is under way; open() then finds some of its records, in order. But
// an operation of the disk that was under way may still happen later (flow/file/async_file.h). So before a program
// opens the same journal again, it awaits its last append() or replace(): otherwise the journal may lose records that
// are appended after that.
//
// Errors. After an error of the disk, any of the changes that were under way may have been made, and every later call
// fails with that error: open the journal anew. So after file_too_large too: a journal has at most 2 GiB.
// A Journal belongs to one thread, and to one process: see openLocked() (flow/file/file_tools.h).

#include "flow/file/async_file.h"
#include "flow/memory/reference.h"

#include <memory>
#include <string>
#include <vector>

namespace flow {

class Journal : public ReferenceCounted<Journal> {
public:
    /// Makes the files if they do not exist.
    static Future<Reference<Journal>> open(std::string path);

    /// Returns the records that the journal had when it was opened.
    std::vector<std::string> const& records() const { return records_; }
    /// Returns the number of records on the disk.
    std::size_t length() const { return length_; }
    Future<Void> append(std::string record);
    /// Puts `records` in the place of all records so far: at every moment, the disk has the old ones or the new ones.
    Future<Void> replace(std::vector<std::string> records);

private:
    using Batch = std::shared_ptr<std::vector<std::string>>;
    struct Copy {
        std::string path;
        Reference<AsyncFile> file; // null: the file did not exist
        std::string content;
    };

    static Future<Copy> read(std::string path);
    static Future<Void> store(Reference<AsyncFile> file, std::int64_t at, std::string bytes);
    static Future<Reference<AsyncFile>> put(std::string path, std::string content);
    static Future<Void> recover(Reference<Journal> self);
    static Future<Void> write(Journal* self, Future<Void> before, Batch batch);
    static Future<Void> rewrite(Journal* self, Future<Void> before, std::vector<std::string> records);

    std::string path_;
    Reference<AsyncFile> files_[2];
    std::int64_t end_ = 0;
    std::uint64_t generation_ = 0; // the number of calls of replace(); the two files may have different generations
    std::uint64_t least_ = 0;      // the number of records at the beginning of this generation
    std::size_t length_ = 0;
    std::vector<std::string> records_;
    Batch gathering_;   // records of a write that has not begun; null if there is no such write
    Future<Void> last_; // the last write; the last member, so that it ends before what it uses
};

} // namespace flow
