// StaticFiles: answer() takes the file from the cache, or State::open() opens it on another thread. respond() chooses
// the status and makes the body. A cached file needs no thread and no coroutine.

#include "net/http/static_files.h"

#include "flow/base/format.h"
#include "flow/base/random.h"
#include "flow/combine/errors.h"
#include "flow/coro/coroutine.h"
#include "flow/threads/run_blocking.h"
#include "net/http/detail/conditions.h"
#include "net/http/detail/content_types.h"
#include "net/http/detail/dates.h"
#include "net/http/detail/file_cache.h"
#include "net/http/detail/ranges.h"

#include <optional>

namespace flow::net::http {

using namespace detail;

struct StaticFiles::State {
    State(std::string const& path, StaticFilesOptions given)
        : folder(std::make_shared<FileFolder const>(path)), options(std::move(given)),
          cache(options.openFiles, options.openFor) {}

    static Future<Response> open(std::shared_ptr<State> state, Request request, std::string path);

    std::shared_ptr<FileFolder const> folder; // shared with calls on other threads
    StaticFilesOptions options;
    FileCache cache;
};

namespace {

Response refusal(int status, Headers headers = {}) {
    headers.add("Content-Type", "text/plain; charset=utf-8");
    return {.status = status, .headers = std::move(headers), .body = std::string(reasonOf(status)) + "\n"};
}

Headers headersOf(OpenFile const& file, std::string const& path, StaticFilesOptions const& options) {
    std::string_view type = contentTypeOf(path);
    for (auto const& [end, given] : options.types) {
        if (path.ends_with(end)) {
            type = given;
            break;
        }
    }
    Headers headers = {{"Content-Type", type},
                       {"Last-Modified", httpDate(file.modified())},
                       {"ETag", file.tag()},
                       {"Accept-Ranges", "bytes"}};
    if (!options.cacheControl.empty())
        headers.add("Cache-Control", options.cacheControl);
    return headers;
}

std::string contentRange(ByteRange const& range, std::uint64_t size) {
    return "bytes " + std::to_string(range.first) + "-" + std::to_string(range.first + range.size - 1) + "/" +
           std::to_string(size);
}

/// The parts of a body with several ranges: each has a text, and then a range of the file, which may be empty.
struct Parts : std::enable_shared_from_this<Parts> {
    struct Part {
        std::string text;
        ByteRange range;
    };

    std::shared_ptr<OpenFile> file;
    std::vector<Part> parts;
    std::size_t at = 0;

    Future<Bytes> next() {
        while (at != parts.size()) {
            Part& part = parts[at];
            if (!part.text.empty())
                return Bytes(StringRef(std::exchange(part.text, {})));
            if (part.range.size != 0)
                return readFrom(shared_from_this(), part.range);
            ++at;
        }
        return Bytes();
    }
    static Future<Bytes> readFrom(std::shared_ptr<Parts> parts, ByteRange& range);
};

/// `parts` keeps the parts alive: the body may be destroyed before the read ends.
Future<Bytes> Parts::readFrom(std::shared_ptr<Parts> parts, ByteRange& range) {
    Bytes bytes = co_await parts->file->read(range.first, range.size);
    range.first += static_cast<std::uint64_t>(bytes.size());
    range.size -= static_cast<std::uint64_t>(bytes.size());
    co_return bytes;
}

void addParts(Response& response, CachedFile const& found, std::vector<ByteRange> const& ranges) {
    std::string boundary = deterministicRandom()->randomUniqueID().toString();
    std::string type(found.headers.get("Content-Type"));
    auto parts = std::make_shared<Parts>();
    parts->file = found.file;
    std::uint64_t size = 0;
    auto add = [&](std::string text, ByteRange range) {
        size += text.size() + range.size;
        parts->parts.push_back({std::move(text), range});
    };
    std::string line = "--" + boundary;
    for (ByteRange const& range : ranges) {
        add(line + "\r\nContent-Type: " + type + "\r\nContent-Range: " + contentRange(range, found.file->size()) +
                "\r\n\r\n",
            range);
        line = "\r\n--" + boundary;
    }
    add(line + "--\r\n", {0, 0});
    response.headers.set("Content-Type", "multipart/byteranges; boundary=" + boundary);
    response.body = Body::stream([parts] { return parts->next(); }, size);
}

Response respond(Request const& request, CachedFile const& found, StaticFilesOptions const& options) {
    OpenFile const& file = *found.file;
    Validators validators{file.tag(), file.modified()};
    Response response;
    response.headers = found.headers;
    response.status = failedCondition(request.headers, validators);
    if (response.status == 412)
        return refusal(412);
    if (response.status == 304) {
        response.headers.remove("Content-Type");
        return response;
    }
    response.status = 200;
    auto field = request.headers.find("Range");
    std::optional<std::vector<ByteRange>> ranges;
    if (field && request.method == "GET" && rangesAreFor(request.headers, validators))
        ranges = parseRanges(*field, file.size(), options.ranges);
    if (!ranges) {
        response.body = Body::file(found.file, 0, file.size());
        return response;
    }
    if (ranges->empty())
        return refusal(416, {{"Content-Range", "bytes */" + std::to_string(file.size())}});
    response.status = 206;
    if (ranges->size() > 1) {
        addParts(response, found, *ranges);
        return response;
    }
    ByteRange range = ranges->front();
    response.headers.add("Content-Range", contentRange(range, file.size()));
    response.body = Body::file(found.file, range.first, range.size);
    return response;
}

/// Adds the '/' to the path of a folder. The Location is relative, since "//name" would be another server.
Response redirectToFolder(Request const& request) {
    std::string_view path = pathOfTarget(request.target);
    std::string place = "./" + std::string(path.substr(path.rfind('/') + 1)) + "/";
    if (std::string_view query = queryOfTarget(request.target); !query.empty())
        place += "?" + std::string(query);
    return refusal(301, {{"Location", place}});
}

Response refusalFor(Error const& error) {
    if (error.code() == error_code_file_not_found)
        return refusal(404);
    if (error.code() == error_code_platform_error) // too many open files: the file may exist
        return refusal(503, {{"Retry-After", "1"}});
    throw error;
}

} // namespace

Future<Response> StaticFiles::State::open(std::shared_ptr<State> state, Request request, std::string path) {
    auto open = [folder = state->folder, path] { return folder->open(path); };
    ErrorOr<std::shared_ptr<OpenFile>> opened = co_await tryGet(runBlocking(std::move(open)));
    if (opened.isError())
        co_return refusalFor(opened.getError());
    CachedFile found;
    found.file = std::move(opened).get();
    if (!found.file)
        co_return redirectToFolder(request);
    found.headers = headersOf(*found.file, path, state->options);
    state->cache.add(path, found);
    co_return respond(request, found, state->options);
}

StaticFiles::StaticFiles(std::string const& folder, StaticFilesOptions options)
    : state_(std::make_shared<State>(folder, std::move(options))) {
    double seconds = state_->options.openFor;
    if (!(seconds > 0 && seconds <= 1e9))
        throw wrongOption("StaticFilesOptions", "openFor", format("%g", seconds),
                          "it must be more than 0, and at most 1e9");
}

Future<Response> StaticFiles::operator()(Request request) const {
    std::optional<std::string> path = decodePercent(pathOfTarget(request.target));
    if (!path)
        return refusal(400);
    return answer(std::move(request), std::move(*path));
}

Future<Response> StaticFiles::answer(Request request, std::string path) const {
    if (request.method != "GET" && request.method != "HEAD")
        return refusal(405, {{"Allow", "GET, HEAD"}});
    if (path.find('\0') != std::string::npos)
        return refusal(400);
    if (path.empty() || path.ends_with('/')) {
        if (state_->options.index.empty())
            return refusal(404);
        path += state_->options.index;
    }
    if (CachedFile const* found = state_->cache.find(path))
        return respond(request, *found, state_->options);
    return State::open(state_, std::move(request), std::move(path));
}

} // namespace flow::net::http
