#include "net/message/topic_set.h"

namespace flow::net {

bool TopicSet::add(std::string_view topic) {
    Node* node = &root_;
    for (char byte : topic) {
        std::unique_ptr<Node>& next = node->next[byte];
        if (!next) {
            next = std::make_unique<Node>();
            ++bytes_;
        }
        node = next.get();
    }
    return node->count++ == 0;
}

bool TopicSet::remove(std::string_view topic) {
    std::vector<Node*> path{&root_};
    for (char byte : topic) {
        auto found = path.back()->next.find(byte);
        if (found == path.back()->next.end())
            return false;
        path.push_back(found->second.get());
    }
    if (path.back()->count == 0 || --path.back()->count != 0)
        return false;
    for (std::size_t i = path.size() - 1; i > 0 && path[i]->count == 0 && path[i]->next.empty(); --i, --bytes_)
        path[i - 1]->next.erase(topic[i - 1]);
    return true;
}

bool TopicSet::matches(std::string_view message) const {
    Node const* node = &root_;
    for (char byte : message) {
        if (node->count != 0)
            return true;
        auto found = node->next.find(byte);
        if (found == node->next.end())
            return false;
        node = found->second.get();
    }
    return node->count != 0;
}

} // namespace flow::net
