#include "net/examples/secure.h"

Wrap secure(Options const& options, std::vector<std::string> const&) {
    if (options.contains("--cert") || options.contains("--key"))
        throw WrongArgument{"this program was built without OpenSSL: it has no TLS"};
    return {};
}
