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
//     if (journal->length() > 100)
//         co_await journal->replace({"all of it"});      // instead of the records so far

#include "flow/file/async_file.h"
#include "flow/memory/reference.h"

#include <string>
#include <vector>

namespace flow {

class Journal : public ReferenceCounted<Journal> {
public:
    /// Makes the files if they do not exist.
    static Future<Reference<Journal>> open(std::string path);

    /// Returns the records that the journal had when it was opened.
    std::vector<std::string> const& records() const { return records_; }
    /// Returns the number of records.
    std::size_t length() const { return length_; }
    /// Call append() and replace() one at a time. If a call fails, its change may have been made or not: the journal
    /// must be opened anew.
    Future<Void> append(std::string record);
    Future<Void> replace(std::vector<std::string> records);

private:
    struct Copy {
        std::string path;
        Reference<AsyncFile> file; // null: the file did not exist
        std::string content;
    };

    static Future<Copy> read(std::string path);
    static Future<Void> store(Reference<AsyncFile> file, std::int64_t at, std::string bytes);
    static Future<Reference<AsyncFile>> put(std::string path, std::string content);
    static Future<Void> recover(Reference<Journal> self);

    std::string path_;
    Reference<AsyncFile> files_[2];
    std::int64_t end_ = 0;
    std::uint64_t generation_ = 0; // the number of calls of replace(); the two files may have different generations
    std::uint64_t least_ = 0;      // the number of records at the beginning of this generation
    std::size_t length_ = 0;
    std::vector<std::string> records_;
};

} // namespace flow
