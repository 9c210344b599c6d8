#pragma once
// The requests of the console, and its answers.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flow::console {

struct ConsoleAnswer {
    char const* status = "200 OK"; // a literal
    char const* type = "text/plain; charset=utf-8";
    std::string body = {};
};

struct ConsoleRequest {
    std::string_view path, query; // parts of the request's head
};

/// Sets `request`, or returns the answer to a request that is not a valid GET.
std::optional<ConsoleAnswer> readRequest(std::string_view head, ConsoleRequest& request);

/// Returns 403 if a browser may have sent the request for a page of another site. A site can let its own name resolve
/// to this machine, so Host must be an address, localhost, or one of `hosts` (in any case). Sec-Fetch-Site must not be
/// cross-site, and Origin must be of this host.
std::optional<ConsoleAnswer> refuseForeign(std::string_view head, std::vector<std::string> const& hosts);

} // namespace flow::console
