#pragma once
// crawl: loads a page, the pages that it names, and so on: each once, only so many at a time, and so many a second.

#include "flow/flow.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

using Links = std::vector<std::string>;
/// Loads the page of that name, and gives the names in it.
using Load = std::function<flow::Future<Links>(std::string)>;

struct Crawled {
    std::map<std::string, Links> pages;
    std::map<std::string, std::string> errors; // by page
};

struct Limits {
    std::size_t atATime;
    double perSecond; // after a burst of `atATime` pages
    double timeout;   // seconds; a page that takes longer has failed, and does not keep the others from going on
};

flow::Future<Crawled> crawl(Load load, std::string start, Limits limits);
