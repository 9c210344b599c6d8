#include "crawler.h"

#include <set>

using namespace flow;

namespace {

struct Crawl {
    Crawl(Load how, int atATime, double timeout)
        : load(std::move(how)), places(static_cast<std::size_t>(atATime)), seconds(timeout) {}

    Load load;
    Semaphore places;
    double seconds;
    std::set<std::string> seen;
    PromiseStream<std::string> found; // pages that are to be loaded
    Crawled result;
    int open = 0; // pages that are found and neither loaded nor failed
};

void find(Crawl* crawl, std::string const& page) {
    if (crawl->seen.insert(page).second) {
        ++crawl->open;
        crawl->found.send(page);
    }
}

// A coroutine takes its parameters by value, or by a pointer to what outlives it.
Future<Void> loadPage(Crawl* crawl, std::string page) {
    Semaphore::Permit place = co_await crawl->places.permit();
    ErrorOr<Links> links = co_await tryGet(timeoutError(crawl->load(page), crawl->seconds));
    --crawl->open;
    if (links.isError()) {
        crawl->result.errors[page] = links.getError().name();
    } else {
        crawl->result.pages[page] = links.get();
        for (std::string const& link : links.get())
            find(crawl, link);
    }
    if (crawl->open == 0)
        crawl->found.sendError(end_of_stream());
}

} // namespace

Future<Crawled> crawl(Load load, std::string start, int atATime, double seconds) {
    Crawl crawl(std::move(load), atATime, seconds);
    Scope loading; // destroyed before `crawl`: if this coroutine is cancelled, so are they
    find(&crawl, start);
    FutureStream<std::string> found = crawl.found.getFuture();
    try {
        while (true) {
            std::string page = co_await found;
            loading.spawn(loadPage(&crawl, page));
        }
    } catch (Error& e) {
        if (e.code() != error_code_end_of_stream)
            throw;
    }
    co_await loading.join(); // the coroutine that has ended `found` still runs, and uses `crawl`
    co_return std::move(crawl.result);
}
