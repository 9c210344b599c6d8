// A Graph is built in three steps. findEdges() collects pairs of a waiting and an awaited frame, from the waiters of
// cells and the tree of tasks. addTree() makes nodes depth-first: first from frames that no frame awaits, then from a
// frame of each missing cycle. findHolders() (holders.cpp) adds the holders of locks and promises.
//
// kinds() counts all frames, also beyond the limit. cycles() is a depth-first search with the colours white (new), grey
// (on the path) and black (done): an edge to a grey node closes a cycle.

#include "flow/inspect/detail/graph.h"

#include "flow/base/format.h"
#include "flow/inspect/detail/holders.h"
#include "flow/inspect/object_name.h"
#include "flow/loop/loop.h"
#include "flow/memory/detail/block_walk.h"
#include "flow/wait/source.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace flow::inspect {
namespace {

/// Returns true for a task that waits for its children. Such a task is not in its children's lists of waiters.
bool waitsForChildren(Waiter const* waiter) {
    bool found = false;
    if (isFrame(waiter) && isTask(waiter))
        forEachChild(waiter, Children::Awaited, [&](Waiter*) { found = true; });
    return found;
}

void const* codeOf(Frame const& frame) {
    return reinterpret_cast<void const*>(frame.waiter->resume);
}

bool isInQueue(Waiter const* waiter) {
    return waiter->link.isLinked() && waiter->link.next != &waiter->link;
}

std::string delayText(double deadline) {
    if (deadline == std::numeric_limits<double>::infinity())
        return "a delay without end";
    std::string text = format("a delay until %.9g", deadline);
    return hasLoop() ? text + format(" (%.6g s from now)", deadline - Loop::current().now()) : text;
}

std::string promiseText(Cell const* cell) {
    if (cell->flags & Cell::kNever)
        return "what is never ready";
    if (cell->isStream())
        return cell->promises == 0   ? "a stream without a sender"
               : cell->promises == 1 ? "a stream with 1 sender"
                                     : format("a stream with %u senders", cell->promises);
    if (cell->promises == 0)
        return "a promise that nothing can set";
    return cell->promises == 1 ? "a promise" : format("a promise that %u hold", cell->promises);
}

} // namespace

std::string_view nameOf(WaitKind kind) {
    constexpr std::string_view kNames[] = {
        "nothing, since it runs", "its turn",         "a computation", "a promise", "a stream", "a delay",
        "an operation",           "what completes it"};
    return kNames[static_cast<int>(kind)];
}

Graph::Graph(Frames frames, std::size_t limit) : frames_(std::move(frames)), isAwaited_(frames_.size()) {
    for (Frame const& frame : frames_)
        ++instances_[codeOf(frame)];
    findEdges();
    std::vector<bool> isShown(frames_.size());
    for (bool roots : {true, false}) // the second pass finds cycles, which have no root
        for (Frame const* frame : frames_.inOrder())
            if (isAwaited_[indexOf(frame)] != roots && !isShown[indexOf(frame)])
                addTree(frame, limit, isShown);
    findHolders(frames_, codes_, nodes_);
}

std::size_t Graph::instanceOf(Frame const* frame) const {
    return instances_.at(codeOf(*frame)) > 1 ? memory::numberOf(frame->begin) : 0;
}

void Graph::findEdges() {
    auto add = [&](Frame const* waits, Frame const* awaited) {
        edges_.push_back({waits, awaited});
        isAwaited_[indexOf(awaited)] = true;
    };
    for (Frame const& frame : frames_) {
        Cell* cell = frame.cell();
        if (isTask(frame.waiter))
            forEachChild(frame.waiter, Children::Awaited, [&](Waiter* child) {
                if (Frame const* found = frames_.of(child))
                    add(&frame, found);
            });
        for (Link* link = cell->waiters.next; link != &cell->waiters; link = link->next)
            if (Frame const* waits = frames_.ownerOf(Waiter::of(link)))
                add(waits, &frame);
    }
    auto key = [](Edge const& edge) { return std::tuple(edge.first, edge.second->number); };
    std::sort(edges_.begin(), edges_.end(), [&](Edge const& a, Edge const& b) { return key(a) < key(b); });
    edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
}

std::vector<Frame const*> Graph::awaitedOf(Frame const* frame) const {
    std::vector<Frame const*> awaited;
    auto isBefore = [](Edge const& edge, Frame const* waits) { return edge.first < waits; };
    for (auto edge = std::lower_bound(edges_.begin(), edges_.end(), frame, isBefore);
         edge != edges_.end() && edge->first == frame; ++edge)
        awaited.push_back(edge->second);
    return awaited;
}

void Graph::addTree(Frame const* root, std::size_t limit, std::vector<bool>& isShown) {
    std::vector<std::pair<Frame const*, int>> open{{root, 0}};
    while (!open.empty() && nodes_.size() < limit) {
        auto [frame, depth] = open.back();
        open.pop_back();
        bool isShownBefore = isShown[indexOf(frame)];
        isShown[indexOf(frame)] = true;
        nodes_.push_back(nodeOf(frame, depth));
        nodes_.back().isShownBefore = isShownBefore;
        if (isShownBefore)
            continue;
        std::vector<Frame const*> awaited = awaitedOf(frame);
        for (auto each = awaited.rbegin(); each != awaited.rend(); ++each)
            open.push_back({*each, depth + 1});
    }
}

Node Graph::nodeOf(Frame const* frame, int depth) {
    Waiter const* self = frame->waiter;
    Node node{frame, depth, codes_.styleOf(self), codes_.nameOf(self), codes_.placeOf(self), {}, {}};
    if (waitsForChildren(self))
        node.waits.push_back(childrenOf(frame));
    else
        forEachParked(self, [&](Waiter const* waiter) { node.waits.push_back(waitOf(waiter)); });
    if (Waiter const* parent = isTask(self) ? parentOfTask(self) : nullptr) {
        bool isAwaited = false;
        forEachChild(parent, Children::Awaited, [&](Waiter* child) { isAwaited |= child == self; });
        node.parent = isAwaited ? nullptr : frames_.of(parent);
    }
    if (times_ && kindOf(self) != WaitKind::Running)
        node.waited = times_->of(*frame);
    Cell* cell = frame->cell();
    for (Link* link = cell->waiters.next; link != &cell->waiters && node.awaitedBy.empty(); link = link->next)
        if (Waiter* waiter = Waiter::of(link); !frames_.ownerOf(waiter))
            node.awaitedBy = codes_.of(waiter).name;
    return node;
}

Wait Graph::childrenOf(Frame const* task) {
    Wait wait;
    wait.kind = WaitKind::Computation;
    std::size_t count = 0;
    forEachChild(task->waiter, Children::Awaited, [&](Waiter* child) {
        if (count++ == 0)
            wait.computation = frames_.of(child);
    });
    wait.text = count > 1          ? format("the end of %zu children", count)
                : wait.computation ? title(wait.computation)
                                   : "a computation that ends";
    return wait;
}

WaitKind Graph::kindOf(Waiter const* waiter) const {
    Awaited awaited = waiter->awaited;
    if (waitsForChildren(waiter))
        return WaitKind::Computation;
    if (awaited.isNothing())
        return !waiter->link.isLinked() ? WaitKind::Running : isInQueue(waiter) ? WaitKind::Ready : WaitKind::Itself;
    if (awaited.hasLeftBody())
        return WaitKind::Running;
    if (awaited.isTurn())
        return WaitKind::Ready;
    if (awaited.isTimer())
        return WaitKind::Delay;
    if (awaited.isOperation())
        return WaitKind::Operation;
    if (awaited.isGroup())
        return awaited.group()->count != 0 ? kindOf(&awaited.group()->branches[0]) : WaitKind::Running;
    Cell const* cell = awaited.anyCell();
    return cell->has(Cell::kHasFrame) ? WaitKind::Computation : cell->isStream() ? WaitKind::Stream : WaitKind::Promise;
}

Wait Graph::waitOf(Waiter const* waiter) {
    Wait wait;
    wait.kind = kindOf(waiter);
    switch (wait.kind) {
    case WaitKind::Delay:
        wait.text = delayText(waiter->awaited.timer()->deadline);
        break;
    case WaitKind::Computation:
        wait.computation = frames_.of(waiter->awaited.anyCell()->frame());
        wait.text = wait.computation ? title(wait.computation) : "a computation that ends";
        break;
    case WaitKind::Promise:
    case WaitKind::Stream:
        wait.promise = waiter->awaited.anyCell();
        wait.place = &waiter->awaited;
        wait.text = promiseText(waiter->awaited.anyCell());
        break;
    case WaitKind::Operation:
    case WaitKind::Itself:
        describe(wait, waiter);
        break;
    default:
        wait.text = nameOf(wait.kind);
    }
    return wait;
}

/// Describes a wait by the code of its Source (operation in place) or of its frame (owning operation).
void Graph::describe(Wait& wait, Waiter const* parked) {
    bool isInPlace = wait.kind == WaitKind::Operation;
    auto* function = isInPlace ? SourceBase::codeOf(parked) : reinterpret_cast<void const*>(parked->resume);
    if (!function) {
        wait.text = nameOf(wait.kind);
        return;
    }
    Code const& code = codes_.of(function);
    if (code.describe) {
        // The state of an owning operation comes after its frame, which is padded to 16 bytes.
        void const* op = isInPlace ? parked->awaited.operation() : reinterpret_cast<char const*>(parked) + 48;
        code.describe(op, wait.description);
        wait.text = wait.description.text;
    }
    if (wait.text.empty())
        wait.text = isInPlace ? code.name : std::string(nameOf(wait.kind));
    if (std::string name = isInPlace ? ObjectName::at(SourceBase::sourceOf(parked)) : ""; !name.empty())
        wait.text += format(" \"%s\"", name.c_str());
}

std::vector<KindCount> Graph::kinds() {
    struct Count {
        Frame const* frame;
        std::size_t count;
        std::optional<double> longest;
    };
    std::map<std::tuple<std::size_t, std::uint32_t, WaitKind>, Count> counts;
    for (Frame const& frame : frames_) {
        auto& count = counts[{codes_.of(frame.waiter).number, codes_.suspensionOf(frame.waiter), kindOf(frame.waiter)}];
        count.frame = &frame;
        ++count.count;
        if (times_)
            if (WaitTimes::Time time = times_->of(frame); time.isKnown)
                count.longest = std::max(count.longest.value_or(0), time.seconds);
    }
    std::vector<KindCount> kinds;
    for (auto& [key, count] : counts) {
        Waiter const* waiter = count.frame->waiter;
        kinds.push_back({codes_.styleOf(waiter), codes_.nameOf(waiter), codes_.placeOf(waiter), std::get<2>(key),
                         count.count, count.longest});
    }
    std::sort(kinds.begin(), kinds.end(), [](KindCount const& a, KindCount const& b) {
        return std::tie(b.count, a.name, a.place.line) < std::tie(a.count, b.name, b.place.line);
    });
    return kinds;
}

std::vector<std::vector<Frame const*>> Graph::cycles() const {
    std::map<std::size_t, std::vector<Frame const*>> next; // by the number of the frame
    std::vector<Frame const*> starts;
    for (Node const& node : nodes_) {
        if (node.isShownBefore)
            continue;
        starts.push_back(node.frame);
        auto& after = next[node.frame->number];
        after = awaitedOf(node.frame);
        for (Wait const& wait : node.waits)
            after.insert(after.end(), wait.holders.begin(), wait.holders.end());
    }
    std::vector<std::vector<Frame const*>> cycles;
    enum Colour { White, Grey, Black };
    std::map<std::size_t, Colour> colour; // by the number of the frame
    for (Frame const* start : starts) {
        std::vector<std::pair<Frame const*, std::size_t>> path; // each frame with the number of edges already followed
        if (colour[start->number] == White)
            path.push_back({start, 0});
        colour[start->number] = colour[start->number] == White ? Grey : colour[start->number];
        while (!path.empty()) {
            auto& [frame, followed] = path.back();
            auto found = next.find(frame->number);
            if (found == next.end() || followed == found->second.size()) {
                colour[frame->number] = Black;
                path.pop_back();
                continue;
            }
            Frame const* to = found->second[followed++];
            if (colour[to->number] == Grey) {
                std::vector<Frame const*> cycle;
                auto from = std::find_if(path.begin(), path.end(), [&](auto& each) { return each.first == to; });
                for (; from != path.end(); ++from)
                    cycle.push_back(from->first);
                cycles.push_back(std::move(cycle));
            } else if (colour[to->number] == White) {
                colour[to->number] = Grey;
                path.push_back({to, 0});
            }
        }
    }
    return cycles;
}

} // namespace flow::inspect
