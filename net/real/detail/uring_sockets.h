#pragma once
// UringSockets: makes many sockets with few system calls. One batch of io_uring requests opens all sockets, another one
// sets an option of all, and so on. (A chain of requests for each socket would be slower.)
//
//     if (std::unique_ptr<UringSockets> sockets = UringSockets::make())       // null: this kernel cannot do it
//         std::vector<int> descriptors = sockets->open(addresses, SOCK_STREAM, options, 1024);
//
// A UringSockets belongs to one thread and to one process: a child of fork() makes another UringSockets.

#include "net/address.h"

#include <memory>
#include <span>
#include <vector>

struct io_uring;
struct io_uring_sqe;

namespace flow::net {

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
    /// Opens non-blocking sockets, binds each to its address, and returns the descriptors. If `backlog` is not 0, the
    /// sockets listen. If a socket fails, closes all sockets and throws the Error. The addresses are IP addresses.
    std::vector<int> open(std::span<Address const> at, int type, std::span<SocketOption const> options, int backlog);

private:
    UringSockets();

    void makeSockets(std::span<Address const> at, int type, std::span<int> made);
    void setOptions(std::span<Address const> at, std::span<int const> made, SocketOption const& option);
    void bindAll(std::span<Address const> at, std::span<int const> made);
    void listenAll(std::span<Address const> at, std::span<int const> made, int backlog);
    io_uring_sqe* request(unsigned char operation, int descriptor, std::size_t index);
    /// Waits for all requests, and writes each result to results[index]. Throws the first result that is an error.
    void finish(std::span<int> results, std::span<Address const> at);

    std::unique_ptr<io_uring> ring_;
    unsigned requested_ = 0;
    std::uint32_t forks_;
};

} // namespace flow::net
