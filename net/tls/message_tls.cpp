#include "net/tls/message_tls.h"

#include "flow/coro/coroutine.h"
#include "net/tls/tls_listener.h"

namespace flow::net {
namespace {

Future<Reference<Connection>> encrypt(Reference<Connection> carrier, Reference<TlsContext> context, std::string name) {
    Reference<TlsConnection> connection = co_await tlsClient(std::move(carrier), std::move(context), std::move(name));
    co_return connection;
}

} // namespace

void setTls(MessageOptions& options, Reference<TlsContext> context) {
    if (context->isServer()) {
        options.encryptListener = [context](Reference<Listener> carrier, std::function<void(Address const&)> failed) {
            auto listener = makeReference<TlsListener>(std::move(carrier), context);
            listener->onFailure(
                [failed = std::move(failed)](Address const& client, Error, std::string const&) { failed(client); });
            return Reference<Listener>(listener);
        };
    } else {
        options.encryptConnection = [context](Reference<Connection> carrier, std::string name) {
            return encrypt(std::move(carrier), context, std::move(name));
        };
    }
}

} // namespace flow::net
