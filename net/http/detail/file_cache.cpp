#include "net/http/detail/file_cache.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/loop.h"
#include "flow/wait/delay.h"

#include <algorithm>

namespace flow::net::http::detail {

CachedFile const* FileCache::find(std::string const& path) {
    auto place = files_.find(path);
    if (place == files_.end())
        return nullptr;
    CachedFile& found = place->second;
    if (now() - found.opened >= seconds_ || !found.file->isCurrent()) {
        files_.erase(place);
        return nullptr;
    }
    found.used = ++uses_;
    return &found;
}

void FileCache::add(std::string const& path, CachedFile file) {
    if (most_ == 0)
        return;
    if (files_.size() >= most_ && !files_.contains(path))
        files_.erase(std::min_element(files_.begin(), files_.end(),
                                      [](auto const& a, auto const& b) { return a.second.used < b.second.used; }));
    file.opened = now();
    file.used = ++uses_;
    files_.insert_or_assign(path, std::move(file));
    if (closing_.isReady())
        closing_ = closeOld(this);
}

Future<Void> FileCache::closeOld(FileCache* cache) {
    while (!cache->files_.empty()) {
        co_await delay(cache->seconds_);
        std::erase_if(cache->files_, [&](auto const& each) { return now() - each.second.opened >= cache->seconds_; });
    }
}

} // namespace flow::net::http::detail
