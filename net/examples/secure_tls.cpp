#include "net/examples/secure.h"

#include "net/tls/tls_listener.h"

using namespace flow;
using namespace flow::net;

Wrap secure(Options const& options, std::vector<std::string> const& protocols) {
    auto certificate = options.find("--cert"), key = options.find("--key");
    if (certificate == options.end() && key == options.end())
        return {};
    if (certificate == options.end() || key == options.end())
        throw WrongArgument{"TLS needs both --cert and --key"};
    TlsServerOptions settings;
    settings.identities = {{certificate->second, key->second}};
    settings.protocols = protocols;
    try {
        return [context = TlsContext::server(settings)](Reference<Listener> plain) -> Reference<Listener> {
            return makeReference<TlsListener>(plain, context);
        };
    } catch (Error& error) {
        throw WrongArgument{error.what()};
    }
}
