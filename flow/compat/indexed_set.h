#pragma once
// IndexedSet<T, Metric>: a sorted set with a number (metric) for each element, and fast sums of these numbers.
//
//     IndexedSet<std::string, int> files;                      // names, with their bytes
//     files.insert("b", 20);
//     files.insert("a", 10);
//     files.sumTo(files.find("b"));                            // 10: the bytes of all earlier elements
//     *files.index(15);                                        // "b": the file that holds byte 15
//     files.addMetric("a", 5);                                 // "a" has 15 now
//
// T has operator<, also with each type of key that is searched for: a StringRef finds a std::string without a copy. A
// Metric has +, - and <, and Metric() is zero; no sum may overflow. NoMetric is for sets without sums.
//
// Each function takes time in the logarithm of the size, except end(), empty() and swap(), which are constant, and
// clear() and erasing a range, which are linear in the number of elements. Iterators stay valid until their element is
// erased. An iterator gives a T&: do not change the order through it. For a size(), use a metric of 1.
//
// An insertion throws std::bad_alloc and any exception of the copy of a T, and then changes nothing.

#include "flow/base/assert.h"
#include "flow/memory/fast_allocator.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace flow {

/// The metric of sets without sums.
struct NoMetric {
    NoMetric() = default;
    NoMetric(int) {}
    friend NoMetric operator+(NoMetric, NoMetric) { return {}; }
    friend NoMetric operator-(NoMetric, NoMetric) { return {}; }
    friend bool operator<(NoMetric, NoMetric) { return false; }
};

template <class T, class Metric>
class IndexedSet {
    /// A node of a treap: sorted by element, and no child has a higher rank than its parent.
    struct Node : FastAllocated<Node> {
        template <class U>
        Node(U&& d, Metric m, std::uint32_t r) : data(std::forward<U>(d)), metric(m), total(std::move(m)), rank(r) {}

        T data;
        Metric metric;
        Metric total; // of this node and all nodes below it
        std::uint32_t rank;
        Node* child[2] = {nullptr, nullptr};
        Node* parent = nullptr;
    };

    template <class Element>
    class Iterator {
    public:
        Iterator() = default;
        operator Iterator<T const>() const { return Iterator<T const>(node_); }
        Element& operator*() const { return node_->data; }
        Element* operator->() const { return &node_->data; }
        Iterator& operator++() {
            node_ = neighbour(node_, 1);
            return *this;
        }
        /// Must not be called at end(), unlike previous().
        Iterator& operator--() {
            node_ = neighbour(node_, 0);
            return *this;
        }
        void decrementNonEnd() { --*this; }
        friend bool operator==(Iterator, Iterator) = default;

    private:
        friend IndexedSet;
        explicit Iterator(Node* node) : node_(node) {}
        Node* node_ = nullptr;
    };

public:
    using value_type = T;
    using key_type = T;
    using iterator = Iterator<T>;
    using const_iterator = Iterator<T const>;

    IndexedSet() = default;
    IndexedSet(IndexedSet&& other) noexcept : root_(std::exchange(other.root_, nullptr)) {}
    IndexedSet& operator=(IndexedSet&& other) noexcept {
        swap(other);
        other.clear();
        return *this;
    }
    ~IndexedSet() { clear(); }

    iterator begin() { return iterator(outermost(root_, 0)); }
    const_iterator cbegin() const { return begin(); }
    const_iterator cend() const { return end(); }
    const_iterator begin() const { return const_iterator(outermost(root_, 0)); }
    iterator end() { return {}; }
    const_iterator end() const { return {}; }
    /// Returns the last element; end() for an empty set.
    iterator lastItem() { return iterator(outermost(root_, 1)); }
    const_iterator lastItem() const { return const_iterator(outermost(root_, 1)); }
    /// Returns the iterator before `i`, which may be end(). previous() of the first element is end().
    iterator previous(iterator i) { return i == end() ? lastItem() : --i; }
    const_iterator previous(const_iterator i) const { return i == end() ? lastItem() : --i; }

    bool empty() const { return root_ == nullptr; }
    void clear() { destroy(std::exchange(root_, nullptr)); }
    void swap(IndexedSet& other) noexcept { std::swap(root_, other.root_); }

    /// Adds an element. If the set has an equal element, replaces it and its metric if `replaceExisting`.
    template <class U>
    iterator insert(U&& data, Metric metric, bool replaceExisting = true) {
        auto [node, isNew] = findOrAdd(std::forward<U>(data), metric);
        if (!isNew && replaceExisting) {
            node->data = std::forward<U>(data);
            node->metric = std::move(metric);
            updateUpwards(node);
        }
        return iterator(node);
    }
    /// Returns the number of new elements.
    int insert(std::vector<std::pair<T, Metric>> const& elements, bool replaceExisting = true) {
        int added = 0;
        for (auto const& [data, metric] : elements) {
            added += find(data) == end();
            insert(data, metric, replaceExisting);
        }
        return added;
    }
    /// Adds to the metric of the element. Inserts the element if it is missing. Returns its new metric.
    template <class U>
    Metric addMetric(U&& data, Metric metric) {
        auto [node, isNew] = findOrAdd(std::forward<U>(data), metric);
        if (!isNew) {
            node->metric = node->metric + metric;
            updateUpwards(node);
        }
        return node->metric;
    }

    /// Does nothing for end().
    void erase(iterator i) {
        if (i.node_)
            remove(i.node_);
    }
    void erase(iterator begin, iterator end) {
        while (begin != end)
            erase(std::exchange(begin, iterator(neighbour(begin.node_, 1))));
    }
    template <class Key>
    void erase(Key const& key) {
        erase(find(key));
    }
    template <class Key>
    void erase(Key const& begin, Key const& end) {
        erase(lower_bound(begin), lower_bound(end));
    }

    template <class Key>
    int count(Key const& key) const {
        return findNode(key) != nullptr;
    }
    template <class Key>
    iterator find(Key const& key) {
        return iterator(findNode(key));
    }
    template <class Key>
    const_iterator find(Key const& key) const {
        return const_iterator(findNode(key));
    }
    /// Returns the first element that is not less than the key.
    template <class Key>
    iterator lower_bound(Key const& key) {
        return iterator(firstNotLess(key));
    }
    template <class Key>
    const_iterator lower_bound(Key const& key) const {
        return const_iterator(firstNotLess(key));
    }
    /// Returns the first element that is greater than the key.
    template <class Key>
    iterator upper_bound(Key const& key) {
        return iterator(firstGreater(key));
    }
    template <class Key>
    const_iterator upper_bound(Key const& key) const {
        return const_iterator(firstGreater(key));
    }
    /// Returns the last element that is not greater than the key.
    template <class Key>
    iterator lastLessOrEqual(Key const& key) {
        return previous(upper_bound(key));
    }
    template <class Key>
    const_iterator lastLessOrEqual(Key const& key) const {
        return previous(upper_bound(key));
    }

    /// Returns the first element at which the sum of the metrics, its own included, is above `metric`; else end().
    template <class M>
    iterator index(M const& metric) {
        return iterator(nodeAt(Metric(metric)));
    }
    template <class M>
    const_iterator index(M const& metric) const {
        return const_iterator(nodeAt(Metric(metric)));
    }
    Metric getMetric(const_iterator i) const { return i.node_->metric; }
    /// Returns the sum of the metrics of all elements before `to`.
    Metric sumTo(const_iterator to) const {
        Node* node = to.node_;
        if (!node)
            return totalOf(root_);
        Metric sum = totalOf(node->child[0]);
        for (; node->parent; node = node->parent)
            if (node == node->parent->child[1])
                sum = sum + node->parent->metric + totalOf(node->parent->child[0]);
        return sum;
    }
    Metric sumRange(const_iterator begin, const_iterator end) const { return sumTo(end) - sumTo(begin); }
    template <class Key>
    Metric sumRange(Key const& begin, Key const& end) const {
        return sumRange(lower_bound(begin), lower_bound(end));
    }

    /// Returns the bytes of memory per element.
    static int getElementBytes() { return sizeof(Node); }

private:
    static Metric totalOf(Node const* node) { return node ? node->total : Metric(); }
    static void update(Node* node) { node->total = totalOf(node->child[0]) + node->metric + totalOf(node->child[1]); }
    static void updateUpwards(Node* node) {
        for (; node; node = node->parent)
            update(node);
    }
    static Node* outermost(Node* node, int side) {
        while (node && node->child[side])
            node = node->child[side];
        return node;
    }
    static Node* neighbour(Node* node, int side) {
        if (node->child[side])
            return outermost(node->child[side], 1 - side);
        while (node->parent && node == node->parent->child[side])
            node = node->parent;
        return node->parent;
    }
    static void destroy(Node* node) { // the depth of the recursion is logarithmic
        if (!node)
            return;
        destroy(node->child[0]);
        destroy(node->child[1]);
        delete node;
    }

    template <class Key>
    Node* firstNotLess(Key const& key) const {
        Node* found = nullptr;
        for (Node* node = root_; node;) {
            bool isLess = node->data < key;
            if (!isLess)
                found = node;
            node = node->child[isLess];
        }
        return found;
    }
    template <class Key>
    Node* firstGreater(Key const& key) const {
        Node* found = nullptr;
        for (Node* node = root_; node;) {
            bool isGreater = key < node->data;
            if (isGreater)
                found = node;
            node = node->child[!isGreater];
        }
        return found;
    }
    template <class Key>
    Node* findNode(Key const& key) const {
        Node* node = firstNotLess(key);
        return node && !(key < node->data) ? node : nullptr;
    }
    Node* nodeAt(Metric const& metric) const {
        Metric before = Metric();
        for (Node* node = root_; node;) {
            Metric left = before + totalOf(node->child[0]);
            if (metric < left) {
                node = node->child[0];
            } else if (metric < left + node->metric) {
                return node;
            } else {
                before = left + node->metric;
                node = node->child[1];
            }
        }
        return nullptr;
    }

    /// Returns the equal element, or a new element with `data`. The bool is true if it is new.
    template <class U>
    std::pair<Node*, bool> findOrAdd(U&& data, Metric const& metric) {
        Node *parent = nullptr, *notLess = nullptr;
        int side = 0;
        for (Node* node = root_; node; node = node->child[side]) {
            side = node->data < data;
            if (side == 0)
                notLess = node;
            parent = node;
        }
        if (notLess && !(data < notLess->data))
            return {notLess, false};
        auto* added = new Node(std::forward<U>(data), metric, nextRank());
        added->parent = parent;
        (parent ? parent->child[side] : root_) = added;
        while (added->parent && added->parent->rank < added->rank)
            rotateUp(added);
        updateUpwards(added->parent);
        return {added, true};
    }
    void remove(Node* node) {
        while (node->child[0] || node->child[1]) {
            Node *left = node->child[0], *right = node->child[1];
            rotateUp(!right || (left && left->rank > right->rank) ? left : right);
        }
        replaceAtParent(node, nullptr);
        updateUpwards(node->parent);
        delete node;
    }

    void replaceAtParent(Node* old, Node* node) {
        Node* parent = old->parent;
        (parent ? parent->child[old == parent->child[1]] : root_) = node;
        if (node)
            node->parent = parent;
    }
    /// Moves the node into the place of its parent, and the parent below the node.
    void rotateUp(Node* node) {
        Node* parent = node->parent;
        int side = node == parent->child[1];
        Node* inner = node->child[1 - side];
        replaceAtParent(parent, node);
        node->child[1 - side] = parent;
        parent->parent = node;
        parent->child[side] = inner;
        if (inner)
            inner->parent = parent;
        update(parent);
        update(node);
    }
    /// Returns a pseudo-random rank. The seed is fixed: the shape of a set does not depend on the rest of the program.
    std::uint32_t nextRank() {
        rank_ ^= rank_ << 13;
        rank_ ^= rank_ >> 17;
        return rank_ ^= rank_ << 5;
    }

    Node* root_ = nullptr;
    std::uint32_t rank_ = 2463534242; // the state of a xorshift generator
};

} // namespace flow
