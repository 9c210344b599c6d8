#include "net/real/standard_streams.h"

#include "flow/base/format.h"
#include "net/real/adopt.h"
#include "net/real/detail/real_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace flow::net {
namespace {

constexpr int kBoth = RealStream::Reads | RealStream::Writes;

RealNetwork& networkFor(char const* function) {
    bool isSimulated = Loop::current().isSimulated();
    auto* network = isSimulated ? nullptr : dynamic_cast<RealNetwork*>(&transport());
    if (!network)
        throw unsupported_operation().withSentence(
            format("%s: %s; give the code that reads and writes a Connection", function,
                   isSimulated ? "a simulation has no such streams" : "the loop does not have the machine's network"));
    return *network;
}

/// Returns the directions among `wanted` for which the descriptor is open. Throws if there is none.
int directionsOf(int descriptor, int wanted, char const* function) {
    int flags = ::fcntl(descriptor, F_GETFL);
    int access = flags & O_ACCMODE;
    int open = flags < 0 || (flags & O_PATH) ? 0
               : access == O_RDONLY          ? RealStream::Reads
               : access == O_WRONLY          ? RealStream::Writes
                                             : kBoth;
    if (open & wanted)
        return open & wanted;
    throw client_invalid_operation().withSentence(format("%s: descriptor %d is not open%s", function, descriptor,
                                                         open == 0                     ? ""
                                                         : wanted == RealStream::Reads ? " for reading"
                                                                                       : " for writing"));
}

bool isSocket(struct stat const& info) {
    return S_ISSOCK(info.st_mode);
}

bool areSameSocket(int a, int b) {
    struct stat first, second;
    return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && isSocket(first) && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

Reference<Connection> standardStream(int number, int direction, char const* function, char const* name) {
    RealNetwork& network = networkFor(function);
    Reference<Connection>& kept = network.standardStream(number);
    if (kept)
        return kept;
    struct stat info;
    (void)directionsOf(number, direction, function);
    if (::fstat(number, &info) != 0 || !isSocket(info))
        return kept = makeReference<RealStream>(network, number, direction, name);
    Reference<Connection> const& other = network.standardStream(1 - number);
    if (other && areSameSocket(0, 1))
        return kept = other;
    OpenDescriptor copy(::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    kept = adoptConnection(copy.get());
    (void)copy.release();
    return kept;
}

} // namespace

Reference<Connection> standardInput() {
    return standardStream(STDIN_FILENO, RealStream::Reads, "standardInput()", "standard input");
}

Reference<Connection> standardOutput() {
    return standardStream(STDOUT_FILENO, RealStream::Writes, "standardOutput()", "standard output");
}

Reference<Connection> adoptStream(int descriptor) {
    RealNetwork& network = networkFor("adoptStream()");
    int directions = directionsOf(descriptor, kBoth, "adoptStream()");
    struct stat info;
    if (::fstat(descriptor, &info) == 0 && isSocket(info))
        return adoptConnection(descriptor);
    auto stream = makeReference<RealStream>(network, descriptor, directions, format("descriptor %d", descriptor));
    ::close(descriptor); // the stream has opened or copied it
    return stream;
}

} // namespace flow::net
