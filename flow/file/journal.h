#pragma once
// Journal: records on a disk that may lose, tear or damage written bytes. Each record is written to one file, then to a
// second one. A valid copy replaces a damaged one. A record without a valid copy was never acknowledged.
//
// After an error of the disk, a read may give data that is not on the disk: neither the bytes of a failed sync nor the
// names of a directory with a failed sync are written again. So open() does not rely on the data that it reads. It
// writes both files anew: a new file has a temporary name until it replaces the old file. No name is used twice, and
// open() removes the files that still have temporary names.
//
//     Reference<Journal> journal = co_await Journal::open("/log");
//     for (std::string const& record : journal->records()) replay(record);
//     co_await journal->append("record");                // when this is ready, the record survives
//     co_await all(journal->append("b"), journal->append("c"));    // those that wait for a write share the next one
//     if (journal->length() > 100)
//         co_await journal->snapshot("all of it");       // instead of the records so far: their place is free again
//
// A program that trims its journal begins with the state of the last snapshot, and applies the records behind it:
//
//     if (journal->state()) restore(*journal->state());
//     for (std::string const& record : journal->records()) replay(record);
//
// Order. Calls take effect in the order in which they are made. Records that are appended while earlier ones are being
// written are written together, when those are on the disk.
//
// Cancel safety. The journal owns the writing: dropping the future of a call drops the answer only, and the next calls
// go on behind it. The destructor ends a write that is under way; open() then finds some of its records, in order, and
// a snapshot or a replace() as a whole or not at all. The journal can be opened again immediately: operations of
// the disk that are still under way then (flow/file/async_file.h) change nothing of the new Journal.
//
// Errors. After an error of the disk, any of the changes that were under way may have been made, and every later call
// fails with that error: open the journal anew. So after file_too_large too: a journal has at most 2 GiB, with its
// snapshot. A Journal belongs to one thread, and to one process: see openLocked() (flow/file/file_tools.h). Of
// several Journals with the same path, only the one that was opened last may be used.

#include "flow/file/async_file.h"
#include "flow/memory/reference.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace flow {

class Journal : public ReferenceCounted<Journal> {
public:
    /// Makes the files if they do not exist.
    static Future<Reference<Journal>> open(std::string path);

    /// Returns the state of the last snapshot that the journal had when it was opened; nothing if it had none.
    std::optional<std::string> const& state() const { return state_; }
    /// Returns the records behind the snapshot that the journal had when it was opened.
    std::vector<std::string> const& records() const { return records_; }
    /// Returns the number of records on the disk, without the snapshot.
    std::size_t length() const { return length_ - hasSnapshot_; }
    Future<Void> append(std::string record);
    /// Puts `state` in the place of all records so far, and of the snapshot before. `state` must say all that they say,
    /// also those that are still being written. At every moment, the disk has the old snapshot with its records, or the
    /// new one. Records that are appended meanwhile are written behind it.
    Future<Void> snapshot(std::string state);
    /// Puts `records` in the place of all records so far, and of the snapshot, in the same way.
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
    static Future<Void> removeTemporaries(std::string path);
    static Future<Void> recover(Reference<Journal> self);
    static Future<Void> write(Journal* self, Future<Void> before, Batch batch);
    static Future<Void> rewrite(Journal* self, Future<Void> before, std::vector<std::string> records, bool isSnapshot);
    Future<Void> replaceAll(std::vector<std::string> records, bool isSnapshot);

    std::string path_;
    Reference<AsyncFile> files_[2];
    std::int64_t end_ = 0;
    std::uint64_t generation_ = 0; // the number of replacements; the two files may have different generations
    std::uint64_t least_ = 0;      // the number of records at the beginning of this generation
    bool hasSnapshot_ = false;     // the first record of this generation is one
    std::size_t length_ = 0;       // with the snapshot
    std::optional<std::string> state_;
    std::vector<std::string> records_;
    Batch gathering_;   // records of a write that has not begun; null if there is no such write
    Future<Void> last_; // the last write; the last member, so that it ends before what it uses
};

} // namespace flow
