#include "net/message/detail/input.h"

#include <algorithm>
#include <cstring>

namespace flow::net {

using zmtp::Fault;

Input::Found Input::find(zmtp::Limits const& limits) {
    for (;;) {
        zmtp::Parsed parsed =
            zmtp::parseFrame({bytes() + scan_, end_ - scan_}, limits, limits.messageBytes - bodyBytes_, frame_);
        fault_ = parsed.fault;
        if (fault_ == Fault::None && parsed.used != 0 && !frame_.command && parts_ == limits.parts)
            fault_ = Fault::TooManyParts;
        if (fault_ != Fault::None)
            return Found::Fault;
        if (parsed.used == 0) {
            need_ = static_cast<std::uint32_t>(parsed.need);
            return Found::Nothing;
        }
        auto used = static_cast<std::uint32_t>(parsed.used);
        if (frame_.command) {
            commandBody_.assign(frame_.body);
            frame_.body = commandBody_;
            scan_ += used;
            gap_ += used;
            if (messages_ == 0 && parts_ == 0) {
                begin_ = scan_;
                gap_ = 0;
            }
            return Found::Command;
        }
        if (gap_ != 0) // moves each part only once, for any number of commands before it
            std::memmove(bytes() + scan_ - gap_, bytes() + scan_, used);
        scan_ += used;
        ++parts_;
        bodyBytes_ += frame_.body.size();
        if (frame_.more)
            continue;
        lastParts_ = std::exchange(parts_, 0);
        bodyBytes_ = 0;
        ++messages_;
        return Found::Message;
    }
}

std::uint32_t Input::skip(std::uint32_t& parts) const {
    parts = 0;
    std::uint32_t at = begin_;
    for (;;) {
        auto flags = static_cast<unsigned>(bytes()[at]);
        std::size_t size = (flags & 2) != 0 ? zmtp::readBigEndian({bytes() + at + 1, 8}) + 9
                                            : std::size_t{static_cast<unsigned char>(bytes()[at + 1])} + 2;
        at += static_cast<std::uint32_t>(size);
        ++parts;
        if ((flags & 1) == 0)
            return at;
    }
}

void Input::closeGap() {
    if (gap_ == 0)
        return;
    std::memmove(bytes() + scan_ - gap_, bytes() + scan_, end_ - scan_);
    scan_ -= gap_;
    end_ -= gap_;
    gap_ = 0;
}

void Input::moveTo(SlabRef slab) {
    if (end_ != begin_)
        std::memcpy(slab->bytes(), bytes() + begin_, end_ - begin_);
    slab_ = std::move(slab);
    scan_ -= begin_;
    end_ -= begin_;
    begin_ = 0;
}

/// Makes room for the next frame, or for a part of it if it is large.
void Input::makeRoom() {
    closeGap();
    if (begin_ == end_ && slab_) {
        if (slab_.isSole())
            begin_ = scan_ = end_ = 0;
        else
            slab_.clear();
    }
    if (!slab_) {
        begin_ = scan_ = end_ = 0;
        slab_ = SlabRef::make(SlabRef::kBytes);
        return;
    }
    std::size_t have = end_ - begin_, whole = std::size_t{scan_} - begin_ + need_;
    std::size_t missing = whole > have ? whole - have : 1;
    std::size_t room = slab_->capacity() - end_;
    if (room >= std::min<std::size_t>(missing, SlabRef::kBytes) &&
        (room >= SlabRef::kBytes / 4 || have > slab_->capacity() / 2))
        return;
    // With large frames, the new slab has room for up to eight of them, so few are moved. The room grows only as bytes
    // arrive: a peer that only announces a large frame causes no large allocation.
    bool isLarge = need_ > SlabRef::kBytes / 8;
    std::size_t wanted = SlabRef::kBytes;
    if (isLarge && (have >= SlabRef::kBytes / 2 || slab_->capacity() > SlabRef::kBytes)) {
        std::size_t most = slab_->capacity() > SlabRef::kBytes ? kLargestSlab : 4 * have;
        wanted = std::max(wanted, std::min<std::size_t>(8 * std::size_t{need_}, most));
    }
    moveTo(SlabRef::make(std::max(wanted, have + std::min(std::max(missing, SlabRef::kBytes), have))));
}

Input::Read Input::read(Connection& connection) {
    makeRoom();
    std::optional<std::size_t> count = connection.tryReadSome(std::span(bytes() + end_, slab_->capacity() - end_));
    if (!count)
        return Read::Nothing;
    end_ += static_cast<std::uint32_t>(*count);
    return *count == 0 ? Read::End : Read::Some;
}

void Input::rest() {
    closeGap();
    std::size_t have = end_ - begin_;
    if (!slab_ || have > SlabRef::kBytes / 16 || slab_->capacity() <= 4 * have)
        return;
    if (have == 0) {
        slab_.clear();
        begin_ = scan_ = end_ = 0;
    } else {
        moveTo(SlabRef::make(2 * have));
    }
}

} // namespace flow::net
