#pragma once
// secure(): TLS for the example servers, if the command line asks for TLS.
//
//     Options options = takeOptions(arguments, 1, {"--cert", "--key"});
//     serve(arguments[0], echo, secure(options, {}));

#include "net/examples/program.h"

/// Returns a function for serve() that adds TLS to a listener, with the PEM files of --cert and --key. Without both
/// options, returns no function. `protocols` are for ALPN, the preferred one first. Throws WrongArgument if only one
/// option is given, if a file cannot be used, or if this build has no TLS.
Wrap secure(Options const& options, std::vector<std::string> const& protocols);
