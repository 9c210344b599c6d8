#include "net/postgres/pool.h"

#include "flow/tasks/scope.h"
#include "net/pool.h"
#include "net/postgres/detail/link.h"

namespace flow::net::postgres {
namespace {

using internals::Link;
using Links = net::Pool<Link>;

Future<Void> giveBackLater(Links::Lease lease) {
    internals::Use use(lease.connection());
    Future<Void> settling = Link::settle(use);
    co_await std::move(settling);
    if (use.link->isUsable())
        lease.giveBack();
}

/// What the copies of a handle share.
struct Held {
    explicit Held(Links::Lease l) : lease(std::move(l)) {}
    Held(Held const&) = delete;
    ~Held() {
        Reference<Link> link = lease.connection();
        try {
            if (!link->isUsable())
                lease.close();
            else if (link->isSettled())
                lease.giveBack();
            else
                shield(giveBackLater(std::move(lease)), link->options.cleanUp + 1);
        } catch (...) { // out of memory
            link->fail(currentError());
        }
    }
    Links::Lease lease;
};

Future<internals::Use> useOf(Future<Links::Lease> acquiring) {
    Links::Lease lease = co_await std::move(acquiring);
    Reference<Link> link = lease.connection();
    auto held = std::make_shared<Held>(std::move(lease));
    co_return internals::Use(std::move(link), std::move(held));
}

Future<Connection> handleOf(Future<internals::Use> acquiring) {
    internals::Use use = co_await std::move(acquiring);
    co_return Connection(std::move(use));
}

Links::Make makerOf(std::string url, Options options) {
    internals::check(options);
    return [url = std::move(url), options] { return internals::connectLink(url, options); };
}

} // namespace

struct Pool::State {
    State(std::string url, PoolOptions const& o)
        : links(makerOf(std::move(url), o.connection),
                {.most = o.most, .waiters = o.waiters, .idle = o.idle, .name = o.name, .isHealthy = isHealthy}) {}
    static bool isHealthy(Link& link) { return link.isUsable() && link.isSettled(); }

    Links links;
};

Pool::Pool(std::string url, PoolOptions options) : state_(std::make_unique<State>(std::move(url), options)) {}
Pool::~Pool() = default;

Future<internals::Use> Pool::use() {
    return useOf(state_->links.acquire());
}
Future<Connection> Pool::acquire() {
    return handleOf(use());
}
Future<Transaction> Pool::begin(std::string mode) {
    return internals::begin(use(), std::move(mode));
}
void Pool::close() noexcept {
    state_->links.close();
}

} // namespace flow::net::postgres
