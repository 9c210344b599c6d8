#include "net/real/detail/ares_resolver.h"

#include "flow/base/detail/sentence.h"
#include "flow/core/operation.h"

#include <algorithm>
#include <ares.h>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace flow::net {

/// Links c-ares to a Lookup. c-ares uses this object until it calls onAnswer().
struct AresResolver::Query {
    Lookup* lookup; // null: the lookup was cancelled
};

class AresResolver::Lookup : public Operation<Lookup, Found>, Turn {
public:
    Lookup(AresResolver& resolver, std::string name)
        : Turn([](Turn& self) { static_cast<Lookup&>(self).end(); }), resolver_(&resolver), query_(new Query{this}),
          name_(std::move(name)) {
        ares_addrinfo_hints hints = {};
        hints.ai_family = AF_UNSPEC;
        hints.ai_socktype = SOCK_STREAM; // gives each address once
        ++resolver.waiting_;
        ares_getaddrinfo(resolver.channel_, name_.c_str(), nullptr, &hints, onAnswer, query_);
    }
    ~Lookup() {
        if (query_)
            query_->lookup = nullptr;
        if (resolver_)
            resolver_->leave();
    }

    void describe(Description& out) const { out.text = "the addresses of " + name_; }

private:
    friend class AresResolver;

    /// Records the answer. c-ares is the caller, so no user code may run here: end() completes the lookup later.
    void note(int status, ares_addrinfo const* answer) {
        query_ = nullptr;
        if (status == ARES_EDESTRUCTION) {
            takeBack();
            resolver_ = nullptr;
            return;
        }
        status_ = status;
        found_.seconds = kNegative;
        try {
            if (status == ARES_SUCCESS)
                take(*answer);
        } catch (...) {
            status_ = ARES_ENOMEM;
        }
        ask(TaskPriority::ReadSocket);
    }
    void take(ares_addrinfo const& answer) {
        found_.seconds = kLongest;
        for (ares_addrinfo_node* each = answer.nodes; each; each = each->ai_next) {
            if (auto address = Address::fromSystem(each->ai_addr, static_cast<unsigned>(each->ai_addrlen)))
                found_.addresses.push_back(*address);
            found_.seconds = std::min<double>(found_.seconds, each->ai_ttl);
        }
    }
    void end() {
        switch (status_) {
        case ARES_SUCCESS:
        case ARES_ENOTFOUND:
        case ARES_ENODATA:
        case ARES_EBADNAME:
            return complete(std::move(found_));
        case ARES_ETIMEOUT:
            return fail(failure(timed_out(), "no name server has answered"));
        default:
            return fail(failure(operation_failed(), ares_strerror(status_)));
        }
    }

    Error failure(Error error, std::string_view reason) const {
        return withPieces(error, {"look up \"", name_, "\": ", reason});
    }

    AresResolver* resolver_; // null: the resolver has ended
    Query* query_;           // null: c-ares has called back
    std::string name_;
    int status_ = 0;
    Found found_;
};

AresResolver::AresResolver(NetworkPoller& poller, ResolverOptions const& options) : poller_(poller) {
    ares_options settings = {};
    settings.timeout = static_cast<int>(std::clamp<double>(options.timeout, 0.001, 1e6) * 1e3);
    settings.tries = std::max(options.tries, 1);
    settings.sock_state_cb = [](void* self, ares_socket_t descriptor, int readable, int writable) {
        onSocket(self, descriptor, readable, writable);
    };
    settings.sock_state_cb_data = this;
    int mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB;
    if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS)
        throw platform_error();
    std::string servers;
    for (Address const& each : options.servers)
        servers += (servers.empty() ? "" : ",") + each.toString();
    int status = ares_init_options(&channel_, &settings, mask);
    if (status == ARES_SUCCESS && !servers.empty() &&
        (status = ares_set_servers_ports_csv(channel_, servers.c_str())) != ARES_SUCCESS)
        ares_destroy(channel_);
    if (status != ARES_SUCCESS) {
        ares_library_cleanup();
        throw platform_error();
    }
}

AresResolver::~AresResolver() {
    ares_destroy(channel_);
    ares_library_cleanup();
}

Future<Resolver::Found> AresResolver::lookUp(std::string name) {
    Future<Found> found = start<Lookup>(*this, std::move(name));
    again_.ask(TaskPriority::ReadSocket);
    return found;
}

void AresResolver::onAnswer(void* query, int status, int, ares_addrinfo* answer) {
    std::unique_ptr<Query> own(static_cast<Query*>(query));
    if (own->lookup)
        own->lookup->note(status, answer);
    if (answer)
        ares_freeaddrinfo(answer);
}

void AresResolver::onSocket(void* self, int descriptor, int readable, int writable) {
    auto& resolver = *static_cast<AresResolver*>(self);
    auto place = resolver.servers_.find(descriptor);
    if (!readable && !writable) { // c-ares is about to close the socket
        if (place == resolver.servers_.end())
            return;
        resolver.poller_.remove(place->second);
        resolver.servers_.erase(place);
        return;
    }
    try {
        if (place == resolver.servers_.end()) {
            place = resolver.servers_.try_emplace(descriptor, resolver, descriptor).first;
            resolver.poller_.add(place->second);
        }
        place->second.wantsToRead = readable;
        place->second.wantsToWrite = writable;
        resolver.again_.ask(TaskPriority::ReadSocket);
    } catch (...) { // the socket cannot be watched: its requests end at their deadline
    }
}

void AresResolver::goOn() {
    std::vector<pollfd> asked;
    for (auto const& [descriptor, server] : servers_)
        asked.push_back({descriptor,
                         static_cast<short>((server.wantsToRead ? POLLIN : 0) | (server.wantsToWrite ? POLLOUT : 0)),
                         0});
    bool hasMore = ::poll(asked.data(), asked.size(), 0) > 0;
    for (pollfd const& each : asked)
        if (each.revents != 0) {
            bool failed = each.revents & (POLLERR | POLLHUP);
            ares_process_fd(channel_, failed || (each.revents & POLLIN) ? each.fd : ARES_SOCKET_BAD,
                            failed || (each.revents & POLLOUT) ? each.fd : ARES_SOCKET_BAD);
        }
    if (hasMore)
        again_.ask(TaskPriority::DefaultDelay); // after other work: a server may send without end
    else
        ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD); // handles overdue requests
    deadline_.takeBack();
    timeval left;
    if (waiting_ != 0 && ares_timeout(channel_, nullptr, &left))
        deadline_.askAt(Loop::current().now() + static_cast<double>(left.tv_sec) +
                            static_cast<double>(left.tv_usec) / 1e6,
                        TaskPriority::ReadSocket);
}

void AresResolver::leave() {
    if (--waiting_ != 0)
        return;
    deadline_.takeBack();
    ares_cancel(channel_);
}

} // namespace flow::net
