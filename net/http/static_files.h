#pragma once
// StaticFiles: a handler that serves the files of a folder.
//
//     co_await http::serve(listener, http::StaticFiles("/srv/www"), {}, stop);
//
//     http::StaticFiles files("/srv/www", {.cacheControl = "max-age=3600"});       // at a part of the paths:
//     router.add("GET", "/static/{path...}", [files](Request request) {
//         std::string path(request.path["path"]);
//         return files.answer(std::move(request), std::move(path));
//     });
//
// It answers GET and HEAD, other methods with 405. A path that ends with '/' gives the index file of that folder; the
// path of a folder without the '/' gives 301. No path leads out of the folder: symbolic links inside of it, "..", and
// what is no regular file give 404; so a link to a folder does not work, also one that stays inside. A file that
// cannot be opened since the process has too many open gives 503.
//
// Each file has a strong ETag and Last-Modified. If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since and
// If-Range are obeyed (RFC 9110), and ranges: one gives 206, several give 206 with multipart/byteranges. Ranges that
// overlap so far that they have more bytes than the file, or are too many, give the whole file.
//
// Files are opened and read on other threads (flow/threads/run_blocking.h), unless a file is open already and its bytes
// are in the memory of the system. So many files as the options say stay open, for a second, also between requests; a
// change of a file is seen at once, the replacement of a folder after that time. Open files of up to 32 KiB are in
// memory; larger ones are sent from the memory of the system. If a file becomes shorter while it is sent, its
// connection is reset.
//
// A StaticFiles can be copied: copies share what they have open. It belongs to the loop that calls it. In a simulation
// it reads the machine's files, in steps of their own.

#include "flow/base/seconds.h"
#include "net/http/message.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace flow::net::http {

struct StaticFilesOptions {
    std::string index = "index.html"; // the file for the path of a folder; "": none, such a path gives 404
    std::string cacheControl = {};    // the field Cache-Control of each file; "": none
    /// The content types of further ends of names, such as {".log", "text/plain"}. The first that fits is taken, before
    /// the usual ones; all other files are application/octet-stream.
    std::vector<std::pair<std::string, std::string>> types = {};
    std::size_t openFiles = 256; // that stay open; 0: none
    Seconds openFor = 1;         // how long a file stays open
    std::size_t ranges = 16;     // of one request; more give the whole file
};

class StaticFiles {
public:
    /// Throws file_not_found, with a sentence, if `folder` is no folder, and invalid_option_value.
    explicit StaticFiles(std::string const& folder, StaticFilesOptions options = {});

    /// Answers with the file at the path of the request.
    Future<Response> operator()(Request request) const;
    /// Answers with the file at `path`, which is decoded; a slash at its begin changes nothing.
    Future<Response> answer(Request request, std::string path) const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace flow::net::http
