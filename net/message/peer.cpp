#include "net/message/peer.h"

#include "flow/coro/coroutine.h"

#include <algorithm>
#include <cstring>

namespace flow::net {

Future<Void> Input::fill(std::size_t bytes) {
    while (static_cast<std::size_t>(rest_.size()) < bytes) {
        std::size_t missing = bytes - static_cast<std::size_t>(rest_.size());
        Bytes next = missing > kChunk ? co_await connection_->readExactly(static_cast<std::uint32_t>(
                                            std::min<std::size_t>(missing, Connection::kLargestRead)))
                                      : co_await connection_->read(kChunk);
        if (next.empty())
            throw rest_.empty() ? end_of_stream() : connection_cut_off();
        if (!rest_.empty()) {
            Bytes both = makeString(rest_.size() + next.size());
            std::memcpy(mutateString(both), rest_.begin(), static_cast<std::size_t>(rest_.size()));
            std::memcpy(mutateString(both) + rest_.size(), next.begin(), static_cast<std::size_t>(next.size()));
            next = both;
        }
        chunk_ = next;
        rest_ = chunk_;
    }
}

Bytes Input::own(std::string_view part) const {
    StringRef text(reinterpret_cast<std::uint8_t const*>(part.data()), static_cast<int>(part.size()));
    return part.size() <= kCopied ? Bytes(text) : Bytes(text, chunk_.arena());
}

} // namespace flow::net
