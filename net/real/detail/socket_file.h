#pragma once
// SocketFile: the file of a Unix socket that this process has bound to a path.
//
//     removeLeftBehind(at, SOCK_STREAM);       // the file of a program that was killed
//     bindSocket(descriptor, at);
//     SocketFile file(at);
//     file.remove();                           // when the socket closes

#include "net/address.h"

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace flow::net {

class SocketFile {
public:
    /// Records the file of `bound`, if there is one.
    explicit SocketFile(Address const& bound);
    /// Removes the file, once, unless another file has replaced it. In a child of fork() it stays: the parent still has
    /// the socket.
    void remove() noexcept;
    /// The file stays: another process uses it.
    void leave() { path_.clear(); }

private:
    std::string path_; // empty: there is no file
    dev_t device_ = 0;
    ino_t number_ = 0;
    std::uint32_t forks_;
};

/// Removes the file of the Unix socket `at`, if the file is this user's and no program has a socket of this type there.
void removeLeftBehind(Address const& at, int type);

} // namespace flow::net
