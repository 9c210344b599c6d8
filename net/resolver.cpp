#include "net/resolver.h"

#include "flow/base/detail/sentence.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/loop.h"

#include <algorithm>

namespace flow::net {
namespace {

constexpr std::size_t kLongestName = 253;

char lowered(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

/// True for "localhost" and "*.localhost". These names mean this machine, so no name server is asked (RFC 6761).
bool isLocalhost(std::string_view name) {
    constexpr std::string_view kName = "localhost";
    if (name.ends_with('.'))
        name.remove_suffix(1);
    return name.ends_with(kName) && (name.size() == kName.size() || name[name.size() - kName.size() - 1] == '.');
}

/// Returns the loopback addresses. The simulated network has only IPv4.
std::vector<Address> loopback(std::uint16_t port) {
    std::vector<Address> all{Address(0x7F000001, port)};
    if (!Loop::current().isSimulated())
        all.push_back(*Address::parse("[::1]:" + std::to_string(port)));
    return all;
}

std::vector<Address> withPort(std::vector<Address> addresses, std::uint16_t port) {
    for (Address& each : addresses)
        each = each.withPort(port);
    return addresses;
}

Error hasNoAddress(std::string const& name) {
    return withPieces(lookup_failed(), {"look up \"", name, "\": the name has no address"});
}

} // namespace

std::optional<Address> numericAddress(std::string const& name, std::uint16_t port) {
    bool isV6 = name.find(':') != std::string::npos;
    std::string text = isV6 ? "[" + name + "]:" : name + ":";
    ParsedAddress parsed = Address::parse(text + std::to_string(port));
    if (!parsed || parsed->isUnix())
        return std::nullopt;
    return *parsed;
}

Future<std::vector<Address>> Resolver::resolve(std::string name, std::uint16_t port) {
    if (auto address = numericAddress(name, port))
        co_return std::vector<Address>{*address};
    std::transform(name.begin(), name.end(), name.begin(), lowered);
    if (name.empty() || name.size() > kLongestName || name.find('\0') != std::string::npos)
        throw withPieces(lookup_failed(), {"look up \"", name, "\": this is not a name"});
    if (isLocalhost(name))
        co_return loopback(port);
    if (auto place = kept_.find(name); place != kept_.end() && place->second.until > Loop::current().now()) {
        if (place->second.addresses.empty())
            throw hasNoAddress(name);
        co_return withPort(place->second.addresses, port);
    }
    std::erase_if(underWay_, [](auto const& each) { return each.second.expired(); });
    std::shared_ptr<UnderWay> own = underWay_[name].lock();
    if (!own) {
        own = std::make_shared<UnderWay>();
        underWay_[name] = own;
        own->found = lookUpAndKeep(name);
    }
    Found found = co_await own->found;
    if (found.addresses.empty())
        throw hasNoAddress(name);
    co_return withPort(std::move(found.addresses), port);
}

Future<Resolver::Found> Resolver::lookUpAndKeep(std::string name) {
    Found found = co_await lookUp(name);
    keep(name, found);
    co_return found;
}

void Resolver::keep(std::string const& name, Found const& found) {
    double seconds = std::min(found.seconds, found.addresses.empty() ? kNegative : kLongest);
    if (!(seconds > 0))
        return;
    double now = Loop::current().now();
    if (kept_.size() >= kMostNames && !kept_.contains(name)) {
        std::erase_if(kept_, [now](auto const& each) { return each.second.until <= now; });
        if (kept_.size() >= kMostNames)
            kept_.erase(std::min_element(kept_.begin(), kept_.end(),
                                         [](auto const& a, auto const& b) { return a.second.until < b.second.until; }));
    }
    kept_[name] = {found.addresses, now + seconds};
}

} // namespace flow::net
