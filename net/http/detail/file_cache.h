#pragma once
// FileCache: the open files of a server, by path.
//
// A file stays open for `seconds`, so a change of its folders is seen within this time. A change of the file itself is
// seen at once: find() calls OpenFile::isCurrent().

#include "net/http/headers.h"
#include "net/http/open_file.h"

#include <map>
#include <memory>
#include <string>

namespace flow::net::http::detail {

struct CachedFile {
    std::shared_ptr<OpenFile> file;
    Headers headers; // of each response with this file
    double opened = 0;
    std::uint64_t used = 0;
};

class FileCache {
public:
    /// `most` is the largest number of files; 0: add() does nothing.
    FileCache(std::size_t most, double seconds) : most_(most), seconds_(seconds) {}

    /// Returns the file; null if the cache has none for `path`, or if it has changed. Valid until the next call.
    CachedFile const* find(std::string const& path);
    void add(std::string const& path, CachedFile file);

private:
    static Future<Void> closeOld(FileCache* cache);

    std::size_t const most_;
    double const seconds_;
    std::map<std::string, CachedFile> files_;
    std::uint64_t uses_ = 0;
    Future<Void> closing_ = Void(); // runs while there are files
};

} // namespace flow::net::http::detail
