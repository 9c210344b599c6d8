#pragma once
// TopicSet: a set of subscribed topics. A message matches if it begins with one of them.
//
//     TopicSet topics;
//     topics.add("weather.");
//     topics.matches("weather.rain")       // true
//
// The set is a hash table, with all topics in one block of memory. A topic of n bytes needs at most 32 + 4 n bytes.
// matches() hashes the beginning of the message once, and makes one lookup for each different length of a topic: at
// most as many steps as the longest topic has bytes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flow::net {

class TopicSet {
public:
    /// Returns true if the topic is new.
    bool add(std::string_view topic);
    /// Returns true if the set had the topic.
    bool remove(std::string_view topic);
    bool matches(std::string_view message) const;
    bool isEmpty() const { return count_ == 0; }
    /// Removes and returns a topic. The set must not be empty.
    std::string removeFirst();
    /// Returns the sum of the topics' sizes.
    std::size_t bytes() const { return bytes_; }
    /// Returns the size of the allocated memory.
    std::size_t heldBytes() const;

private:
    struct Length {
        std::uint32_t bytes;
        std::uint32_t topics;
    };
    static constexpr std::size_t kHeader =
        sizeof(std::uint32_t); // before each topic: its length, perhaps with kRemoved
    static constexpr std::uint32_t kRemoved = 1u << 31;
    static constexpr std::uint32_t kFree = ~std::uint32_t{0}, kHole = kFree - 1; // values in slots_

    std::uint32_t headerAt(std::size_t place) const;
    void setHeader(std::size_t place, std::uint32_t header);
    /// Returns the topic's slot, or the free slot at which the search ends.
    std::size_t slotOf(std::uint64_t hash, std::string_view topic) const;
    bool isAt(std::size_t place, std::string_view topic) const;
    void removeAt(std::size_t slot);
    void countLength(std::size_t bytes, int change);
    /// Rebuilds the table for `topics` topics, without the removed ones.
    void rebuild(std::size_t topics);

    std::string block_;
    std::vector<std::uint32_t> slots_; // indexes in block_; the size is a power of two
    std::vector<Length> lengths_;      // the shortest first
    std::size_t count_ = 0;
    std::size_t taken_ = 0; // slots that are not free
    std::size_t bytes_ = 0;
    std::size_t begin_ = 0; // index in block_: the topics before it were removed
};

} // namespace flow::net
