#include "net/real/detail/socket_file.h"

#include "flow/base/fork_count.h"
#include "net/real/detail/real_socket.h"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace flow::net {

SocketFile::SocketFile(Address const& bound) : forks_(forkCount()) {
    if (!bound.isUnix() || bound.isAbstract())
        return;
    std::string path(bound.unixName());
    struct stat file;
    if (::lstat(path.c_str(), &file) != 0)
        return;
    path_ = std::move(path);
    device_ = file.st_dev;
    number_ = file.st_ino;
}

// The inode number identifies the file: no other file gets it while the socket is open.
void SocketFile::remove() noexcept {
    struct stat file;
    if (!path_.empty() && forks_ == forkCount() && ::lstat(path_.c_str(), &file) == 0 && file.st_dev == device_ &&
        file.st_ino == number_)
        ::unlink(path_.c_str());
    path_.clear();
}

void removeLeftBehind(Address const& at, int type) {
    struct stat info;
    std::string path(at.unixName());
    if (at.isAbstract() || ::lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode) || info.st_uid != ::geteuid())
        return;
    OpenDescriptor probe(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_storage address = {};
    unsigned size = at.toSystem(address);
    if (probe.get() >= 0 && ::connect(probe.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 &&
        errno == ECONNREFUSED)
        ::unlink(path.c_str());
}

} // namespace flow::net
