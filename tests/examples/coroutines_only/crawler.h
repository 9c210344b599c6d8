#pragma once
// crawl: loads a page, the pages that it names, and so on: each once, and only so many at a time.

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

/// A page that takes longer than `seconds` has failed, and does not keep the others from going on.
flow::Future<Crawled> crawl(Load load, std::string start, int atATime, double seconds);
