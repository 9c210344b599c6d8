#pragma once
// StaticFiles: a handler that serves the files of a folder.
//
//     co_await http::serve(listener, http::StaticFiles("/srv/www"), {}, stop);
//
//     http::StaticFiles files("/srv/www", {.cacheControl = "max-age=3600"});       // below a path:
//     router.add("GET", "/static/{path...}", [files](Request request) {
//         std::string path(request.path["path"]);
//         return files.answer(std::move(request), std::move(path));
//     });
//
// It serves GET and HEAD; other methods give 405. A path with '/' at its end gives the index file of that folder; a
// folder without the '/' gives 301. No path leads out of the folder: "..", symbolic links inside of the folder, and
// files that are not regular give 404. Too many open files in the process give 503.
//
// Responses have Last-Modified and an ETag, which is strong unless the file was changed just before. The conditional
// fields, Range and If-Range are obeyed (RFC 9110). Several ranges give multipart/byteranges; too many ranges, or
// ranges that have together more bytes than the file, give the whole file.
//
// Other threads open and read the files (flow/threads/run_blocking.h), except when a file is open already and its bytes
// are in the page cache. Up to `openFiles` files stay open between requests, for `openFor`. A change of a file is seen
// at once; the replacement of a folder is seen after `openFor`. Open files of up to 32 KiB are in memory; larger ones
// are sent from the page cache. If a file becomes shorter while it is sent, its connection is reset.
//
// A StaticFiles belongs to one loop; copies share its open files. In a simulation it reads the real files.

#include "flow/base/seconds.h"
#include "net/http/message.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace flow::net::http {

struct StaticFilesOptions {
    std::string index = "index.html"; // the file for the path of a folder; "": such a path gives 404
    std::string cacheControl = {};    // the field Cache-Control of each file; "": none
    /// Further content types by the ends of names, such as {".log", "text/plain"}. The first match counts, before the
    /// usual types. A file without a match is application/octet-stream.
    std::vector<std::pair<std::string, std::string>> types = {};
    std::size_t openFiles = 256; // 0: no file stays open
    Seconds openFor = 1;
    std::size_t ranges = 16; // of one request; more give the whole file
};

class StaticFiles {
public:
    /// Throws file_not_found if `folder` is no folder, and invalid_option_value for a wrong option.
    explicit StaticFiles(std::string const& folder, StaticFilesOptions options = {});

    Future<Response> operator()(Request request) const;
    /// Answers with the file at `path`, which is already decoded and may begin with a slash.
    Future<Response> answer(Request request, std::string path) const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace flow::net::http
