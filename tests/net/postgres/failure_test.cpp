#include "flow/combine/retry.h"
#include "flow/combine/timeout.h"
#include "net/postgres/pool.h"
#include "tests/net/postgres/postgres_support.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace flow;
using namespace flow::test;
using postgres::Connection;

namespace {

/// The value of a keyword of serverUrl().
std::string partOfUrl(std::string const& keyword) {
    std::string url = " " + serverUrl() + " ";
    std::size_t begin = url.find(" " + keyword + "=") + keyword.size() + 2;
    return url.substr(begin, url.find(' ', begin) - begin);
}

int postmaster() {
    std::ifstream file(partOfUrl("host") + "/data/postmaster.pid");
    int process = 0;
    file >> process;
    return process;
}

/// Processes that stand still until the end of the scope.
struct Stopped {
    explicit Stopped(std::vector<int> p) : processes(std::move(p)) {
        for (int each : processes)
            REQUIRE(::kill(each, SIGSTOP) == 0);
    }
    ~Stopped() {
        for (int each : processes)
            ::kill(each, SIGCONT);
    }
    std::vector<int> processes;
};

/// The inodes of the sockets of this process that are connected to the server, each with a descriptor. Threads of
/// PQcancel() may still have a connection.
std::map<ino_t, int> socketsToServer() {
    std::string folder = partOfUrl("host") + "/";
    std::map<ino_t, int> found;
    for (int number = 3; number < 1000; ++number) {
        sockaddr_un other{};
        socklen_t size = sizeof other;
        struct stat info{};
        if (::getpeername(number, reinterpret_cast<sockaddr*>(&other), &size) == 0 && other.sun_family == AF_UNIX &&
            std::string(other.sun_path).starts_with(folder) && ::fstat(number, &info) == 0)
            found[info.st_ino] = number;
    }
    return found;
}

/// Shuts down the sockets that were not there `before`. Returns true if there is such a socket.
bool shutDownSince(std::map<ino_t, int> const& before) {
    bool isDone = false;
    for (auto [inode, number] : socketsToServer())
        if (!before.contains(inode))
            isDone = ::shutdown(number, SHUT_RDWR) == 0 || isDone;
    return isDone;
}

/// A port at which the kernel accepts connections, and nobody answers.
struct Silent {
    Silent() {
        sockaddr_in any{};
        any.sin_family = AF_INET;
        any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(::bind(descriptor, reinterpret_cast<sockaddr*>(&any), sizeof any) == 0);
        REQUIRE(::listen(descriptor, 10) == 0);
    }
    ~Silent() { ::close(descriptor); }
    int port() const {
        sockaddr_in own{};
        socklen_t size = sizeof own;
        REQUIRE(::getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &size) == 0);
        return ntohs(own.sin_port);
    }
    int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

std::string tcp(std::string const& hosts, std::string const& more = "") {
    return "host=" + hosts + " port=" + partOfUrl("port") + " user=app dbname=postgres " +
           (more.find("sslmode") == more.npos ? "sslmode=disable " : "") + more;
}

template <class Test>
void onLoop(Test test) {
    Balance balance;
    RealLoop loop;
    loop.run(test());
}

Future<Void> stall() {
    postgres::Options options;
    options.cleanUp = 0.1;
    Connection db = co_await postgres::connect(serverUrl(), options);
    Connection other = co_await postgres::connect(serverUrl(), options);
    Stopped stopped({db.process(), other.process(), postmaster()}); // so PQcancel() does not return
    Optional<int> none = co_await timeout(db.one<int>("SELECT 1"), 0.02);
    CHECK_FALSE(none.present());
    Error error = co_await errorIn(db.one<int>("SELECT 1"));
    CHECK(std::string(error.what()) == "the server has not ended a dropped query in 0.1 seconds");
    Future<postgres::Transaction> beginning = other.begin();
    co_await delay(0.01);
    beginning = Future<postgres::Transaction>();
    error = co_await errorIn(other.one<int>("SELECT 1"));
    CHECK(error.code() == error_code_connection_failed);
}

} // namespace

TEST_CASE("postgres: hosts are tried in their order, each with its own time") {
    onLoop([]() -> Future<Void> {
        Connection named = co_await postgres::connect(tcp("localhost")); // our resolver gives the address
        int one = co_await named.one<int>("SELECT 1");
        CHECK(one == 1);
        Connection second = co_await postgres::connect(tcp("/nowhere,127.0.0.1"));
        CHECK(second.isUsable());
        Silent silent;
        postgres::Options options;
        options.connectTimeout = 2.0; // enough for the second one on a busy machine
        std::string ports = std::to_string(silent.port()) + "," + partOfUrl("port");
        std::string url = "host=127.0.0.1,127.0.0.1 port=" + ports + " user=app dbname=postgres sslmode=disable";
        Connection third = co_await postgres::connect(url, options);
        CHECK(third.isUsable());
        Connection primary = co_await postgres::connect(tcp("127.0.0.1", "target_session_attrs=primary"));
        Connection any = co_await postgres::connect(tcp("127.0.0.1", "target_session_attrs=prefer-standby"));
        CHECK((primary.isUsable() && any.isUsable()));
        Error error = co_await errorIn(postgres::connect(tcp("127.0.0.1,/nowhere", "target_session_attrs=standby")));
        CHECK(error.code() == error_code_connection_failed);
        CHECK(std::string(error.what()).find("server is not in hot standby mode; ") != std::string::npos);
        CHECK(std::string(error.what()).find("/nowhere") != std::string::npos);
        error = co_await errorIn(postgres::connect("host=a,b port=1,2,3"));
        CHECK(std::string(error.what()) == "2 hosts, and 3 values of port: give one, or one for each host");
        error = co_await errorIn(postgres::connect("postgresql://[broken"));
        CHECK(error.code() == error_code_connection_string_invalid);
        error = co_await errorIn(postgres::connect(tcp("127.0.0.1", "dbname=missing")));
        CHECK(std::string(error.what()).find("\"missing\" does not exist") != std::string::npos);
        options.inFlight = 0;
        error = co_await errorIn(postgres::connect(serverUrl(), options));
        CHECK(std::string(error.what()) == "postgres::Options: inFlight is 0; it must be at least 1");
    });
}

TEST_CASE("postgres: with TLS, rows that are larger than its records arrive") {
    onLoop([]() -> Future<Void> {
        std::string root = "sslrootcert=" + partOfUrl("host") + "/server.crt sslmode=verify-full";
        Connection db = co_await postgres::connect(tcp("localhost", root));
        for (int size : {1000, 5000, 9000, 16000, 50000}) {
            auto rows = co_await db.query<std::string>("SELECT repeat('x', $1) FROM generate_series(1, 100)", size);
            CHECK(rows.size() == 100);
            CHECK(rows[99].size() == std::size_t(size));
        }
        Error error = co_await errorIn(postgres::connect(tcp("127.0.0.1", root)));
        CHECK(std::string(error.what()).find("does not match host name") != std::string::npos);
    });
}

TEST_CASE("postgres: a server process that is killed fails its queries, streams and listeners") {
    onLoop([]() -> Future<Void> {
        Connection db = co_await postgres::connect(serverUrl());
        Connection killer = co_await postgres::connect(serverUrl());
        postgres::Notifications news = co_await db.listen("news");
        Future<std::uint64_t> sleeping = db.execute("SELECT pg_sleep(1000)");
        Future<int> behind = db.one<int>("SELECT 1");
        Future<postgres::Transaction> waiting = db.begin();
        co_await delay(0.01);
        co_await killer.execute("SELECT pg_terminate_backend($1)", db.process());
        Error error = co_await errorIn(std::move(sleeping));
        CHECK(error.code() == error_code_connection_failed);
        CHECK(postgres::sqlState(error) == "57P01");
        int code = co_await codeOf(std::move(behind));
        CHECK(code == error_code_connection_failed);
        code = co_await codeOf(std::move(waiting));
        CHECK(code == error_code_connection_failed);
        code = co_await codeOf(keep(news.next()));
        CHECK(code == error_code_connection_failed);
        CHECK_FALSE(db.isUsable());
    });
}

TEST_CASE("postgres: a server that stalls holds a dropped query only until the bound") {
    RealLoop loop; // no Balance: the threads of PQcancel() free blocks of this thread
    loop.run(stall());
}

TEST_CASE("postgres: a query ends although libpq closes its socket while it sends") {
    onLoop([]() -> Future<Void> {
        std::map<ino_t, int> before = socketsToServer();
        Connection db = co_await postgres::connect(serverUrl());
        int one = co_await db.one<int>("SELECT 1");
        CHECK(one == 1);
        // The connection is lost, and the query begins before the loop has seen it: so PQflush() fails.
        CHECK(shutDownSince(before));
        Error error = co_await errorIn(timeoutError(db.one<int>("SELECT 1"), 60.0));
        CHECK(error.code() == error_code_connection_failed);
        CHECK_FALSE(db.isUsable());
    });
}

TEST_CASE("postgres: others hear of the loss although libpq closes its socket while a COPY sends") {
    onLoop([]() -> Future<Void> {
        std::map<ino_t, int> before = socketsToServer();
        Connection db = co_await postgres::connect(serverUrl());
        co_await db.script("CREATE TEMPORARY TABLE copied (number int)");
        postgres::Notifications news = co_await db.listen("news");
        postgres::CopyIn in = co_await db.copyIn("COPY copied FROM STDIN");
        CHECK(shutDownSince(before));
        co_await in.write("1\n"_sr);
        Error error = co_await errorIn(timeoutError(keep(news.next()), 60.0));
        CHECK(error.code() == error_code_connection_failed);
        CHECK_FALSE(db.isUsable());
    });
}

TEST_CASE("postgres: a pool finds the server again after a restart") {
    onLoop([]() -> Future<Void> {
        postgres::Pool pool(serverUrl(), {.most = 4});
        for (int i = 0; i < 3; ++i) {
            std::vector<Future<std::uint64_t>> busy;
            for (int each = 0; each < 3; ++each)
                busy.push_back(pool.execute("SELECT 1"));
            for (auto& each : busy)
                co_await std::move(each);
            Future<std::uint64_t> lost = pool.execute("SELECT pg_sleep(1000)");
            co_await delay(0.01);
            int result = std::system(std::getenv("MILLRACE_POSTGRES_RESTART")); // blocks the loop: all ends at once
            CHECK(result == 0);
            int code = co_await codeOf(std::move(lost));
            CHECK(code == error_code_connection_failed);
            int one = co_await pool.one<int>("SELECT 1");
            CHECK(one == 1);
        }
    });
}
