#pragma once
// serveAside(): like serveUntil(), but the service manager gets no notice. For a server beside the program's own, such
// as a console.

#include "net/serve.h"

namespace flow::net {

Future<Void> serveAside(Reference<Listener> listener, Serve serve, Future<Void> stop, Seconds grace);

} // namespace flow::net
