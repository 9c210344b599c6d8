#include "net/message/detail/topic_set.h"

#include "flow/base/random.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace flow::net {
namespace {

/// A hash for growing prefixes of a text: a polynomial in a secret number, so no peer can choose topics with the same
/// hash. Collisions cost only time.
class PrefixHash {
public:
    void extend(std::string_view bytes) {
        for (char each : bytes)
            value_ = multiply(value_, base()) + static_cast<unsigned char>(each) + 1;
    }
    std::uint64_t value() const { return value_ ^ value_ >> 32; }

private:
    static constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;

    static std::uint64_t base() {
        thread_local std::uint64_t const number = nondeterministicRandom()->randomUInt64() % (kPrime - 1000) + 500;
        return number;
    }
    static std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
        unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
        std::uint64_t sum = static_cast<std::uint64_t>(product & kPrime) + static_cast<std::uint64_t>(product >> 61);
        return sum >= kPrime ? sum - kPrime : sum;
    }
    std::uint64_t value_ = 0;
};

std::uint64_t hashOf(std::string_view topic) {
    PrefixHash hash;
    hash.extend(topic);
    return hash.value();
}

} // namespace

std::uint32_t TopicSet::headerAt(std::size_t place) const {
    std::uint32_t header;
    std::memcpy(&header, block_.data() + place, sizeof header);
    return header;
}

void TopicSet::setHeader(std::size_t place, std::uint32_t header) {
    std::memcpy(block_.data() + place, &header, sizeof header);
}

bool TopicSet::isAt(std::size_t place, std::string_view topic) const {
    return headerAt(place) == topic.size() && std::string_view(block_).substr(place + kHeader, topic.size()) == topic;
}

std::size_t TopicSet::slotOf(std::uint64_t hash, std::string_view topic) const {
    std::size_t mask = slots_.size() - 1, slot = hash & mask;
    while (slots_[slot] != kFree && (slots_[slot] == kHole || !isAt(slots_[slot], topic)))
        slot = (slot + 1) & mask;
    return slot;
}

bool TopicSet::add(std::string_view topic) {
    if (4 * (taken_ + 1) > 3 * slots_.size())
        rebuild(count_ + 1);
    std::size_t slot = slotOf(hashOf(topic), topic);
    if (slots_[slot] != kFree)
        return false;
    std::size_t place = block_.size();
    if (block_.capacity() < place + kHeader + topic.size()) // grow in small steps: many peers have few topics
        block_.reserve(place + kHeader + topic.size() + place / 2);
    countLength(topic.size(), 1);
    block_.resize(place + kHeader);
    setHeader(place, static_cast<std::uint32_t>(topic.size()));
    block_.append(topic);
    slots_[slot] = static_cast<std::uint32_t>(place);
    ++taken_;
    ++count_;
    bytes_ += topic.size();
    return true;
}

void TopicSet::removeAt(std::size_t slot) {
    std::size_t place = slots_[slot];
    std::uint32_t size = headerAt(place);
    setHeader(place, size | kRemoved);
    slots_[slot] = kHole;
    countLength(size, -1);
    bytes_ -= size;
    if (--count_ == 0)
        *this = TopicSet();
    else if (block_.size() > 2 * (bytes_ + count_ * kHeader) + 64)
        rebuild(count_);
}

bool TopicSet::remove(std::string_view topic) {
    if (count_ == 0)
        return false;
    std::size_t slot = slotOf(hashOf(topic), topic);
    if (slots_[slot] == kFree)
        return false;
    removeAt(slot);
    return true;
}

std::string TopicSet::removeFirst() {
    while (headerAt(begin_) & kRemoved)
        begin_ += kHeader + (headerAt(begin_) & ~kRemoved);
    std::string topic = block_.substr(begin_ + kHeader, headerAt(begin_));
    removeAt(slotOf(hashOf(topic), topic));
    return topic;
}

void TopicSet::countLength(std::size_t bytes, int change) {
    auto place = std::lower_bound(lengths_.begin(), lengths_.end(), bytes,
                                  [](Length const& each, std::size_t size) { return each.bytes < size; });
    if (place == lengths_.end() || place->bytes != bytes)
        place = lengths_.insert(place, Length{static_cast<std::uint32_t>(bytes), 0});
    place->topics += static_cast<std::uint32_t>(change);
    if (place->topics == 0)
        lengths_.erase(place);
}

void TopicSet::rebuild(std::size_t topics) {
    std::vector<std::uint32_t> slots(std::bit_ceil(std::max<std::size_t>(4, topics + topics / 2)), kFree);
    std::string before;
    before.reserve(bytes_ + topics * kHeader);
    std::swap(before, block_);
    std::swap(slots, slots_);
    for (std::size_t place = 0; place < before.size();) {
        std::uint32_t header;
        std::memcpy(&header, before.data() + place, sizeof header);
        std::size_t whole = kHeader + (header & ~kRemoved);
        if (!(header & kRemoved)) {
            std::string_view topic = std::string_view(before).substr(place + kHeader, header);
            slots_[slotOf(hashOf(topic), topic)] = static_cast<std::uint32_t>(block_.size());
            block_.append(before, place, whole);
        }
        place += whole;
    }
    taken_ = count_;
    begin_ = 0;
}

bool TopicSet::matches(std::string_view message) const {
    PrefixHash hash;
    std::size_t hashed = 0;
    for (Length const& each : lengths_) {
        if (each.bytes > message.size())
            return false;
        hash.extend(message.substr(hashed, each.bytes - hashed));
        hashed = each.bytes;
        if (slots_[slotOf(hash.value(), message.substr(0, hashed))] != kFree)
            return true;
    }
    return false;
}

std::size_t TopicSet::heldBytes() const {
    return block_.capacity() + slots_.capacity() * sizeof slots_[0] + lengths_.capacity() * sizeof(Length);
}

} // namespace flow::net
