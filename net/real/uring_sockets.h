#pragma once
// UringSockets: many sockets made with few system calls: their steps are chains of requests to io_uring, of which the
// kernel takes a batch at a time.
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

/// What setsockopt() gets.
struct SocketOption {
    int level;
    int name;
    int value;
};

class UringSockets {
public:
    /// As many sockets as one batch makes.
    static constexpr std::size_t kBatch = 64;
    static constexpr std::size_t kMostOptions = 6;

    /// Throws std::bad_alloc.
    static std::unique_ptr<UringSockets> make();
    UringSockets(UringSockets const&) = delete;
    UringSockets& operator=(UringSockets const&) = delete;
    ~UringSockets();

    /// Whether another process has made it.
    bool isOfParent() const;
    /// Sockets that are bound there, in the order of the addresses, and block nobody; with a backlog they listen. All
    /// or none: throws the Error of the first that fails. None of the addresses is a Unix socket's.
    std::vector<int> open(std::span<Address const> at, int type, std::span<SocketOption const> options, int backlog);

private:
    UringSockets();

    void makeSockets(std::span<Address const> at, int type, std::span<int> made);
    void bindAll(std::span<Address const> at, std::span<int const> made, std::span<SocketOption const> options,
                 int backlog);
    io_uring_sqe* request(unsigned char operation, int descriptor, std::size_t index, bool goesOn);
    /// Waits for all that was requested. Each result is written where its index says, unless an error stands there.
    void finish(std::span<int> results);

    std::unique_ptr<io_uring> ring_;
    unsigned requested_ = 0;
    std::uint32_t forks_;
};

} // namespace flow::net
