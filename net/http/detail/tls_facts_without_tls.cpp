#include "net/http/detail/service.h"

namespace flow::net::http::detail {

std::shared_ptr<TlsFacts const> tlsFactsOf(Connection&) {
    return nullptr;
}

} // namespace flow::net::http::detail
