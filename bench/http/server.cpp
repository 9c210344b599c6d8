// The server of bench/http: 64 bytes from memory, and the files of a folder, over HTTP/1.1 and HTTP/2.
//
//     http_bench PORT FOLDER plain|tls|h2|h2-tls CERTIFICATE KEY
//
// "/count" gives what is counted since the first request for it: requests, allocations of ours (blocks and calls of
// operator new), other calls of malloc(), which are those of libraries in C, and the bytes that these hold.

#include "net/http/server.h"
#include "flow/memory/fast_allocator.h"
#include "net/examples/program.h"
#include "net/http/static_files.h"
#include "net/tls/tls_listener.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <new>
#include <string>

namespace {

std::atomic<bool> counts{false};
std::atomic<std::uint64_t> news{0}, mallocs{0};
std::atomic<std::int64_t> bytesOfLibraries{0};

void note(void* block, int sign) {
    if (!counts.load(std::memory_order_relaxed) || !block)
        return;
    mallocs.fetch_add(sign > 0, std::memory_order_relaxed);
    bytesOfLibraries.fetch_add(sign * static_cast<std::int64_t>(malloc_usable_size(block)), std::memory_order_relaxed);
}

} // namespace

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t bytes) {
    void* block = __libc_malloc(bytes);
    note(block, 1);
    return block;
}
void* calloc(std::size_t count, std::size_t bytes) {
    void* block = __libc_calloc(count, bytes);
    note(block, 1);
    return block;
}
void* realloc(void* old, std::size_t bytes) {
    note(old, -1);
    void* block = __libc_realloc(old, bytes);
    note(block, 1);
    return block;
}
void free(void* block) {
    note(block, -1);
    __libc_free(block);
}
}

void* operator new(std::size_t bytes) {
    if (counts.load(std::memory_order_relaxed))
        news.fetch_add(1, std::memory_order_relaxed);
    if (void* block = __libc_malloc(bytes))
        return block;
    throw std::bad_alloc();
}
void operator delete(void* block) noexcept {
    __libc_free(block);
}
void operator delete(void* block, std::size_t) noexcept {
    __libc_free(block);
}

namespace {

using namespace flow;
using namespace flow::net;

std::uint64_t requests = 0;

std::string counted() {
    counts = true;
    std::uint64_t own = news + memory::totalStatistics().allocated;
    return std::to_string(requests) + ' ' + std::to_string(own) + ' ' + std::to_string(mallocs) + ' ' +
           std::to_string(bytesOfLibraries) + '\n';
}

Future<http::Response> answer(http::StaticFiles const* files, http::Request request) {
    ++requests;
    http::Response response;
    if (request.target == "/memory") {
        static http::Headers const headers{{"Content-Type", "text/plain"}};
        static Bytes const body{StringRef(std::string(64, 'x'))};
        response.headers = headers;
        response.body = body;
        co_return response;
    }
    if (request.target == "/count") {
        response.body = counted();
        co_return response;
    }
    co_return co_await (*files)(std::move(request));
}

Future<Void> serve(std::string port, std::string folder, std::string what, TlsIdentity identity) {
    Reference<Listener> listener = listenAt(port);
    if (what.ends_with("tls")) {
        TlsServerOptions options;
        options.identities = {identity};
        options.protocols = {"http/1.1"};
        if (what == "h2-tls")
            options.protocols = {"h2", "http/1.1"};
        listener = makeReference<TlsListener>(listener, TlsContext::server(options));
    }
    http::StaticFiles files(folder);
    http::ServerOptions options;
    options.connections = 100'000;
    options.requestsPerConnection = 1'000'000'000;
    http::Handler handler = [&files](http::Request request) { return answer(&files, std::move(request)); };
    co_await http::serve(std::move(listener), std::move(handler), options, Never());
}

} // namespace

int main(int argc, char** argv) {
    char const* usage = "PORT FOLDER plain|tls|h2|h2-tls CERTIFICATE KEY";
    return runExample(argc, argv, usage, 5, 5, [](Arguments const& arguments) {
        return serve(arguments[0], arguments[1], arguments[2], {arguments[3], arguments[4]});
    });
}
