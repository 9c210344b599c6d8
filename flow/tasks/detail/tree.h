#pragma once
// Node: the place of a task, a fork or a scope in a tree. A parent owns its children.
//
// The node of a task or fork is a part of its promise. A node is linked to its parent from its start to its end: a node
// in no list has ended, has not begun, or is the root. All nodes of a tree belong to one thread. No function of this
// file recurses over nodes, so trees may be deep and wide.

#include "flow/core/cell.h"
#include "flow/coro/detail/promise_base.h"

#include <memory_resource>
#include <source_location>

namespace flow::tasks {
using namespace flow::detail;

struct Node {
    Node* parent = nullptr;
    Link sibling{nullptr, nullptr};
    Link children; // cancelled children are last
    std::uint32_t pins = 0;
    std::uint32_t flags = 0;

    static constexpr std::uint32_t kUnstarted = 1;     // the body has not begun
    static constexpr std::uint32_t kCancelled = 2;     // all nodes below are cancelled too, now or soon
    static constexpr std::uint32_t kAwaitsChild = 4;   // the node waits for the end of one of its children
    static constexpr std::uint32_t kJoining = 8;       // the node waits for the end of all its children
    static constexpr std::uint32_t kEnding = 16;       // the node ends as soon as all its children have ended
    static constexpr std::uint32_t kFailed = 32;       // the node ends with the error that is in its cell
    static constexpr std::uint32_t kIsHook = 64;       // the node is a HookNode: it has no frame
    static constexpr std::uint32_t kParentWaits = 128; // the parent awaits only this child, and is parked nowhere else
    static constexpr std::uint32_t kInCall = 256; // without tail calls: the call that made the node may be on the stack
    static constexpr std::uint32_t kJoinsHook = 512;        // the node waits until a scope has no child
    static constexpr std::uint32_t kIsFuture = 1024;        // a HookNode that holds a future, and counts as a child
    static constexpr std::uint32_t kCancelsChildren = 2048; // cancelChildren() runs: new children go to the front
    static constexpr std::uint32_t kWatches = kJoining | kEnding;

    Node() { children.reset(); }
    Node(Node const&) = delete;
    Node& operator=(Node const&) = delete;

    bool has(std::uint32_t flag) const { return flags & flag; }
    bool isAlone() const { return children.isEmpty() && pins == 0; }
    /// True if a task, fork or future is directly below. The loop is short, because few children are other hooks.
    bool hasForks() const {
        for (Link const* child = children.next; child != &children; child = child->next)
            if ((of(const_cast<Link*>(child))->flags & (kIsHook | kIsFuture)) != kIsHook)
                return true;
        return false;
    }

    static Node* of(Link* sibling) {
        return reinterpret_cast<Node*>(reinterpret_cast<char*>(sibling) - offsetof(Node, sibling));
    }
    Waiter* frame() { return reinterpret_cast<Waiter*>(reinterpret_cast<char*>(this) - kOffset); }
    static Node* of(Waiter* frame) { return reinterpret_cast<Node*>(reinterpret_cast<char*>(frame) + kOffset); }

    /// The offset of the node in the frame.
    static constexpr std::size_t kOffset = offsetof(Waiter, link) + sizeof(coro::PromiseBase);
};

/// A node without a frame, in its own block. A hook with the flag kEnding is freed when its last child has ended. The
/// end of a task waits for hooks, like for all children, but destroyForks() does not.
struct HookNode : Node {
    HookNode(std::pmr::memory_resource& m, std::size_t b) : memory(&m), bytes(b) { flags = kIsHook; }
    /// True if the parent is cancelled: then all nodes below the hook are cancelled as well. A task that waits for
    /// these nodes continues to wait, even if the task itself is cancelled.
    bool endsWithParent() const { return parent && parent->has(kCancelled); }

    void (*onCancel)(HookNode*) = nullptr; // may be null
    std::pmr::memory_resource* memory;
    std::size_t bytes;
};

/// The node of a scope. With kJoining, the end of the last child resumes the joiner.
struct ScopeNode : HookNode {
    ScopeNode(std::pmr::memory_resource& m, std::size_t b) : HookNode(m, b) { joiner.reset(); }
    void join(Waiter& waiter, std::source_location caller) {
        FLOW_ASSERT_AT(caller, joiner.isEmpty(), "two wait for the end of one scope");
        waiter.awaited = Awaited::operation(this);
        pushBack(joiner, waiter.link);
        flags |= kJoining;
    }

    Link joiner; // at most one waiter; a pointer must follow: see hearsOfLeaving() in flow/core/cell.h
    /// Called when a future of the scope has ended. `error` is invalid for a value. Returns the next frame.
    Waiter* (*onEnd)(ScopeNode*, Error error) = nullptr;
    Error failure;             // the error that join() throws
    std::uint32_t futures = 0; // the futures that the scope holds
};

/// Makes `child` a child of `parent`. If `parent` is cancelled, the child begins as cancelled.
FLOW_INLINE void adopt(Node* parent, Node* child) {
    child->parent = parent;
    if (parent->has(Node::kCancelled)) [[unlikely]] {
        child->flags |= Node::kCancelled;
        forgetCancelledWaits();
        if (!child->has(Node::kIsHook))
            Cell::of(child->frame())->flags |= Cell::kCancelled;
        return pushBack(parent->children, child->sibling);
    }
    pushFront(parent->children, child->sibling);
}

/// Makes a hook below the parent. `Hook` derives from HookNode and is trivially destructible.
template <class Hook>
Hook* makeHook(std::pmr::memory_resource& memory, Node* parent) {
    static_assert(std::is_trivially_destructible_v<Hook>);
    auto* hook = ::new (memory.allocate(sizeof(Hook), alignof(Hook))) Hook(memory, sizeof(Hook));
    if (parent)
        adopt(parent, hook);
    return hook;
}
/// Makes a future a child of the scope, which takes its own reference. Does nothing if the scope is cancelled. With
/// `flags` = kCancelled the child is shielded: a cancel of the scope does not end it, and the scope waits for it.
void hold(ScopeNode* scope, Cell* future, std::uint32_t flags = 0);
/// Releases a pin. If it was the last, ends the wait of the node or the node itself, if no child is left.
void unpin(Node* node) noexcept;
/// Frees the hook as soon as it has no child.
void endHook(HookNode* hook) noexcept;

/// Called before onEnd() with the cell of a failed future. A Scope stores its exception, if there is one.
[[gnu::cold]] void keepExceptionOf(Cell const* failed, ScopeNode* scope) noexcept;
/// Throws the error of the scope, or the stored exception.
[[noreturn, gnu::cold]] void throwFailure(ScopeNode* scope);

/// Called when a child of `parent` has ended. Runs `last`, a waiter of the child or null, and returns settle(parent).
FLOW_RARE Waiter* childLeft(Node* parent, Waiter* last) noexcept;
/// Ends the wait of a kJoining node, or ends a kEnding node, if no child is left. Returns the next frame to run.
Waiter* settle(Node* node) noexcept;
/// Ends a body that failed, or that has children left.
FLOW_RARE Waiter* endSlowly(Waiter* frame, bool failed) noexcept;

/// Cancels the node and all nodes below it, children first. A node that waits for its own child is not interrupted: the
/// end of the child resumes it. Code of the nodes runs inside this call.
void cancelTree(Node* root) noexcept;
/// Cancels the present nodes below `parent`, but not the children that these nodes spawn while they end.
void cancelChildren(Node* parent) noexcept;
/// Destroys the frames of `root` and of all nodes below, children first, wherever they are parked. Runs only the
/// destructors of the frames. Code that waits for one of the nodes waits forever. No node may be running.
void destroyTree(Node* root) noexcept;

} // namespace flow::tasks
