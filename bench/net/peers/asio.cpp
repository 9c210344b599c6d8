// The echo server of bench/net/echo.cpp, with callbacks, and the sockets of bench/net/bind.cpp with Boost.Asio.

#include "bench/net/bind.h"
#include "bench/net/echo.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/write.hpp>

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Socket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, asio::io_context::executor_type>;

/// Destroys itself at the end.
class Echo {
public:
    explicit Echo(Socket socket) : socket_(std::move(socket)) {}
    void readOn() {
        socket_.async_read_some(asio::buffer(buffer_), [this](error_code error, std::size_t bytes) {
            if (error) {
                delete this;
                return;
            }
            asio::async_write(socket_, asio::buffer(buffer_, bytes), [this](error_code failed, std::size_t) {
                if (failed)
                    delete this;
                else
                    readOn();
            });
        });
    }

private:
    Socket socket_;
    char buffer_[4096];
};

void acceptOn(Acceptor& acceptor, int left) {
    if (left == 0)
        return;
    acceptor.async_accept([&acceptor, left](error_code error, Socket socket) {
        if (error)
            return;
        socket.set_option(asio::ip::tcp::no_delay(true));
        (new Echo(std::move(socket)))->readOn();
        acceptOn(acceptor, left - 1);
    });
}

void serve(int connections, bench::Listening const& listening) {
    asio::io_context context(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
    Acceptor acceptor(context.get_executor(), {asio::ip::address_v4::loopback(), 0});
    acceptor.listen(1024);
    acceptOn(acceptor, connections);
    listening(acceptor.local_endpoint().port());
    context.run(); // until nothing is waited for any more
}

asio::io_context& context() {
    static asio::io_context context(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
    return context;
}

void bindTcp(int count) {
    for (int i = 0; i < count; ++i) {
        Acceptor acceptor(context().get_executor(), {asio::ip::address_v4::loopback(), 0}); // with SO_REUSEADDR
        acceptor.listen(1024);
    }
}

void bindUdp(int count) {
    for (int i = 0; i < count; ++i)
        asio::ip::udp::socket(context(), {asio::ip::address_v4::loopback(), 0});
}

bool const added = bench::addEcho("asio", serve) && bench::addBind("asio", bindTcp, bindUdp);

} // namespace
