#pragma once
// TopicSet: the topics that a peer has subscribed to, as a trie: a message matches if it begins with one of them.
//
//     TopicSet topics;
//     topics.add("weather.");
//     topics.matches("weather.rain")       // true
//
// A topic that was added twice must be removed twice. A lookup takes as many steps as the longest matching topic has
// bytes.

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

namespace flow::net {

class TopicSet {
public:
    /// Adds a topic; returns whether it is new.
    bool add(std::string_view topic);
    /// Removes a topic once; returns whether it is gone now.
    bool remove(std::string_view topic);
    bool matches(std::string_view message) const;
    /// Of all topics; those of a common beginning count once.
    std::size_t bytes() const { return bytes_; }

private:
    struct Node {
        std::uint32_t count = 0;
        std::map<char, std::unique_ptr<Node>> next;
    };
    Node root_;
    std::size_t bytes_ = 0;
};

} // namespace flow::net
