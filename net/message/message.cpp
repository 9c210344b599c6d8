#include "net/message/message.h"

#include "flow/base/assert.h"
#include "flow/base/error.h"

#include <algorithm>

namespace flow::net {
namespace {

constexpr char kMore = 1;

char* writeHeader(char* to, std::size_t body) {
    bool isLong = body > 255;
    *to++ = isLong ? 2 : 0;
    for (int shift = isLong ? 56 : 0; shift >= 0; shift -= 8)
        *to++ = static_cast<char>(body >> shift);
    return to;
}

} // namespace

Message Message::to(std::string_view routingId) {
    Message message;
    message.route_ = makeReference<Route>(routingId);
    return message;
}

Message& Message::add(std::string_view part) & {
    std::size_t total = bytes_ + zmtp::frameBytes(part.size());
    if (part.size() > kLargest || total > kLargest)
        throw value_too_large();
    std::size_t used = slab_ ? static_cast<std::size_t>(wire_ - slab_->bytes()) + bytes_ : 0;
    SlabRef before; // keeps the old slab during the copy: `part` may be in it
    if (!slab_ || !slab_.isSole() || slab_->capacity() - used < total - bytes_) {
        before = SlabRef::make(parts_ == 0 ? total : std::max<std::size_t>(total, 2 * std::size_t{bytes_}));
        std::copy(wire_, wire_ + bytes_, before->bytes());
        std::swap(slab_, before);
        wire_ = slab_->bytes();
    }
    if (parts_ != 0)
        *const_cast<char*>(frame(parts_ - 1)) |= kMore;
    char* at = const_cast<char*>(wire_) + bytes_;
    std::copy(part.begin(), part.end(), writeHeader(at, part.size()));
    bytes_ = static_cast<std::uint32_t>(total);
    ++parts_;
    return *this;
}

char const* Message::frame(std::size_t index) const {
    char const* at = wire_;
    for (std::size_t i = 0; i < index; ++i) {
        std::string_view part = *Iterator(at);
        at = part.data() + part.size();
    }
    return at;
}

std::string_view Message::operator[](std::size_t index) const {
    FLOW_ASSERT(index < parts_, "Message: there are not so many parts");
    return *Iterator(frame(index));
}

std::size_t Message::bytes() const {
    std::size_t bytes = 0;
    for (std::string_view part : *this)
        bytes += part.size();
    return bytes;
}

Message Message::own() const {
    return join({}, 0, *this);
}

Message Message::front(std::size_t parts) const {
    return Message(slab_, wire_, static_cast<std::uint32_t>(frame(parts) - wire_), static_cast<std::uint32_t>(parts));
}

Message Message::behind(std::size_t parts) const {
    char const* at = frame(parts);
    return Message(slab_, at, bytes_ - static_cast<std::uint32_t>(at - wire_),
                   parts_ - static_cast<std::uint32_t>(parts));
}

Message Message::join(std::string_view frames, std::size_t parts, Message const& rest) {
    std::size_t total = frames.size() + rest.bytes_;
    if (total > kLargest)
        throw value_too_large();
    SlabRef slab = SlabRef::make(total);
    std::copy(frames.begin(), frames.end(), slab->bytes());
    std::copy(rest.wire_, rest.wire_ + rest.bytes_, slab->bytes() + frames.size());
    Message joined(slab, slab->bytes(), static_cast<std::uint32_t>(total),
                   static_cast<std::uint32_t>(parts) + rest.parts_);
    joined.route_ = rest.route_;
    return joined;
}

} // namespace flow::net
