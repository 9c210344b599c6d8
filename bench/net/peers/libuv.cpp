// The echo server of bench/net/echo.cpp and the sockets of bench/net/bind.cpp with libuv.

#include "bench/net/bind.h"
#include "bench/net/echo.h"

#include <netinet/in.h>
#include <uv.h>

namespace {

struct Client {
    uv_tcp_t socket;
    char buffer[4096];
};
Client* of(void* handle) {
    return static_cast<Client*>(static_cast<uv_handle_t*>(handle)->data);
}

struct Server {
    uv_tcp_t listener;
    int left;
};

void onRead(uv_stream_t* stream, ssize_t count, uv_buf_t const* read) {
    if (count < 0) {
        uv_close(reinterpret_cast<uv_handle_t*>(stream), [](uv_handle_t* closed) { delete of(closed); });
        return;
    }
    uv_buf_t answer = uv_buf_init(read->base, static_cast<unsigned>(count));
    // With more than 1,024 ready sockets libuv reads again before it calls back: each write needs a request of its own.
    uv_write(new uv_write_t, stream, &answer, 1, [](uv_write_t* done, int) { delete done; });
}

void onConnection(uv_stream_t* listener, int) {
    auto* server = static_cast<Server*>(listener->data);
    auto* client = new Client;
    uv_tcp_init(listener->loop, &client->socket);
    client->socket.data = client;
    auto* stream = reinterpret_cast<uv_stream_t*>(&client->socket);
    uv_accept(listener, stream);
    uv_tcp_nodelay(&client->socket, 1);
    uv_read_start(
        stream, [](uv_handle_t* handle, std::size_t, uv_buf_t* room) { *room = uv_buf_init(of(handle)->buffer, 4096); },
        onRead);
    if (--server->left == 0)
        uv_close(reinterpret_cast<uv_handle_t*>(listener), nullptr);
}

void serve(int connections, bench::Listening const& listening) {
    uv_loop_t loop;
    uv_loop_init(&loop);
    Server server;
    server.left = connections;
    uv_tcp_init(&loop, &server.listener);
    server.listener.data = &server;
    sockaddr_in address;
    uv_ip4_addr("127.0.0.1", 0, &address);
    uv_tcp_bind(&server.listener, reinterpret_cast<sockaddr*>(&address), 0);
    uv_listen(reinterpret_cast<uv_stream_t*>(&server.listener), 1024, onConnection);
    int size = sizeof address;
    uv_tcp_getsockname(&server.listener, reinterpret_cast<sockaddr*>(&address), &size);
    listening(ntohs(address.sin_port));
    uv_run(&loop, UV_RUN_DEFAULT); // until all handles are closed
    uv_loop_close(&loop);
}

sockaddr const* anyPort() {
    static sockaddr_in const address = [] {
        sockaddr_in made;
        uv_ip4_addr("127.0.0.1", 0, &made);
        return made;
    }();
    return reinterpret_cast<sockaddr const*>(&address);
}

template <class Handle, class Bind>
void openAndClose(int count, Bind bind) {
    uv_loop_t* loop = uv_default_loop();
    for (int i = 0; i < count; ++i) {
        Handle handle;
        bind(loop, &handle);
        uv_close(reinterpret_cast<uv_handle_t*>(&handle), nullptr);
        uv_run(loop, UV_RUN_NOWAIT); // only then it is closed
    }
}

void bindTcp(int count) {
    openAndClose<uv_tcp_t>(count, [](uv_loop_t* loop, uv_tcp_t* handle) {
        uv_tcp_init(loop, handle);
        uv_tcp_bind(handle, anyPort(), 0); // with SO_REUSEADDR
        uv_listen(reinterpret_cast<uv_stream_t*>(handle), 1024, [](uv_stream_t*, int) {});
    });
}

void bindUdp(int count) {
    openAndClose<uv_udp_t>(count, [](uv_loop_t* loop, uv_udp_t* handle) {
        uv_udp_init(loop, handle);
        uv_udp_bind(handle, anyPort(), 0);
    });
}

bool const added = bench::addEcho("libuv", serve) && bench::addBind("libuv", bindTcp, bindUdp);

} // namespace
