// Site: answers HTTP requests with files. answer() decodes the path, opens the file step by step from the directory,
// without links, and makes the header: 200 for a whole file, 206 for a part of it (Range), otherwise an error. answer()
// does not read the file: the server reads and sends the file in pieces, so a large file takes little memory. All
// functions here block, and may run on any thread.

#include "net/examples/http/site.h"

#include "flow/base/error.h"
#include "flow/base/parse_number.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

struct Status {
    int number;
    char const* words;
};
constexpr std::array<Status, 12> kStatuses = {{{200, "OK"},
                                               {206, "Partial Content"},
                                               {400, "Bad Request"},
                                               {404, "Not Found"},
                                               {405, "Method Not Allowed"},
                                               {408, "Request Timeout"},
                                               {413, "Content Too Large"},
                                               {416, "Range Not Satisfiable"},
                                               {431, "Request Header Fields Too Large"},
                                               {500, "Internal Server Error"},
                                               {503, "Service Unavailable"},
                                               {505, "HTTP Version Not Supported"}}};

std::string begin(int number) {
    auto place = std::find_if(kStatuses.begin(), kStatuses.end(), [&](Status const& s) { return s.number == number; });
    return "HTTP/1.1 " + std::to_string(number) + " " + place->words + "\r\n";
}

std::string finish(std::string header, std::uint64_t size, bool keepsAlive) {
    return header + "Content-Length: " + std::to_string(size) +
           "\r\nConnection: " + (keepsAlive ? "keep-alive" : "close") + "\r\n\r\n";
}

HttpResponse refusal(int number, HttpRequest const& request, std::string const& fields = "") {
    HttpResponse response;
    response.keepsAlive = request.keepsAlive && request.failure == 0;
    std::string header = begin(number);
    std::string body = header.substr(9, header.size() - 10);
    response.header = finish(header + fields + "Content-Type: text/plain\r\n", body.size(), response.keepsAlive);
    if (request.method != "HEAD")
        response.header += body;
    return response;
}

char const* typeOf(std::string const& path) {
    struct Type {
        char const* ending;
        char const* type;
    };
    constexpr std::array<Type, 10> kTypes = {{{".html", "text/html"},
                                              {".txt", "text/plain"},
                                              {".css", "text/css"},
                                              {".js", "text/javascript"},
                                              {".json", "application/json"},
                                              {".svg", "image/svg+xml"},
                                              {".png", "image/png"},
                                              {".jpg", "image/jpeg"},
                                              {".wasm", "application/wasm"},
                                              {".pdf", "application/pdf"}}};
    for (Type const& each : kTypes)
        if (path.ends_with(each.ending))
            return each.type;
    return "application/octet-stream";
}

int hexDigit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

} // namespace

SiteFile::~SiteFile() {
    ::close(descriptor_);
}

std::string SiteFile::read(std::uint64_t offset, std::uint64_t size) const {
    std::string bytes(size, '\0');
    std::size_t have = 0;
    while (have < bytes.size()) {
        ssize_t count =
            ::pread(descriptor_, bytes.data() + have, bytes.size() - have, static_cast<off_t>(offset + have));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            throw flow::io_error();
        if (count == 0)
            break;
        have += static_cast<std::size_t>(count);
    }
    bytes.resize(have);
    return bytes;
}

Site::Site(std::string const& directory) : directory_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (directory_ < 0)
        throw flow::file_not_found();
}

Site::~Site() {
    ::close(directory_);
}

/// Returns a descriptor, or -1 and sets errno. Opens each part of the path in the directory before it; refuses links.
int Site::open(std::string const& path) const {
    int at = ::fcntl(directory_, F_DUPFD_CLOEXEC, 0);
    for (std::size_t start = 0; at >= 0 && start < path.size();) {
        std::size_t end = std::min(path.find('/', start), path.size());
        std::string part = path.substr(start, end - start);
        start = end + 1;
        if (part.empty() || part == ".")
            continue;
        int next = part == ".." ? -1 : ::openat(at, part.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        int error = part == ".." ? ENOENT : errno;
        ::close(at);
        at = next;
        errno = error;
    }
    return at;
}

HttpResponse Site::answer(HttpRequest const& request) const {
    if (request.failure != 0)
        return refusal(request.failure, request);
    if (request.method != "GET" && request.method != "HEAD")
        return refusal(405, request, "Allow: GET, HEAD\r\n");
    std::string path;
    if (!decodePath(request.path, path))
        return refusal(400, request);
    if (path.ends_with('/'))
        path += "index.html";
    int descriptor = open(path);
    if (descriptor < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
        return refusal(503, request, "Retry-After: 1\r\n"); // the file may exist
    if (descriptor < 0)
        return refusal(404, request);
    auto file = std::make_shared<SiteFile>(descriptor);
    struct stat facts;
    if (::fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode))
        return refusal(404, request);
    auto size = static_cast<std::uint64_t>(facts.st_size);
    ParsedRange range = parseRange(request.method == "GET" ? request.range : "", size);
    if (range.isOutside)
        return refusal(416, request, "Content-Range: bytes */" + std::to_string(size) + "\r\n");
    HttpResponse response;
    response.keepsAlive = request.keepsAlive;
    response.left = range.isPresent ? range.range.size : size;
    std::string header =
        begin(range.isPresent ? 206 : 200) + "Content-Type: " + typeOf(path) + "\r\nAccept-Ranges: bytes\r\n";
    if (range.isPresent) {
        response.offset = range.range.first;
        header += "Content-Range: bytes " + std::to_string(response.offset) + "-" +
                  std::to_string(response.offset + response.left - 1) + "/" + std::to_string(size) + "\r\n";
    }
    response.header = finish(header, response.left, response.keepsAlive);
    if (request.method == "HEAD")
        response.left = 0;
    else
        response.file = std::move(file);
    return response;
}

ParsedRange parseRange(std::string const& field, std::uint64_t fileSize) {
    constexpr std::string_view kUnit = "bytes=";
    std::string_view text = field;
    std::size_t dash = text.find('-');
    if (!text.starts_with(kUnit) || dash == std::string_view::npos)
        return {};
    std::string_view firstText = text.substr(kUnit.size(), dash - kUnit.size()), lastText = text.substr(dash + 1);
    auto first = flow::parseNumber<std::uint64_t>(firstText), last = flow::parseNumber<std::uint64_t>(lastText);
    if ((!first && !firstText.empty()) || (!last && !lastText.empty()) || (!first && !last))
        return {}; // for example several ranges: then the whole file is a valid answer
    if (!first) {
        std::uint64_t size = std::min(*last, fileSize);
        return {size != 0, size == 0, {fileSize - size, size}};
    }
    if (last && *last < *first)
        return {};
    if (*first >= fileSize)
        return {false, true, {}};
    std::uint64_t end = last ? std::min(*last, fileSize - 1) : fileSize - 1;
    return {true, false, {*first, end - *first + 1}};
}

namespace {

/// Returns the index of the path in a target, which may begin with scheme and host; npos if no path follows the host.
std::size_t pathIn(std::string_view target) {
    auto isSame = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a | 0x20 : a) == b; };
    for (std::string_view scheme : {"http://", "https://"}) {
        std::string_view begin = target.substr(0, scheme.size());
        if (!std::equal(begin.begin(), begin.end(), scheme.begin(), scheme.end(), isSame))
            continue;
        std::size_t end = target.find_first_of("/?#", scheme.size()); // the end of the host
        if (end != scheme.size() && target.size() != scheme.size())
            return end != std::string_view::npos && target[end] == '/' ? end : std::string_view::npos;
    }
    return 0;
}

} // namespace

bool decodePath(std::string const& target, std::string& path) {
    std::size_t begin = pathIn(target);
    path = begin == std::string::npos ? "/" : "";
    if (begin == std::string::npos)
        return true;
    if (begin == target.size() || target[begin] != '/')
        return false;
    for (std::size_t i = begin; i < target.size() && target[i] != '?' && target[i] != '#'; ++i) {
        char c = target[i];
        if (c == '%') {
            int high = i + 2 < target.size() ? hexDigit(target[i + 1]) : -1,
                low = high < 0 ? -1 : hexDigit(target[i + 2]);
            if (low < 0)
                return false;
            c = static_cast<char>(high << 4 | low);
            i += 2;
        }
        if (c == '\0')
            return false;
        path += c;
    }
    return true;
}
