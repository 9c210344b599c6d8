#pragma once
// Links of a circular, doubly linked list. The nodes are part of the objects in it.
//
//     Link head;            // a list: linked to itself when empty
//     head.reset();
//     pushBack(head, item.link);
//     item.link.unlink();   // two writes, wherever it is linked
//
// A Link with `next == nullptr` is in no list. Nothing here allocates or owns.

namespace flow::detail {

struct Link {
    Link* next;
    Link* prev;

    bool isLinked() const { return next != nullptr; }
    /// Makes this the head of an empty list.
    void reset() { next = prev = this; }
    /// True if this is the head of an empty list.
    bool isEmpty() const { return next == this; }

    /// Takes this node out of its list. It must be linked.
    void unlink() {
        cutOut();
        next = nullptr;
    }
    /// Like unlink(), for a node of which isLinked() will not be called.
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

/// The link of a list, for objects that are in one.
using ListLink = detail::Link;

} // namespace flow
