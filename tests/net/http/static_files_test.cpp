#include "net/http/static_files.h"

#include "flow/combine/errors.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/temporary_directory.h"
#include "tests/net/http/http_support.h"
#include "tests/net/serve_suite.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace flow;
using namespace flow::net;
using namespace flow::net::http;

namespace http_static_files_test {
namespace {

/// A folder with files, beside a file that must not be served.
struct Site {
    static constexpr std::size_t kLarge = 300'000; // more than one piece, and not kept in memory

    Site() {
        std::filesystem::create_directories(root() + "/sub/deep");
        put("index.html", "top");
        put("sub/index.html", "sub");
        put("sub/a b.txt", "0123456789");
        put("empty", "");
        std::string bytes;
        for (std::size_t i = 0; i < kLarge; ++i)
            bytes += static_cast<char>('a' + i % 23);
        put("large.bin", bytes);
        put("../secret", "secret");
        std::filesystem::create_symlink("../secret", root() + "/way-out");
        std::filesystem::create_symlink("..", root() + "/way-up");
        std::filesystem::create_symlink("index.html", root() + "/inside");
        REQUIRE(::mkfifo((root() + "/pipe").c_str(), 0600) == 0);
    }
    std::string root() const { return folder.path() + "/site"; }
    void put(std::string const& name, std::string const& bytes) const {
        std::ofstream(root() + "/" + name, std::ios::binary) << bytes;
    }

    test::TemporaryDirectory folder;
};

struct Answer {
    int status = 0;
    Headers headers;
    std::string body;

    std::string field(std::string_view name) const { return std::string(headers.get(name, "none")); }
};

Future<Answer> get(StaticFiles const* files, std::string target, Headers headers = {}, std::string method = "GET") {
    Request request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.headers = std::move(headers);
    Response response = co_await (*files)(std::move(request));
    Answer answer;
    answer.status = response.status;
    answer.headers = response.headers;
    auto size = response.body.size();
    for (;;) { // not text(): a HEAD's body is read as well
        Bytes piece = co_await response.body.read();
        if (piece.empty())
            break;
        answer.body += piece.toStringView();
    }
    CHECK(size == answer.body.size());
    co_return answer;
}

/// With one or two fields. Not a coroutine: gcc 12 takes no lists in braces within a co_await.
Future<Answer> getWith(StaticFiles const* files, std::string target, char const* name, std::string const& value,
                       char const* second = "", std::string const& itsValue = "", std::string method = "GET") {
    Headers headers;
    headers.add(name, value);
    if (*second)
        headers.add(second, itsValue);
    return get(files, std::move(target), std::move(headers), std::move(method));
}

Future<Void> wholeFiles(StaticFiles const* files) {
    Answer top = co_await get(files, "/");
    CHECK(top.status == 200);
    CHECK(top.body == "top");
    CHECK(top.field("Content-Type") == "text/html; charset=utf-8");
    CHECK(top.field("Accept-Ranges") == "bytes");
    CHECK(top.field("Last-Modified").ends_with(" GMT"));
    CHECK(top.field("Cache-Control") == "max-age=60");
    Answer other = co_await get(files, "http://host/sub/a%20b.txt?x=1");
    CHECK(other.status == 200);
    CHECK(other.body == "0123456789");
    CHECK(other.field("Content-Type") == "text/x-given");
    CHECK(other.field("ETag") != top.field("ETag"));
    Answer empty = co_await get(files, "/empty");
    CHECK(empty.status == 200);
    CHECK(empty.body.empty());
    CHECK(empty.field("Content-Type") == "application/octet-stream");
    Answer large = co_await get(files, "/large.bin");
    CHECK(large.body.size() == Site::kLarge);
    Answer again = co_await get(files, "/large.bin"); // from the cache
    CHECK(again.body == large.body);
    Answer sub = co_await get(files, "/sub/");
    CHECK(sub.body == "sub");
    Answer folder = co_await get(files, "/sub?q");
    CHECK(folder.status == 301);
    CHECK(folder.field("Location") == "./sub/?q");
    Answer head = co_await getWith(files, "/", "Range", "bytes=0-0", "", "", "HEAD");
    CHECK(head.status == 200);
    Answer posted = co_await get(files, "/", Headers(), "POST");
    CHECK(posted.status == 405);
    CHECK(posted.field("Allow") == "GET, HEAD");
}

Future<Void> noWayOut(StaticFiles const* files) {
    for (std::string path : {"/../secret", "/sub/../../secret", "/%2e%2e/secret", "/..%2fsecret", "/way-out",
                             "/way-up/secret", "/way-up/site/index.html", "/inside", "/pipe", "/nothing", "/sub/deep/",
                             "/index.html/x", "/index.html/", "//etc/passwd", "/sub/..", "/sub/../index.html"}) {
        Answer answer = co_await get(files, path);
        CHECK_MESSAGE(answer.status == 404, path);
        CHECK(answer.body == "Not Found\n");
    }
    for (std::string path : {"/a%00b", "/a%0", "/%zz"}) {
        Answer answer = co_await get(files, path);
        CHECK_MESSAGE(answer.status == 400, path);
    }
}

Future<Void> ranges(StaticFiles const* files) {
    std::string const target = "/sub/a%20b.txt";
    Answer whole = co_await get(files, target);
    Answer part = co_await getWith(files, target, "Range", "bytes=2-4");
    CHECK(part.status == 206);
    CHECK(part.body == "234");
    CHECK(part.field("Content-Range") == "bytes 2-4/10");
    CHECK(part.field("ETag") == whole.field("ETag"));
    Answer outside = co_await getWith(files, target, "Range", "bytes=10-");
    CHECK(outside.status == 416);
    CHECK(outside.field("Content-Range") == "bytes */10");
    Answer several = co_await getWith(files, target, "Range", "bytes=0-1, -2");
    CHECK(several.status == 206);
    CHECK(!several.headers.has("Content-Range"));
    std::string type = several.field("Content-Type"), start = "multipart/byteranges; boundary=";
    REQUIRE(type.starts_with(start));
    std::string line = "--" + type.substr(start.size());
    CHECK(several.body == line + "\r\nContent-Type: text/x-given\r\nContent-Range: bytes 0-1/10\r\n\r\n01\r\n" + line +
                              "\r\nContent-Type: text/x-given\r\nContent-Range: bytes 8-9/10\r\n\r\n89\r\n" + line +
                              "--\r\n");
    Answer large = co_await get(files, "/large.bin");
    Answer middle = co_await getWith(files, "/large.bin", "Range", "bytes=1000-251000");
    CHECK(middle.body == large.body.substr(1000, 250'001));
    Answer halves = co_await getWith(files, "/large.bin", "Range", "bytes=0-149999,150000-299999");
    CHECK(halves.body.find(large.body.substr(0, 150'000)) != std::string::npos);
    CHECK(halves.body.find(large.body.substr(150'000)) != std::string::npos);
    Answer many = co_await getWith(files, target, "Range", "bytes=0-0,1-1,2-2,3-3,4-4");
    CHECK(many.status == 200);
    Answer resumed = co_await getWith(files, target, "Range", "bytes=2-", "If-Range", whole.field("ETag"));
    CHECK(resumed.status == 206);
    Answer other = co_await getWith(files, target, "Range", "bytes=2-", "If-Range", "\"other\"");
    CHECK(other.status == 200);
}

Future<Void> conditions(StaticFiles const* files) {
    Answer whole = co_await get(files, "/");
    std::string tag = whole.field("ETag"), date = whole.field("Last-Modified");
    CHECK(tag.starts_with('"'));
    for (bool byDate : {false, true}) {
        char const* name = byDate ? "If-Modified-Since" : "If-None-Match";
        std::string value = byDate ? date : tag;
        Answer unchanged = co_await getWith(files, "/", name, value);
        CHECK(unchanged.status == 304);
        CHECK(unchanged.body.empty());
        CHECK(unchanged.field("ETag") == tag);
        CHECK(unchanged.field("Cache-Control") == "max-age=60");
        CHECK(!unchanged.headers.has("Content-Type"));
    }
    Answer failed = co_await getWith(files, "/", "If-Match", "\"other\"");
    CHECK(failed.status == 412);
    CHECK(failed.body == "Precondition Failed\n");
}

StaticFilesOptions options() {
    return {.cacheControl = "max-age=60", .types = {{"b.txt", "text/x-given"}}, .ranges = 4};
}

/// The test, with files that are old enough for strong tags, on a simulated loop and on a real one.
void onBothLoops(Future<Void> (*run)(StaticFiles const*)) {
    Site site;
    ::usleep(30'000); // nondeterminism: until the system's clock of files has gone on
    {
        test::Balance balance;
        SimLoop loop;
        StaticFiles files(site.root(), options());
        loop.run(run(&files));
    }
    RealLoop loop;
    StaticFiles files(site.root(), options());
    loop.run(run(&files));
}

} // namespace

TEST_CASE("static files: whole files, types and redirects") {
    onBothLoops(wholeFiles);
}

TEST_CASE("static files: no path leads out of the folder") {
    onBothLoops(noWayOut);
}

TEST_CASE("static files: ranges") {
    onBothLoops(ranges);
}

TEST_CASE("static files: conditions") {
    onBothLoops(conditions);
}

TEST_CASE("static files: a change is seen, of the file at once, of a folder after a second") {
    Site site;
    SimLoop loop;
    StaticFiles files(site.root());
    auto bodyOf = [&](char const* path) { return loop.run(get(&files, path)).body; };
    CHECK(bodyOf("/sub/") == "sub");
    Answer before = loop.run(get(&files, "/"));
    site.put("index.html", "longer");
    Answer after = loop.run(get(&files, "/"));
    CHECK(after.body == "longer");
    CHECK(after.field("ETag") != before.field("ETag"));
    std::filesystem::remove(site.root() + "/index.html");
    CHECK(bodyOf("/") == "Not Found\n");
    std::filesystem::rename(site.root() + "/sub", site.root() + "/other");
    loop.run(delay(2));
    CHECK(bodyOf("/sub/") == "Not Found\n");
    CHECK(bodyOf("/other/") == "sub");
}

TEST_CASE("static files: a file that becomes shorter fails its body") {
    Site site;
    SimLoop loop;
    StaticFiles files(site.root());
    auto cut = [](StaticFiles const* from, std::string path) -> Future<Void> {
        Request request;
        request.target = "/large.bin";
        Response response = co_await (*from)(std::move(request));
        Bytes first = co_await response.body.read();
        CHECK(!first.empty());
        std::filesystem::resize_file(path, 1000);
        ErrorOr<Bytes> rest = co_await tryGet(response.body.read());
        REQUIRE(rest.isError());
        CHECK(rest.getError() == io_error());
    };
    loop.run(cut(&files, site.root() + "/large.bin"));
}

namespace {
std::size_t openDescriptors() {
    std::size_t count = 0;
    for ([[maybe_unused]] auto const& each : std::filesystem::directory_iterator("/proc/self/fd"))
        ++count;
    return count;
}
} // namespace

TEST_CASE("static files: few files stay open, and none after a while") {
    Site site;
    for (int i = 0; i < 20; ++i)
        site.put(std::to_string(i), "x");
    SimLoop loop;
    StaticFiles files(site.root(), {.openFiles = 5});
    std::size_t before = openDescriptors();
    for (int i = 0; i < 20; ++i)
        loop.run(get(&files, "/" + std::to_string(i)));
    CHECK(openDescriptors() == before + 5);
    loop.run(delay(3));
    CHECK(openDescriptors() == before);
    StaticFiles closing(site.root(), {.openFiles = 0});
    loop.run(get(&closing, "/0"));
    CHECK(openDescriptors() == before + 1); // the folder of `closing`
}

TEST_CASE("static files: wrong options") {
    Site site;
    auto messageOf = [](auto make) -> std::string {
        try {
            make();
            return "";
        } catch (Error const& error) {
            return error.what();
        }
    };
    std::string file = site.root() + "/index.html";
    CHECK(messageOf([&] { StaticFiles{file}; }) == "there is no such folder, or it cannot be read: " + file);
    CHECK(messageOf([&] { StaticFiles{site.root(), {.openFor = 0}}; }) ==
          "StaticFilesOptions: openFor is 0; it must be more than 0, and at most 1e9");
}

namespace {

/// Keeps the folder until the future has ended.
Future<Void> holding(std::shared_ptr<Site> /*site*/, Future<Void> what) {
    co_await std::move(what);
}

/// Asks a server on this loop for whole files, and for a part, one after the other on one connection.
Future<Void> download(StaticFiles files) {
    test::HttpServer server(files);
    Reference<Connection> client = co_await server.connect();
    test::Received large = co_await test::ask(client, test::get("/large.bin"));
    CHECK(large.status == 200);
    CHECK(large.body.size() == Site::kLarge);
    test::Received part = co_await test::ask(client, test::get("/large.bin", "Range: bytes=70000-299998\r\n"));
    CHECK(part.body == large.body.substr(70'000, 229'999));
    test::Received several = co_await test::ask(client, test::get("/large.bin", "Range: bytes=0-9,100-199999\r\n"));
    CHECK(several.body.find(large.body.substr(100, 199'900)) != std::string::npos);
    test::Received top = co_await test::ask(client, test::get("/"));
    CHECK(top.body == "top");
    test::Received head = co_await test::ask(client, "HEAD /large.bin HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(head.headers.get("Content-Length") == "300000");
    CHECK(head.body.empty());
    CHECK(server.counters.requests == 5);
}

/// A file that is cut while it is sent: the client must not take the bytes for the whole file.
Future<Void> cutWhileSent(StaticFiles files, std::string path) {
    std::filesystem::resize_file(path, 20'000'000);
    test::HttpServer server(files);
    Reference<Connection> client = co_await server.connect();
    co_await client->write(StringRef(test::get("/large.bin")));
    Bytes head = co_await client->readUntil("\r\n\r\n"_sr, 1000);
    std::filesystem::resize_file(path, 1'000'000);
    std::uint64_t size = 0;
    Error end;
    for (;;) {
        ErrorOr<Bytes> piece = co_await tryGet(keep(client->read()));
        end = piece.isError() ? piece.getError() : Error();
        if (piece.isError() || piece.get().empty())
            break;
        size += static_cast<std::uint64_t>(piece.get().size());
    }
    CHECK(size < 20'000'000);
    CHECK(end == connection_reset());
}

} // namespace

TEST_CASE("static files: sent by a server") {
    test::onEachNetwork([] {
        auto site = std::make_shared<Site>();
        return holding(site, download(StaticFiles(site->root())));
    });
}

TEST_CASE("static files: a file that is cut while it is sent resets the connection") {
    static int reports;
    reports = 0;
    DroppedErrorHandler before = setDroppedErrorHandler([](char const*, Error) { ++reports; });
    test::onEachNetwork([] {
        auto site = std::make_shared<Site>();
        return holding(site, cutWhileSent(StaticFiles(site->root()), site->root() + "/large.bin"));
    });
    setDroppedErrorHandler(before);
    CHECK(reports >= 2); // one for each network
}

} // namespace http_static_files_test
