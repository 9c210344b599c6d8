// Echo over TLS, and the same without it. Both ends are ours: a server in the benchmark's thread, and a load in another
// that sends 64 bytes on each connection and waits for the answer.

#include "bench/net/echo.h"
#include "bench/net/load.h"
#include "flow/flow.h"
#include "net/tls/tls_listener.h"

#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <thread>

namespace {

using namespace flow;
using namespace flow::net;

constexpr int kBytes = 64;
constexpr double kSeconds = 0.3;

template <auto Free>
struct Freed {
    template <class T>
    void operator()(T* what) const {
        Free(what);
    }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;
using Text = std::unique_ptr<BIO, Freed<BIO_free>>;

std::string contentsOf(BIO* text) {
    char* bytes = nullptr;
    long size = BIO_get_mem_data(text, &bytes);
    return {bytes, static_cast<std::size_t>(size)};
}

/// Of localhost, and its own authority.
TlsIdentity const& identity() {
    static TlsIdentity const made = [] {
        Key key(EVP_EC_gen("P-256"));
        Certificate one(X509_new());
        X509_set_version(one.get(), 2);
        ASN1_INTEGER_set(X509_get_serialNumber(one.get()), 1);
        X509_gmtime_adj(X509_getm_notBefore(one.get()), -3600);
        X509_gmtime_adj(X509_getm_notAfter(one.get()), 24 * 3600);
        X509_set_pubkey(one.get(), key.get());
        X509_NAME* name = X509_get_subject_name(one.get());
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<unsigned char const*>("localhost"), -1,
                                   -1, 0);
        X509_set_issuer_name(one.get(), name);
        Extension names(X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost"));
        X509_add_ext(one.get(), names.get(), -1);
        X509_sign(one.get(), key.get(), EVP_sha256());
        Text certificate(BIO_new(BIO_s_mem())), secret(BIO_new(BIO_s_mem()));
        PEM_write_bio_X509(certificate.get(), one.get());
        PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
        return TlsIdentity{contentsOf(certificate.get()), contentsOf(secret.get())};
    }();
    return made;
}

std::uint64_t nanoseconds(clockid_t clock) {
    timespec time = {};
    ::clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

struct Load {
    std::uint64_t begin, end; // of what counts
    bench::Histogram times = {};
    std::uint64_t counted = 0;
};

Future<Void> askOn(Reference<Connection> connection, Load* load) {
    static std::uint8_t const question[kBytes] = {};
    std::uint8_t answer[kBytes];
    for (std::uint64_t last = 0; last < load->end;) {
        std::uint64_t asked = nanoseconds(CLOCK_MONOTONIC);
        co_await connection->write(StringRef(question, kBytes));
        co_await connection->readExactly(std::span(answer));
        last = nanoseconds(CLOCK_MONOTONIC);
        if (last < load->begin || last >= load->end)
            continue;
        ++load->counted;
        load->times.add(last - asked);
    }
}

Future<Void> askAll(std::uint16_t port, int connections, bool isTls, bench::LoadResult* result) {
    Address server(INADDR_LOOPBACK, port);
    std::vector<Reference<Connection>> all;
    Reference<TlsContext> context;
    if (isTls) {
        TlsClientOptions options;
        options.authorities = identity().certificate;
        context = TlsContext::client(options);
    }
    for (int i = 0; i < connections; ++i) {
        Reference<Connection> connected = co_await transport().connect(server);
        if (isTls)
            connected = co_await tlsClient(std::move(connected), context, "localhost");
        all.push_back(std::move(connected));
    }
    std::uint64_t started = nanoseconds(CLOCK_MONOTONIC), used = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    auto length = static_cast<std::uint64_t>(kSeconds * 1e9);
    Load load{started + length / 5, started + length / 5 + length};
    std::vector<Future<Void>> asking;
    for (Reference<Connection>& each : all)
        asking.push_back(askOn(each, &load));
    co_await waitForAll(asking);
    result->processors = static_cast<double>(nanoseconds(CLOCK_THREAD_CPUTIME_ID) - used) /
                         static_cast<double>(nanoseconds(CLOCK_MONOTONIC) - started);
    result->requestsPerSecond = static_cast<double>(load.counted) / kSeconds;
    result->p50 = load.times.percentile(0.5);
    result->p99 = load.times.percentile(0.99);
}

/// Until all connections are closed.
Future<Void> serve(Reference<Listener> listener, int connections) {
    std::vector<Future<Void>> all;
    for (int i = 0; i < connections; ++i) {
        Reference<Connection> accepted = co_await listener->accept();
        all.push_back(bench::echo(std::move(accepted)));
    }
    co_await waitForAll(all);
}

void measure(benchmark::State& state, int connections, bool isTls) {
    ::setenv("FLOW_POLLER", "epoll", 1);
    bench::LoadResult result;
    identity();
    for (auto _ : state) {
        RealLoop loop;
        Reference<Listener> listener = transport().listen(Address(INADDR_LOOPBACK, 0));
        if (isTls) {
            TlsServerOptions options;
            options.identities = {identity()};
            listener = makeReference<TlsListener>(listener, TlsContext::server(options));
        }
        std::uint16_t port = listener->localAddress().port();
        std::thread load([=, &result] {
            RealLoop own;
            own.run(askAll(port, connections, isTls, &result));
        });
        loop.run(serve(listener, connections));
        load.join();
    }
    state.counters["requests_per_second"] = result.requestsPerSecond;
    state.counters["p50_us"] = result.p50 / 1000;
    state.counters["p99_us"] = result.p99 / 1000;
    state.counters["load_processors"] = result.processors;
}

bool const added = [] {
    for (int connections : {1, 50})
        for (bool isTls : {false, true})
            benchmark::RegisterBenchmark(
                ("echo-tls/" + std::to_string(connections) + "/coroutine" + (isTls ? "" : "-plain")).c_str(), measure,
                connections, isTls)
                ->Iterations(1)
                ->UseRealTime();
    return true;
}();

} // namespace
