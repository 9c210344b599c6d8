#pragma once
// secure(): TLS for the examples that serve, if their command line asks for it.
//
//     Options options = takeOptions(arguments, 1, {"--cert", "--key"});
//     serve(arguments[0], echo, secure(options, {}));

#include "net/examples/program.h"

/// Encrypts the listener for serve(). With --cert FILE and --key FILE, PEM both, clients must speak TLS; without them
/// it changes nothing. `protocols` are those for ALPN, the preferred one first. Throws WrongArgument if one of the two
/// is missing, if a file cannot be used, or if this build has no TLS.
Wrap secure(Options const& options, std::vector<std::string> const& protocols);
