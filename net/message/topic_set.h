#pragma once
// TopicSet: the topics that a peer has subscribed to: a message matches if it begins with one of them.
//
//     TopicSet topics;
//     topics.add("weather.");
//     topics.matches("weather.rain")       // true
//
// A hash table of topics, which lie one behind the other in one block: a topic needs at most 32 bytes and four times
// its own. A lookup hashes the beginning of the message once, and searches for each length that some topic has; so it
// takes as many steps as the longest topic has bytes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flow::net {

class TopicSet {
public:
    /// Adds a topic; returns whether it is new.
    bool add(std::string_view topic);
    /// Returns whether it was there.
    bool remove(std::string_view topic);
    bool matches(std::string_view message) const;
    bool isEmpty() const { return count_ == 0; }
    /// Removes and returns one that is there.
    std::string removeFirst();
    /// The bytes of all topics.
    std::size_t bytes() const { return bytes_; }
    /// The allocated memory.
    std::size_t heldBytes() const;

private:
    /// The number of topics of one length.
    struct Length {
        std::uint32_t bytes;
        std::uint32_t topics;
    };
    static constexpr std::size_t kHeader =
        sizeof(std::uint32_t); // in front of a topic: its length, or kRemoved as well
    static constexpr std::uint32_t kRemoved = 1u << 31;
    static constexpr std::uint32_t kFree = ~std::uint32_t{0}, kHole = kFree - 1; // in slots_

    std::uint32_t headerAt(std::size_t place) const;
    void setHeader(std::size_t place, std::uint32_t header);
    /// The slot with the topic, or the free one that ends the search.
    std::size_t slotOf(std::uint64_t hash, std::string_view topic) const;
    bool isAt(std::size_t place, std::string_view topic) const;
    void removeAt(std::size_t slot);
    void countLength(std::size_t bytes, int change);
    /// Makes the table for so many topics, without what was removed.
    void rebuild(std::size_t topics);

    std::string block_;
    std::vector<std::uint32_t> slots_; // places in block_; as many as a power of two
    std::vector<Length> lengths_;      // the shortest first
    std::size_t count_ = 0;
    std::size_t taken_ = 0; // slots that are not free
    std::size_t bytes_ = 0;
    std::size_t begin_ = 0; // index in block_: the part before it was removed
};

} // namespace flow::net
