#pragma once
// TopicSet: the topics that a peer has subscribed to, as a trie: a message matches if it begins with one of them.
//
//     TopicSet topics;
//     topics.add("weather.");
//     topics.matches("weather.rain")       // true
//
// A topic that was added twice has to be removed twice. A look costs as many steps as the longest topic that matches.

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

namespace flow::net {

class TopicSet {
public:
    /// Whether it was not there before.
    bool add(std::string_view topic);
    /// Whether it was there, and is not any more.
    bool remove(std::string_view topic);
    bool matches(std::string_view message) const;

private:
    struct Node {
        std::uint32_t count = 0;
        std::map<char, std::unique_ptr<Node>> next;
    };
    Node root_;
};

} // namespace flow::net
