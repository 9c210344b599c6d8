#pragma once
// The bind benchmark: sockets are opened, bound at a free port of 127.0.0.1, listen (TCP) and close. Each style takes
// turns with the bare system calls, in batches and in both orders; the fastest tenth of the batches counts.
//
//     bool const added = addBind("libuv", tcp, udp);

#include <string>

namespace bench {

/// Does so with so many sockets, at most 64.
using BindWork = void (*)(int count);

/// Rows for 50 and for 100,000 sockets.
bool addBind(std::string const& style, BindWork tcp, BindWork udp);

} // namespace bench
