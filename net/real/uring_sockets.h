#pragma once
// UringSockets: makes many sockets with few system calls, by batches of io_uring requests: all are opened, then all get
// an option, then all are bound. (A chain of requests for each socket would be slower.)
//
//     if (std::unique_ptr<UringSockets> sockets = UringSockets::make())       // null: this kernel cannot do it
//         std::vector<int> descriptors = sockets->open(addresses, SOCK_STREAM, options, 1024);
//
// Belongs to one thread, and to one process: the child of a fork() makes its own.

#include "net/address.h"

#include <memory>
#include <span>
#include <vector>

struct io_uring;
struct io_uring_sqe;

namespace flow::net {

/// The arguments of setsockopt().
struct SocketOption {
    int level;
    int name;
    int value;
};

class UringSockets {
public:
    /// As many sockets as one batch makes.
    static constexpr std::size_t kBatch = 64;

    /// Throws std::bad_alloc.
    static std::unique_ptr<UringSockets> make();
    UringSockets(UringSockets const&) = delete;
    UringSockets& operator=(UringSockets const&) = delete;
    ~UringSockets();

    /// True if another process has made it.
    bool isOfParent() const;
    /// Non-blocking sockets bound to the addresses, in their order; with a backlog they listen. All or none: throws the
    /// Error of the first that fails. No address is that of a Unix socket.
    std::vector<int> open(std::span<Address const> at, int type, std::span<SocketOption const> options, int backlog);

private:
    UringSockets();

    void makeSockets(std::span<Address const> at, int type, std::span<int> made);
    void setOptions(std::span<Address const> at, std::span<int const> made, SocketOption const& option);
    void bindAll(std::span<Address const> at, std::span<int const> made);
    void listenAll(std::span<int const> made, int backlog);
    io_uring_sqe* request(unsigned char operation, int descriptor, std::size_t index);
    /// Waits for all requests, and writes each result to the place of its index. Throws the Error of the first place
    /// that has one.
    void finish(std::span<int> results);

    std::unique_ptr<io_uring> ring_;
    unsigned requested_ = 0;
    std::uint32_t forks_;
};

} // namespace flow::net
