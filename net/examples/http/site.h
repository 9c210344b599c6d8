#pragma once
// Site: a directory and the HTTP responses for its files. These functions block: see runBlocking().
//
//     Site site("/srv/www");
//     HttpResponse response = site.answer(request);
//     send(response.header);
//     send(response.file->read(response.offset, 65536)) ...      // response.left bytes

#include "net/examples/http/request.h"

#include <cstdint>

/// An open file.
class SiteFile {
public:
    explicit SiteFile(int descriptor) : descriptor_(descriptor) {}
    SiteFile(SiteFile const&) = delete;
    SiteFile& operator=(SiteFile const&) = delete;
    ~SiteFile();

    int descriptor() const { return descriptor_; }
    /// Reads; returns fewer bytes if the file has become shorter. Throws flow::Error.
    std::string read(std::uint64_t offset, std::uint64_t size) const;

private:
    int descriptor_;
};

struct HttpResponse {
    std::string header;             // with the body, unless that is the file
    std::shared_ptr<SiteFile> file; // null: nothing of it is sent
    std::uint64_t offset = 0, left = 0;
    bool keepsAlive = false;
};

class Site {
public:
    /// Throws flow::Error if it is no directory.
    explicit Site(std::string const& directory);
    ~Site();
    Site(Site const&) = delete;
    Site& operator=(Site const&) = delete;

    /// Serves files in the directory and below it, and index.html for a directory. It follows no symbolic links, so
    /// that no path leaves the directory.
    HttpResponse answer(HttpRequest const& request) const;

private:
    int open(std::string const& path) const;

    int directory_;
};

/// A part of a file.
struct ByteRange {
    std::uint64_t first, size;
};
/// The range in a Range field, as "bytes=0-99", "bytes=100-" or "bytes=-100". `isOutside`: the file has none of it.
/// Neither is set: ignore the field.
struct ParsedRange {
    bool isPresent = false, isOutside = false;
    ByteRange range{};
};
ParsedRange parseRange(std::string const& field, std::uint64_t fileSize);
/// Decodes a path of a request, without its query; false if it is invalid.
bool decodePath(std::string const& target, std::string& path);
