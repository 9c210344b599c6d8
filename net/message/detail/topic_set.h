#pragma once
// TopicSet: a set of topics of subscriptions. A message matches if it begins with one of the topics.
//
//     TopicSet topics;
//     topics.add("weather.");
//     topics.matches("weather.rain")       // true
//
// The set is a hash table. The topics are stored one after the other in one block. A topic of n bytes needs at most
// 32 + 4 n bytes. matches() hashes the beginning of the message once, and makes one search for each different length of
// a topic. So matches() takes at most as many steps as the longest topic has bytes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flow::net {

class TopicSet {
public:
    /// Adds a topic. Returns true if it is new.
    bool add(std::string_view topic);
    /// Removes a topic. Returns true if the set had the topic.
    bool remove(std::string_view topic);
    bool matches(std::string_view message) const;
    bool isEmpty() const { return count_ == 0; }
    /// Removes and returns one of the topics. The set must not be empty.
    std::string removeFirst();
    /// Returns the bytes of all topics.
    std::size_t bytes() const { return bytes_; }
    /// Returns the bytes of allocated memory.
    std::size_t heldBytes() const;

private:
    /// The number of topics of one length.
    struct Length {
        std::uint32_t bytes;
        std::uint32_t topics;
    };
    static constexpr std::size_t kHeader =
        sizeof(std::uint32_t); // before each topic: the length, with kRemoved if the topic was removed
    static constexpr std::uint32_t kRemoved = 1u << 31;
    static constexpr std::uint32_t kFree = ~std::uint32_t{0}, kHole = kFree - 1; // values in slots_

    std::uint32_t headerAt(std::size_t place) const;
    void setHeader(std::size_t place, std::uint32_t header);
    /// Returns the slot of the topic, or the free slot at which the search ends.
    std::size_t slotOf(std::uint64_t hash, std::string_view topic) const;
    bool isAt(std::size_t place, std::string_view topic) const;
    void removeAt(std::size_t slot);
    void countLength(std::size_t bytes, int change);
    /// Rebuilds the table with room for `topics` topics, without the removed topics.
    void rebuild(std::size_t topics);

    std::string block_;
    std::vector<std::uint32_t> slots_; // places in block_; the size is a power of two
    std::vector<Length> lengths_;      // the shortest first
    std::size_t count_ = 0;
    std::size_t taken_ = 0; // slots that are not free
    std::size_t bytes_ = 0;
    std::size_t begin_ = 0; // an index in block_: all topics before it were removed
};

} // namespace flow::net
