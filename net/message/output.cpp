#include "net/message/detail/output.h"

#include "flow/base/error.h"

#include <algorithm>
#include <bit>

namespace flow::net {

char* Output::room(std::size_t bytes) {
    if (slab_ && capacity_ - used_ >= bytes)
        return slab_->bytes() + used_;
    if (slab_ && sent_ == 0 && used_ + bytes <= 2 * kBatch && capacity_ < 2 * kBatch) {
        // Grows until it has room for the bytes of one flush(), at most 2 * kBatch. hint_ remembers the size.
        std::size_t wanted = std::clamp<std::size_t>(8 * std::size_t{capacity_}, used_ + bytes, 2 * kBatch);
        SlabRef larger = SlabRef::make(wanted);
        std::memcpy(larger->bytes(), slab_->bytes(), used_);
        slab_ = std::move(larger);
    } else {
        seal();
        slab_ = SlabRef::make(std::max<std::size_t>(hint_, bytes));
    }
    capacity_ = slab_->capacity();
    return slab_->bytes() + used_;
}

void Output::seal() {
    if (used_ != 0)
        ahead_.push(Piece{slab_, slab_->bytes(), used_, sent_, inSlab_});
    slab_.clear();
    sent_ = used_ = capacity_ = inSlab_ = 0;
}

void Output::appendSlow(std::string_view part) {
    if (part.size() > Message::kLargest - 9)
        throw value_too_large();
    std::size_t headerBytes = part.size() < 256 ? 2 : 9;
    char* to = room(headerBytes + part.size());
    to[0] = headerBytes == 2 ? 0 : 2;
    for (std::size_t i = 1; i < headerBytes; ++i)
        to[i] = static_cast<char>(std::uint64_t{part.size()} >> 8 * (headerBytes - 1 - i));
    std::copy(part.begin(), part.end(), to + headerBytes);
    note(headerBytes + part.size(), 1);
}

void Output::append(std::string_view frames, Message const& message) {
    std::string_view wire = message.wire();
    if (frames.empty() && wire.size() >= kLarge) {
        seal();
        ahead_.push(Piece{message.slab(), wire.data(), static_cast<std::uint32_t>(wire.size()), 0, 1});
        bytes_ += wire.size();
        ++messages_;
        return;
    }
    char* to = room(frames.size() + wire.size());
    std::copy(frames.begin(), frames.end(), to);
    std::copy(wire.begin(), wire.end(), to + frames.size());
    note(frames.size() + wire.size(), 1);
}

void Output::gone(std::size_t bytes) {
    bytes_ -= bytes;
    while (!ahead_.isEmpty()) {
        Piece& first = ahead_.front();
        if (bytes < first.size - first.sent) {
            first.sent += static_cast<std::uint32_t>(bytes);
            return;
        }
        bytes -= first.size - first.sent;
        messages_ -= first.messages;
        (void)ahead_.pop();
    }
    sent_ += static_cast<std::uint32_t>(bytes);
    if (slab_ && sent_ == used_) {
        hint_ = static_cast<std::uint32_t>(std::clamp<std::size_t>(std::bit_ceil(used_), kSmallest, 2 * kBatch));
        messages_ -= inSlab_;
        slab_.clear();
        sent_ = used_ = capacity_ = inSlab_ = 0;
    }
}

bool Output::flush(Connection& connection) {
    constexpr std::uint32_t kPieces = 63;
    while (bytes_ != 0) {
        StringRef pieces[kPieces + 1];
        std::uint32_t count = 0;
        std::size_t total = 0;
        auto add = [&](char const* data, std::uint32_t size) {
            pieces[count++] = StringRef(reinterpret_cast<std::uint8_t const*>(data), static_cast<int>(size));
            total += size;
        };
        while (count < std::min(kPieces, ahead_.size())) {
            Piece const& each = ahead_.at(count);
            add(each.data + each.sent, each.size - each.sent);
        }
        if (count == ahead_.size() && used_ != sent_)
            add(slab_->bytes() + sent_, used_ - sent_);
        std::size_t taken = connection.tryWrite({pieces, count});
        gone(taken);
        if (taken < total)
            return false;
    }
    return true;
}

void Output::takeOver(Piece const& piece) {
    std::string_view rest(piece.data, piece.size);
    std::size_t at = 0;
    while (!rest.empty()) {
        std::size_t size = 0;
        bool more = true, command = false;
        while (more && !command) {
            auto flags = static_cast<unsigned char>(rest[size]);
            command = (flags & 4) != 0;
            more = (flags & 1) != 0;
            size += (flags & 2) != 0 ? 9 + zmtp::readBigEndian(rest.substr(size + 1, 8))
                                     : 2 + std::size_t{static_cast<unsigned char>(rest[size + 1])};
        }
        if (!command && at + size > piece.sent)
            append({}, Message(piece.slab, rest.data(), static_cast<std::uint32_t>(size), 1));
        at += size;
        rest.remove_prefix(size);
    }
}

void Output::takeOver(Output& ended) {
    ended.seal();
    while (!ended.ahead_.isEmpty())
        takeOver(ended.ahead_.pop());
    ended.clear();
}

void Output::clear() {
    while (!ahead_.isEmpty())
        (void)ahead_.pop();
    slab_.clear();
    sent_ = used_ = capacity_ = inSlab_ = 0;
    bytes_ = messages_ = 0;
}

} // namespace flow::net
