#pragma once
// Site: a directory, and the HTTP responses for its files. Its functions block: call them by runBlocking().
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
    /// Reads `size` bytes; fewer if the file has become shorter. Throws flow::Error.
    std::string read(std::uint64_t offset, std::uint64_t size) const;

private:
    int descriptor_;
};

struct HttpResponse {
    std::string header;             // also has the body, unless the body is a file
    std::shared_ptr<SiteFile> file; // null: no bytes of a file are sent
    std::uint64_t offset = 0, left = 0;
    bool keepsAlive = false;
};

class Site {
public:
    /// Throws flow::Error if `directory` is no directory.
    explicit Site(std::string const& directory);
    ~Site();
    Site(Site const&) = delete;
    Site& operator=(Site const&) = delete;

    /// Answers with a file in the directory or below it; for a directory, with its index.html. Follows no symbolic
    /// links: so no path leads out of the directory.
    HttpResponse answer(HttpRequest const& request) const;

private:
    int open(std::string const& path) const;

    int directory_;
};

/// A part of a file.
struct ByteRange {
    std::uint64_t first, size;
};
/// The range in a Range field such as "bytes=0-99", "bytes=100-" or "bytes=-100". `isOutside`: the file has no byte of
/// the range. If neither bool is true, ignore the field.
struct ParsedRange {
    bool isPresent = false, isOutside = false;
    ByteRange range{};
};
ParsedRange parseRange(std::string const& field, std::uint64_t fileSize);
/// Decodes the path in the target of a request, without the query. Returns false if the target is invalid.
bool decodePath(std::string const& target, std::string& path);
