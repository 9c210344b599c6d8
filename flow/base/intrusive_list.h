#pragma once
// Links of a circular, doubly linked list. An object in a list has a Link as a member or base class.
//
//     Link head;            // a list; if the list is empty, its head is linked to itself
//     head.reset();
//     pushBack(head, item.link);
//     item.link.unlink();   // takes `item` out of its list, in constant time
//
// A Link with `next == nullptr` is in no list. A list allocates no memory and does not own its objects.

namespace flow::detail {

struct Link {
    Link* next;
    Link* prev;

    bool isLinked() const { return next != nullptr; }
    /// Makes this Link the head of an empty list.
    void reset() { next = prev = this; }
    bool isEmpty() const { return next == this; }

    /// Takes this Link out of its list. The Link must be in a list.
    void unlink() {
        cutOut();
        next = nullptr;
    }
    /// Like unlink(), but isLinked() must not be called after it.
    void cutOut() {
        next->prev = prev;
        prev->next = next;
    }
};

inline void insertBetween(Link& before, Link& node, Link& after) {
    node.next = &after;
    node.prev = &before;
    before.next = &node;
    after.prev = &node;
}
inline void pushFront(Link& head, Link& node) {
    insertBetween(head, node, *head.next);
}
inline void pushBack(Link& head, Link& node) {
    insertBetween(*head.prev, node, head);
}

} // namespace flow::detail

namespace flow {

using ListLink = detail::Link;

} // namespace flow
