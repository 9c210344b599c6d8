#pragma once
// secure(): TLS for those examples that are servers, if the command line asks for TLS.
//
//     Options options = takeOptions(arguments, 1, {"--cert", "--key"});
//     serve(arguments[0], echo, secure(options, {}));

#include "net/examples/program.h"

/// Returns a function for serve() that encrypts a listener. With --cert FILE and --key FILE, both PEM, clients must
/// speak TLS; without both options, nothing changes. `protocols` are for ALPN, the preferred one first. Throws
/// WrongArgument if only one option is given, if a file cannot be used, or if this build has no TLS.
Wrap secure(Options const& options, std::vector<std::string> const& protocols);
