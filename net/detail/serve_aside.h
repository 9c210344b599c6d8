#pragma once
// serveAside(): serveUntil() for a server beside the program's own, such as a console: the service manager gets no
// notice of it.

#include "net/serve.h"

namespace flow::net {

Future<Void> serveAside(Reference<Listener> listener, Serve serve, Future<Void> stop, Seconds grace);

} // namespace flow::net
