#include "crawler.h"

#include <cstdio>

using namespace flow;

Future<Links> load(std::string page) {
    static std::map<std::string, Links> const pages = {
        {"home", {"news", "about", "slow"}}, {"news", {"home", "today"}}, {"about", {"home", "gone"}}, {"today", {}}};
    co_await delay(page == "slow" ? 10 : 0.05);
    auto found = pages.find(page);
    if (found == pages.end())
        throw file_not_found();
    co_return found->second;
}

int main() {
    RealLoop loop;
    Crawled crawled = loop.run(crawl(load, "home", {.atATime = 2, .perSecond = 50, .timeout = 0.5}));
    for (auto const& [page, links] : crawled.pages)
        std::printf("%s: %zu links\n", page.c_str(), links.size());
    for (auto const& [page, error] : crawled.errors)
        std::printf("%s: %s\n", page.c_str(), error.c_str());
}
