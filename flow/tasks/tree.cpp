// A node of the tree of tasks is unstarted, running, joining (waits for its children), ending (the body is over, but
// children are left), or ended. Flags in the node store these states. `pins` counts the calls that still use a node. A
// pinned node is not completed, so a destructor or a waiter that runs below it cannot free it. unpin() calls settle(),
// which completes a node without pins and children.
//
// - End: settle() completes a node that has no children. If the parent waits for its children, settle() continues with
// the parent, and so on upwards. end() destroys the frame first, and completes the future last.
//
// - Cancel: walk() marks a node, then its children, and interrupts children before their parent. A marked child moves
// to the end of its parent's list, so the walk needs no stack and no memory.
//
// - destroyTree(): destroys the frames of a tree, children first. Only destructors run.

#include "flow/tasks/detail/tree.h"

#include "flow/base/stack.h"
#include "flow/core/detail/task_tree.h"
#include "flow/memory/fast_resource.h"

namespace flow::tasks {
namespace {

/// Completes a node without children: destroys the frame, then sets the result. Returns the waiter to run next.
Waiter* end(Node* node) noexcept {
    if (node->sibling.isLinked())
        node->sibling.unlink(); // after cutOut(), cancelTree() in a destructor would link the node again
    if (node->has(Node::kIsHook)) {
        auto* hook = static_cast<HookNode*>(node);
        hook->memory->deallocate(hook, hook->bytes, alignof(HookNode));
        return nullptr;
    }
    Waiter* frame = node->frame();
    Cell* cell = Cell::of(frame);
    std::uint8_t status = node->has(Node::kFailed) ? statusOfError(cell, 1) : Cell::kValue;
    Waiter* parent = node->has(Node::kParentWaits) ? node->parent->frame() : nullptr;
    opaque(frame)->destroy(frame);
    --cell->futures;
    Waiter* last = finishFrame(cell, status);
    if (!parent)
        return last;
    if (last)
        run(last);
    return parent;
}

} // namespace

Waiter* settle(Node* node) noexcept {
    while (node->pins == 0 && node->has(Node::kWatches)) {
        if (node->has(Node::kJoining)) {
            if (node->hasForks())
                return nullptr;
            node->flags &= ~Node::kJoining;
            if (!node->has(Node::kIsHook))
                return node->frame();
            auto* scope = static_cast<ScopeNode*>(node);
            if (scope->joiner.isEmpty()) // the joiner was cancelled
                continue;
            Waiter* joiner = takeFirst(scope->joiner);
            joiner->awaited = {};
            return joiner;
        }
        if (!node->children.isEmpty())
            return nullptr;
        Node* parent = node->parent;
        ++node->pins; // otherwise a cancel in a destructor would end the node a second time
        if (parent)
            ++parent->pins; // the parent ends after this node
        Waiter* last = end(node);
        if (parent)
            --parent->pins;
        if (!parent || !parent->has(Node::kWatches))
            return last;
        if (last) {
            ++parent->pins; // keeps the parent until the waiter has run
            run(last);
            --parent->pins;
        }
        node = parent;
    }
    return nullptr;
}

void unpin(Node* node) noexcept {
    --node->pins;
    if (Waiter* next = settle(node))
        run(next);
}

namespace {

/// Marks a node as cancelled: each new wait of the node fails. Only interrupt() or the end of a child ends its wait.
void mark(Node* node) noexcept {
    node->flags |= Node::kCancelled;
    forgetCancelledWaits();
    if (!node->has(Node::kIsHook))
        Cell::of(node->frame())->flags |= Cell::kCancelled;
}

/// Returns the child behind `before` in the list; null if it is cancelled, or if there is none.
Node* childBehind(Node* parent, Link& before) noexcept {
    Link* next = before.next;
    return next == &parent->children || Node::of(next)->has(Node::kCancelled) ? nullptr : Node::of(next);
}

/// Marks the child that childBehind() returns, and moves it to the end of the list. Returns null if there is none.
Node* markChild(Node* parent, Link& before) noexcept {
    Node* child = childBehind(parent, before);
    if (!child)
        return nullptr;
    mark(child);
    child->sibling.cutOut();
    pushBack(parent->children, child->sibling);
    return child;
}

/// Interrupts the wait of a node with only cancelled children.
void interrupt(Node* node) noexcept {
    if (node->has(Node::kIsHook)) {
        auto* hook = static_cast<HookNode*>(node);
        if (hook->onCancel)
            hook->onCancel(hook);
        return;
    }
    if (node->has(Node::kAwaitsChild | Node::kWatches))
        return;
    Awaited awaited = node->frame()->awaited;
    if (node->has(Node::kJoinsHook) && awaited.isOperation() &&
        static_cast<ScopeNode*>(awaited.operation())->endsWithParent())
        return;
    Cell* cell = Cell::of(node->frame());
    cell->flags &= static_cast<std::uint8_t>(~(Cell::kUncancellable | Cell::kCancelled));
    cancel(cell);
}

/// Cancels all nodes below `root`, and then interrupts `root`, which must be marked.
void walk(Node* root) noexcept {
    Node* node = root;
    ++node->pins;
    for (;;) {
        if (Node* child = markChild(node, node->children)) {
            node = child;
            ++node->pins;
            continue;
        }
        interrupt(node);
        Node* parent = node->parent;
        bool isLast = node == root;
        unpin(node); // the node may be freed
        if (isLast)
            return;
        node = parent;
    }
}

} // namespace

Waiter* childLeft(Node* parent, Waiter* last) noexcept {
    if (last) {
        ++parent->pins;
        run(last);
        --parent->pins;
    }
    return settle(parent);
}

Waiter* endSlowly(Waiter* frame, bool failed) noexcept {
    Node* node = Node::of(frame);
    frame->awaited = {};
    frame->link.next = nullptr;
    node->flags |= failed ? Node::kEnding | Node::kFailed : Node::kEnding;
    if (failed) {
        ++node->pins;
        while (childBehind(node, node->children)) // children that are spawned meanwhile are cancelled, too
            cancelChildren(node);
        --node->pins;
    }
    return settle(node);
}

void endHook(HookNode* hook) noexcept {
    hook->flags |= Node::kEnding;
    if (Waiter* next = settle(hook))
        run(next);
}

void cancelTree(Node* root) noexcept {
    if (root->has(Node::kCancelled))
        return;
    mark(root);
    if (root->sibling.isLinked()) {
        root->sibling.cutOut();
        pushBack(root->parent->children, root->sibling);
    }
    withRoom([root] { walk(root); });
}

void cancelChildren(Node* parent) noexcept {
    HookNode present(fastMemory(), 0); // the present children are behind this node in the list, later ones before it
    present.parent = parent;
    std::uint32_t outerCall = parent->flags & Node::kCancelsChildren;
    parent->flags |= Node::kCancelsChildren;
    ++parent->pins;
    pushFront(parent->children, present.sibling);
    while (Node* child = markChild(parent, present.sibling))
        withRoom([child] { walk(child); });
    present.sibling.unlink();
    parent->flags = (parent->flags & ~Node::kCancelsChildren) | outerCall;
    unpin(parent);
}

namespace {

/// Marks each node as cancelled and as waiting for no children, so that destructors neither cancel nor resume a node.
void markAll(Node* root) noexcept {
    Node* node = root;
    for (;;) {
        node->flags = (node->flags | Node::kCancelled) & ~Node::kWatches;
        if (!node->children.isEmpty()) {
            node = Node::of(node->children.next);
            continue;
        }
        while (node != root && node->sibling.next == &node->parent->children)
            node = node->parent;
        if (node == root)
            return;
        node = Node::of(node->sibling.next);
    }
}

} // namespace

void destroyTree(Node* root) noexcept {
    markAll(root);
    withRoom([root] {
        Node* node = root;
        for (;;) {
            if (!node->children.isEmpty()) {
                node = Node::of(node->children.next);
                continue;
            }
            Node* parent = node->parent;
            bool isLast = node == root;
            if (node->sibling.isLinked())
                node->sibling.unlink();
            if (!node->has(Node::kIsHook)) {
                Waiter* frame = node->frame();
                Cell* cell = Cell::of(frame);
                abandon(frame);
                opaque(frame)->destroy(frame);
                setEnded(cell, Cell::kNever);
                --cell->futures;
                releasePromise(cell);
            } else if (node->has(Node::kIsFuture)) {
                auto* future = static_cast<HookNode*>(node);
                future->onCancel(future);
                end(node);
            }
            if (isLast)
                return;
            node = parent;
        }
    });
}

} // namespace flow::tasks

// Functions for reports.
namespace flow::detail {
namespace {
using tasks::Node;

Node* nodeOf(Waiter const* task) {
    return Node::of(const_cast<Waiter*>(task));
}

void visitBelow(Node* parent, bool scopes, std::function<void(Waiter*)> const& visit) {
    for (Link* link = parent->children.next; link != &parent->children; link = link->next) {
        Node* child = Node::of(link);
        if (!child->has(Node::kIsHook))
            visit(child->frame());
        else if (scopes)
            visitBelow(child, scopes, visit);
    }
}

} // namespace

Waiter* parentOfTask(Waiter const* task) {
    Node* parent = nodeOf(task)->parent;
    while (parent && parent->has(Node::kIsHook))
        parent = parent->parent;
    return parent ? parent->frame() : nullptr;
}

void forEachChild(Waiter const* task, Children which, std::function<void(Waiter*)> const& visit) {
    Node* node = nodeOf(task);
    if (which == Children::All || node->has(Node::kEnding))
        return visitBelow(node, true, visit);
    if (node->has(Node::kJoining))
        return visitBelow(node, false, visit);
    if (node->has(Node::kJoinsHook) && task->awaited.isOperation())
        return visitBelow(static_cast<tasks::ScopeNode*>(task->awaited.operation()), true, visit);
    if (node->has(Node::kAwaitsChild))
        visitBelow(node, true, [&](Waiter* child) {
            if (nodeOf(child)->has(Node::kParentWaits))
                visit(child);
        });
}

} // namespace flow::detail
