#pragma once
// Graph: pending computations and their waits, for all formats of dumpPending().
//
//     Graph graph(Frames::ofThread(), 1000);
//     for (Node const& node : graph.nodes()) print(node.depth, node.name, node.waits);

#include "flow/inspect/detail/code.h"
#include "flow/inspect/detail/frames.h"
#include "flow/inspect/wait_times.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace flow::inspect {

enum class WaitKind { Running, Ready, Computation, Promise, Stream, Delay, Operation, Itself };
std::string_view nameOf(WaitKind kind);

struct Wait {
    WaitKind kind = WaitKind::Running;
    std::string text;
    Frame const* computation = nullptr; // the awaited computation
    Cell const* promise = nullptr;      // the awaited cell, if it has no computation
    void const* place = nullptr;        // the address of the reference through which the frame waits
    Description description;            // set for an operation
    std::vector<Frame const*> holders;  // the frames that hold the lock, or can set the promise or release the lock

    /// Returns true if the holders have a reference to an object that can end the wait; false if they hold a lock.
    bool isReference() const { return promise || description.mostHeld == 0; }
};

struct Node {
    Frame const* frame;
    int depth; // 0 for the root of a tree
    Style style;
    std::string name;
    Place place;
    std::vector<Wait> waits;
    std::string awaitedBy;         // the name of an awaiter that is not a computation, if any
    Frame const* parent = nullptr; // the parent of a task, if the parent does not await the task now
    bool isShownBefore = false;
    std::optional<WaitTimes::Time> waited = {}; // set if the loop has WaitTimes
};

/// A group of computations with the same code, place and kind of wait.
struct KindCount {
    Style style;
    std::string name;
    Place place;
    WaitKind wait;
    std::size_t count;
    std::optional<double> longest; // the longest wait in the group, in seconds, if it is known
};

class Graph {
public:
    Graph(Frames frames, std::size_t limit);

    std::size_t size() const { return frames_.size(); }
    /// Returns at most `limit` nodes, one tree after the other.
    std::vector<Node> const& nodes() const { return nodes_; }
    /// Returns all computations by kind, the most frequent kind first.
    std::vector<KindCount> kinds();
    /// Returns the cycles. In a cycle, each frame waits for the next, and the last for the first.
    std::vector<std::vector<Frame const*>> cycles() const;
    std::string title(Frame const* frame) { return codes_.titleOf(frame->waiter, instanceOf(frame)); }
    /// Returns a number that tells the frame from other frames of the same actor; 0 if there is no other.
    std::size_t instanceOf(Frame const* frame) const;

private:
    using Edge = std::pair<Frame const*, Frame const*>; // the frame that waits, and the awaited frame

    void findEdges();
    void addTree(Frame const* root, std::size_t limit, std::vector<bool>& isShown);
    Node nodeOf(Frame const* frame, int depth);
    Wait childrenOf(Frame const* task);
    Wait waitOf(Waiter const* waiter);
    void describe(Wait& wait, Waiter const* parked);
    WaitKind kindOf(Waiter const* waiter) const;
    std::vector<Frame const*> awaitedOf(Frame const* frame) const;
    std::size_t indexOf(Frame const* frame) const { return static_cast<std::size_t>(frame - frames_.begin()); }

    Frames frames_;
    Codes codes_;
    WaitTimes* times_ = hasLoop() ? Loop::current().service<WaitTimes>() : nullptr; // null if the loop has none
    // The number of frames by their code. nondeterminism: it is never iterated over.
    std::unordered_map<void const*, std::size_t> instances_;
    std::vector<Edge> edges_;     // sorted by the waiting frame, then by the number of the awaited frame
    std::vector<bool> isAwaited_; // for each frame: true if another frame awaits it
    std::vector<Node> nodes_;
};

} // namespace flow::inspect
