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
    /// The most sockets that one batch makes.
    static constexpr std::size_t kBatch = 64;

    /// Returns null if the kernel cannot make sockets by io_uring. Throws std::bad_alloc.
    static std::unique_ptr<UringSockets> make();
    UringSockets(UringSockets const&) = delete;
    UringSockets& operator=(UringSockets const&) = delete;
    ~UringSockets();

    /// True in a child of fork(), if the parent has made this object.
    bool isOfParent() const;
    /// Opens non-blocking sockets, binds each to its address, and returns the descriptors. If `backlog` is not 0, they
    /// listen. If one fails, closes all and throws its Error. The addresses are IP addresses.
    std::vector<int> open(std::span<Address const> at, int type, std::span<SocketOption const> options, int backlog);

private:
    UringSockets();

    void makeSockets(std::span<Address const> at, int type, std::span<int> made);
    void setOptions(std::span<Address const> at, std::span<int const> made, SocketOption const& option);
    void bindAll(std::span<Address const> at, std::span<int const> made);
    void listenAll(std::span<int const> made, int backlog);
    io_uring_sqe* request(unsigned char operation, int descriptor, std::size_t index);
    /// Waits for all requests, and writes each result to results[index]. If results are errors, throws the first.
    void finish(std::span<int> results);

    std::unique_ptr<io_uring> ring_;
    unsigned requested_ = 0;
    std::uint32_t forks_;
};

} // namespace flow::net
