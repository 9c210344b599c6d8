#pragma once
// Journal: records on a disk that may lose, tear or damage what is written to it. Each stands in two files, one after
// the other, so that one damaged copy is made good from the other one; what is valid in neither was never acknowledged.
//
//     Reference<Journal> journal = co_await Journal::open("/log");
//     for (std::string const& record : journal->records()) replay(record);
//     co_await journal->append("record");                // when this is ready, the record survives

#include "flow/file/async_file.h"
#include "flow/memory/reference.h"

#include <string>
#include <vector>

namespace kv {
using namespace flow;

class Journal : public ReferenceCounted<Journal> {
public:
    /// Makes the files if they are not there.
    static Future<Reference<Journal>> open(std::string path);

    /// Those that were there when it was opened.
    std::vector<std::string> const& records() const { return records_; }
    /// One at a time. If it fails, whether the record survives is not known, and the journal must be opened anew.
    Future<Void> append(std::string record);

private:
    struct Copy {
        Reference<AsyncFile> file;
        std::string content;
    };

    static Future<Void> make(std::string path);
    static Future<Copy> read(std::string path);
    static Future<Void> recover(Reference<Journal> self, std::string path);

    Reference<AsyncFile> files_[2];
    std::int64_t end_ = 0;
    std::vector<std::string> records_;
};

} // namespace kv
