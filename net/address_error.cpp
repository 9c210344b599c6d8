#include "net/detail/address_error.h"

#include "flow/base/detail/sentence.h"

#include <cerrno>
#include <cstdio>
#include <string>

namespace flow::net {

Error errorOfSystem(int number) {
    switch (number) {
    case ECONNREFUSED:
    case ENOENT: // the path of a Unix socket does not exist
        return connection_refused();
    case ETIMEDOUT:
        return connection_timed_out();
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN:
    case ENETDOWN:
        return host_unreachable();
    case ECONNRESET:
    case ECONNABORTED:
    case EPIPE:
        return connection_reset();
    case EADDRINUSE:
        return address_in_use();
    case EADDRNOTAVAIL:
        return invalid_local_address();
    case EACCES:
    case EPERM:
        return not_allowed();
    case EAFNOSUPPORT:
        return unsupported_operation();
    default:
        return platform_error();
    }
}

Error errorOfCall(int number) {
    return errorOfSystem(number).withSentence(systemText(number));
}

Error errorAt(Error error, std::string_view call, Address const& at) noexcept {
    try {
        std::string address = at.toString();
        return withPieces(error, {call, " ", address, ": ", error.what()});
    } catch (std::bad_alloc const&) {
        return error;
    }
}

Error connectTimedOut(std::string_view to, double seconds) noexcept {
    char limit[32];
    std::snprintf(limit, sizeof limit, "%g s", seconds);
    return withPieces(connection_timed_out(), {"connect to ", to, ": no answer within ", limit});
}

} // namespace flow::net
