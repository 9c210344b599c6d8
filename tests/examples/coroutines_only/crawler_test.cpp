#include "crawler.h"

#include "flow/test.h"

using namespace flow;

// Page n names the pages 2n and 2n + 1 up to 31; each takes a second.
static Future<Links> loadTree(std::string page, int* running, int* most) {
    *most = std::max(*most, ++*running);
    co_await delay(1);
    --*running;
    int number = std::stoi(page);
    Links links;
    for (int link : {2 * number, 2 * number + 1, number / 2})
        if (link >= 1 && link <= 31)
            links.push_back(std::to_string(link));
    co_return links;
}

TEST_CASE("/crawler/each page is loaded once, and four at a time") {
    int running = 0, most = 0;
    Load load = [&](std::string page) { return loadTree(page, &running, &most); };
    Limits limits{.atATime = 4, .perSecond = 100, .timeout = 10};
    Crawled crawled = co_await crawl(load, "1", limits);
    ASSERT_EQ(crawled.pages.size(), 31u);
    ASSERT_EQ(most, 4);
    ASSERT_EQ(now(), 9); // seconds, of 1, 2, 4 and 24 pages
}

static Future<Links> failOrHang(std::string page) {
    if (page == "start")
        co_return Links{"wrong", "slow"};
    if (page == "wrong")
        throw io_error();
    co_await Future<Void>(Never());
    co_return Links();
}

TEST_CASE("/crawler/pages that fail do not stop the others") {
    Limits limits{.atATime = 1, .perSecond = 1, .timeout = 5};
    Crawled crawled = co_await crawl(failOrHang, "start", limits);
    ASSERT_EQ(crawled.pages.size(), 1u);
    ASSERT(crawled.errors["wrong"] == "io_error");
    ASSERT(crawled.errors["slow"] == "timed_out");
    ASSERT_EQ(now(), 7); // each page is begun a second after the one before; the last one takes too long
}

TEST_CASE("/crawler/a cancel ends all loads") {
    int running = 0, most = 0;
    Load load = [&](std::string page) { return loadTree(page, &running, &most); };
    Limits limits{.atATime = 4, .perSecond = 100, .timeout = 10};
    Future<Crawled> crawling = crawl(load, "1", limits);
    co_await delay(1.5);
    ASSERT_EQ(running, 2);
    crawling = Future<Crawled>();
    co_await delay(10);
    ASSERT_EQ(running, 2); // neither has gone on
}
