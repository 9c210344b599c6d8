#pragma once
// Journal: records on a disk that may lose, tear or damage written bytes. Each record is written to one file, then to a
// second one. A valid copy replaces a damaged one. A record without a valid copy was never acknowledged.
//
// After an error of the disk, a read may give data that is not on the disk: the system does not write the data of a
// failed sync again. So open() does not trust the data, but writes both files anew: each new file has a temporary name
// until it replaces the old file. No name is used twice. open() removes files with temporary names.
//
//     Reference<Journal> journal = co_await Journal::open("/log");
//     for (std::string const& record : journal->records()) replay(record);
//     co_await journal->append("record");                // when this is ready, the record survives
//     co_await all(journal->append("b"), journal->append("c"));    // waiting records share the next write
//     if (journal->length() > 100)
//         co_await journal->snapshot("all of it");       // replaces all records so far, and frees their space
//
// A program that uses snapshots starts from the state of the last one, and applies the records behind it:
//
//     if (journal->lastSnapshot()) restore(*journal->lastSnapshot());
//     for (std::string const& record : journal->records()) replay(record);
//
// Order. Calls take effect in the order in which they are made. Records appended during a write form the next one.
//
// Cancel safety. The journal owns the writing: dropping the future of a call drops only the answer, and later calls
// follow the call. The destructor ends a write that is under way; open() then finds some of its records, in order, and
// a snapshot or a replace() as a whole or not at all. The journal can be opened again immediately: operations of the
// disk that are still under way (flow/file/async_file.h) do not change the new Journal.
//
// Errors. After an error of the disk, any of the changes under way may have been made, and every later call fails with
// that error: open the journal anew. This also holds for file_too_large: a journal has at most 2 GiB, with its
// snapshot. A Journal belongs to one thread and one process: see openLocked() (flow/file/file_tools.h). Of several
// Journals with the same path, only the one that was opened last may be used.

#include "flow/file/async_file.h"
#include "flow/memory/reference.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace flow {

class Journal : public ReferenceCounted<Journal> {
public:
    /// Opens the journal at `path`. Makes the files if they do not exist.
    static Future<Reference<Journal>> open(std::string path);

    /// Returns the state of the last snapshot at the time of open(); nothing if there was none.
    std::optional<std::string> const& lastSnapshot() const { return state_; }
    /// Returns the records behind that snapshot at the time of open().
    std::vector<std::string> const& records() const { return records_; }
    /// Returns the number of records on the disk, without the snapshot.
    std::size_t length() const { return length_ - hasSnapshot_; }
    Future<Void> append(std::string record);
    /// Replaces all records so far, and the last snapshot, by `state`, which must cover all of them, even those that
    /// are still being written. At every moment the disk has the old snapshot with its records, or the new one. Records
    /// that are appended meanwhile follow the new snapshot.
    Future<Void> snapshot(std::string state);
    /// Replaces all records so far, and the last snapshot, by `records`, with the same guarantee.
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
    std::uint64_t generation_ = 0; // the number of replacements; the two files may have different ones
    std::uint64_t least_ = 0;      // the number of records with which this generation began
    bool hasSnapshot_ = false;     // the first record of this generation is a snapshot
    std::size_t length_ = 0;       // the number of records, with the snapshot
    std::optional<std::string> state_;
    std::vector<std::string> records_;
    Batch gathering_;   // the records of a write that has not begun; null without one
    Future<Void> last_; // the last write; the last member, so that it ends before the members that it uses
};

} // namespace flow
