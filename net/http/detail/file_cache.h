#pragma once
// FileCache: the files that a server has open, by their paths.
//
// A file stays open for `seconds`, so a change in its folders is seen after that time at the latest. A change of the
// file itself is seen at once: find() compares what the system says of the open file.

#include "net/http/headers.h"
#include "net/http/open_file.h"

#include <map>
#include <memory>
#include <string>

namespace flow::net::http::detail {

struct CachedFile {
    std::shared_ptr<OpenFile> file;
    Headers headers;   // of a response with this file
    double opened = 0; // the loop's time
    std::uint64_t used = 0;
};

class FileCache {
public:
    /// At most `most` files, which may be 0.
    FileCache(std::size_t most, double seconds) : most_(most), seconds_(seconds) {}

    /// Returns null if the path is not there, or no longer what it was. The pointer is valid until the next call.
    CachedFile const* find(std::string const& path);
    void add(std::string const& path, CachedFile file);

private:
    /// Closes the files that have been open for `seconds_` or longer.
    static Future<Void> closeOld(FileCache* cache);

    std::size_t const most_;
    double const seconds_;
    std::map<std::string, CachedFile> files_;
    std::uint64_t uses_ = 0;
    Future<Void> closing_ = Void(); // ready if there are no files
};

} // namespace flow::net::http::detail
