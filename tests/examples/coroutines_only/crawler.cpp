#include "crawler.h"

#include "flow/sync/rate_limit.h"

#include <set>

using namespace flow;

namespace {

struct Crawl {
    Crawl(Load how, Limits limits)
        : load(std::move(how)), places(limits.atATime), pace({.perSecond = limits.perSecond, .burst = limits.atATime}),
          timeout(limits.timeout) {}

    Load load;
    Semaphore places;
    RateLimit pace;
    double timeout;
    std::set<std::string> seen;
    PromiseStream<std::string> found; // pages that are to be loaded
    Crawled result;
};

void find(Crawl* crawl, std::string const& page) {
    if (crawl->seen.insert(page).second)
        crawl->found.send(page);
}

// A coroutine takes its parameters by value, or by a pointer to what outlives it.
Future<Void> loadPage(Crawl* crawl, std::string page) {
    Semaphore::Permit place = co_await crawl->places.permit();
    co_await crawl->pace.take();
    ErrorOr<Links> links = co_await tryGet(timeoutError(crawl->load(page), crawl->timeout));
    if (links.isError()) {
        crawl->result.errors[page] = links.getError().name();
    } else {
        crawl->result.pages[page] = links.get();
        for (std::string const& link : links.get())
            find(crawl, link);
    }
}

} // namespace

Future<Crawled> crawl(Load load, std::string start, Limits limits) {
    Crawl crawl(std::move(load), limits);
    Scope loading; // destroyed before `crawl`: if this coroutine is cancelled, so are they
    find(&crawl, start);
    FutureStream<std::string> found = crawl.found.getFuture();
    while (true) {
        auto next = co_await race(found, loading.join());
        if (next.index() == 1)
            co_return std::move(crawl.result);
        loading.spawn(loadPage(&crawl, std::get<0>(next)));
    }
}
