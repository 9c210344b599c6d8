// A server of bench/http with Boost.Beast, on one thread, written as its asynchronous example is: 64 bytes from memory,
// and the files of a folder.

#include <boost/asio.hpp>
#include <boost/beast.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using Stream = beast::basic_stream<tcp, Executor>;

constexpr auto kPatience = std::chrono::seconds(30);
std::string folder;

class Session : public std::enable_shared_from_this<Session> {
public:
    explicit Session(Socket socket) : stream_(std::move(socket)) {}
    void read() {
        request_ = {};
        stream_.expires_after(kPatience);
        http::async_read(stream_, buffer_, request_, [self = shared_from_this()](beast::error_code error, std::size_t) {
            if (!error)
                self->answer();
        });
    }

private:
    void answer() {
        if (request_.target() == "/memory")
            return send(memory_.emplace(http::status::ok, request_.version(), std::string(64, 'x')));
        std::string path = folder + std::string(request_.target());
        http::file_body::value_type body;
        beast::error_code error;
        body.open(path.c_str(), beast::file_mode::scan, error);
        if (error)
            return send(memory_.emplace(http::status::not_found, request_.version(), "not found"));
        send(file_.emplace(http::status::ok, request_.version(), std::move(body)));
    }
    template <class Response>
    void send(Response& response) {
        response.set(http::field::server, "beast");
        response.set(http::field::content_type, "text/plain");
        response.keep_alive(request_.keep_alive());
        response.prepare_payload();
        http::async_write(stream_, response, [self = shared_from_this()](beast::error_code error, std::size_t) {
            self->file_.reset();
            if (!error && self->request_.keep_alive())
                self->read();
        });
    }

    Stream stream_;
    beast::flat_buffer buffer_;
    http::request<http::empty_body> request_;
    std::optional<http::response<http::string_body>> memory_;
    std::optional<http::response<http::file_body>> file_;
};

using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;

void accept(Acceptor& acceptor) {
    acceptor.async_accept([&](beast::error_code error, Socket socket) {
        if (error)
            std::exit(1);
        socket.set_option(tcp::no_delay(true));
        std::make_shared<Session>(std::move(socket))->read();
        accept(acceptor);
    });
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: http_beast PORT FOLDER\n");
        return 2;
    }
    folder = argv[2];
    asio::io_context context(1);
    auto port = static_cast<unsigned short>(std::atoi(argv[1]));
    Acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), port));
    accept(acceptor);
    context.run();
}
