#include "flow/inspect/graph.h"

#include "flow/base/format.h"
#include "flow/loop/loop.h"
#include "flow/wait/source.h"

#include <algorithm>
#include <bitset>
#include <limits>
#include <map>
#include <tuple>

namespace flow::inspect {
namespace {

constexpr std::size_t kMostHolders = 8; // of one thing: a list of hundreds would not be read

bool isInQueue(Waiter const* waiter) {
    return waiter->link.isLinked() && waiter->link.next != &waiter->link;
}

std::string delayText(double deadline) {
    if (deadline == std::numeric_limits<double>::infinity())
        return "a delay without end";
    std::string text = format("a delay until %.9g", deadline);
    return hasLoop() ? text + format(" (%.6g s from now)", deadline - loop().now()) : text;
}

std::string promiseText(Cell const* cell) {
    char const* what = cell->isStream() ? "stream" : "promise";
    if (cell->flags & Cell::kNever)
        return "what is never ready";
    if (cell->promises == 0)
        return format("a %s that nothing can set", what);
    return cell->promises == 1 ? format("a %s", what) : format("a %s that %u hold", what, cell->promises);
}

} // namespace

std::string_view nameOf(WaitKind kind) {
    constexpr std::string_view kNames[] = {"nothing: it runs", "its turn", "a computation", "a promise",
                                           "a stream",         "a delay",  "an operation",  "what completes it"};
    return kNames[static_cast<int>(kind)];
}

Graph::Graph(Frames frames, std::size_t limit) : frames_(std::move(frames)), isAwaited_(frames_.size()) {
    findEdges();
    std::vector<bool> isShown(frames_.size());
    for (bool roots : {true, false}) // what waits in a cycle has no root
        for (Frame const* frame : frames_.inOrder())
            if (isAwaited_[indexOf(frame)] != roots && !isShown[indexOf(frame)])
                addTree(frame, limit, isShown);
    findHolders();
}

void Graph::findEdges() {
    for (Frame const& frame : frames_) {
        Cell* cell = frame.cell();
        for (Link* link = cell->waiters.next; link != &cell->waiters; link = link->next)
            if (Frame const* waits = frames_.ownerOf(Waiter::of(link))) {
                edges_.push_back({waits, &frame});
                isAwaited_[indexOf(&frame)] = true;
            }
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
    Code const& code = codes_.of(frame->waiter);
    Node node{frame, depth, code.style, codes_.nameOf(frame->waiter), codes_.placeOf(frame->waiter), {}, {}};
    forEachParked(frame->waiter, [&](Waiter const* waiter) { node.waits.push_back(waitOf(waiter)); });
    Cell* cell = frame->cell();
    for (Link* link = cell->waiters.next; link != &cell->waiters && node.awaitedBy.empty(); link = link->next)
        if (Waiter* waiter = Waiter::of(link); !frames_.ownerOf(waiter))
            node.awaitedBy = codes_.of(waiter).name;
    return node;
}

WaitKind Graph::kindOf(Waiter const* waiter) const {
    Awaited awaited = waiter->awaited;
    if (awaited.isNothing())
        return !waiter->link.isLinked() ? WaitKind::Running : isInQueue(waiter) ? WaitKind::Ready : WaitKind::Itself;
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

/// Of an operation in place, the source has the type; an owning one is its own frame.
void Graph::describe(Wait& wait, Waiter const* parked) {
    bool isInPlace = wait.kind == WaitKind::Operation;
    auto* function = isInPlace ? SourceBase::codeOf(parked) : reinterpret_cast<void const*>(parked->resume);
    if (!function) {
        wait.text = nameOf(wait.kind);
        return;
    }
    Code const& code = codes_.of(function);
    if (code.describe) {
        // The state of an owning operation follows its frame, which is padded to 16 bytes.
        void const* op = isInPlace ? parked->awaited.operation() : reinterpret_cast<char const*>(parked) + 48;
        code.describe(op, wait.description);
        wait.text = wait.description.text;
    }
    if (wait.text.empty())
        wait.text = isInPlace ? code.name : std::string(nameOf(wait.kind));
}

namespace {

/// What some of the shown computations wait for, and the frames in which its address stands.
struct Target {
    std::uintptr_t address;
    std::vector<std::pair<Frame const*, Wait*>> waits;
    std::vector<Frame const*> holders{}; // that do not wait for it
    std::size_t waiting = 0;             // frames that wait for it and have its address in a place of their own
    Frame const* lastWaiting = nullptr;

    bool isWaitedForBy(Frame const* frame) const {
        return std::any_of(waits.begin(), waits.end(), [&](auto& each) { return each.first == frame; });
    }
};

void countWord(Target& target, Frame const& frame, std::uintptr_t const* word) {
    Wait const& wait = *target.waits.front().second;
    if (target.isWaitedForBy(&frame)) {
        for (auto& each : target.waits)
            if (each.second->place == word)
                return;
        target.waiting += std::exchange(target.lastWaiting, &frame) != &frame;
    } else if (!target.holders.empty() && target.holders.back() == &frame) {
        return; // a frame has copies of its own, above all without optimisation
    } else if (wait.promise) {
        target.holders.push_back(&frame);
    } else if (frame.waiter->resume != target.waits.front().first->waiter->resume && // others that wait
               word + 1 != reinterpret_cast<std::uintptr_t const*>(frame.end) &&
               word[1] - 1 < static_cast<std::uintptr_t>(wait.description.mostHeld)) {
        target.holders.push_back(&frame);
    }
}

/// A word may be a Future as well as a Promise. The cell counts the futures: as many of the frames may have one as
/// there are futures that are neither parked waiters nor in frames that wait.
bool holdsPromise(Target const& target) {
    Cell const* cell = target.waits.front().second->promise;
    std::size_t known = target.waiting;
    for (Link const* link = cell->waiters.next; link != &cell->waiters; link = link->next)
        ++known;
    return target.holders.size() > cell->futures - std::min<std::size_t>(known, cell->futures);
}

} // namespace

// One pass over the memory of all frames, for the addresses that the waits of the shown ones name.
void Graph::findHolders() {
    std::map<std::uintptr_t, Target> byAddress;
    for (Node& node : nodes_)
        for (Wait& wait : node.waits)
            if (void const* thing = wait.promise ? wait.promise : wait.description.lock) {
                auto address = reinterpret_cast<std::uintptr_t>(thing);
                byAddress.try_emplace(address, Target{address, {}}).first->second.waits.push_back({node.frame, &wait});
            }
    if (byAddress.empty())
        return;
    std::bitset<1 << 16> wanted; // by the lower part of the address: most words are none
    auto placeIn = [](std::uintptr_t word) { return word >> 4 & 0xFFFF; };
    for (auto& [address, target] : byAddress)
        wanted.set(placeIn(address));
    for (Frame const& frame : frames_) {
        auto* end = reinterpret_cast<std::uintptr_t const*>(frame.end);
        for (auto* word = reinterpret_cast<std::uintptr_t const*>(frame.waiter + 1); word < end; ++word)
            if (wanted[placeIn(*word)])
                if (auto target = byAddress.find(*word); target != byAddress.end())
                    countWord(target->second, frame, word);
    }
    for (auto& [address, target] : byAddress) {
        if (target.waits.front().second->promise && !holdsPromise(target))
            continue;
        target.holders.resize(std::min(target.holders.size(), kMostHolders));
        for (auto& each : target.waits)
            each.second->holders = target.holders;
    }
}

std::vector<KindCount> Graph::kinds() {
    std::map<std::tuple<std::size_t, std::uint32_t, WaitKind>, std::pair<Frame const*, std::size_t>> counts;
    for (Frame const& frame : frames_) {
        auto& count = counts[{codes_.of(frame.waiter).number, codes_.suspensionOf(frame.waiter), kindOf(frame.waiter)}];
        count.first = &frame;
        ++count.second;
    }
    std::vector<KindCount> kinds;
    for (auto& [key, count] : counts) {
        Waiter const* waiter = count.first->waiter;
        kinds.push_back(
            {codes_.of(waiter).style, codes_.nameOf(waiter), codes_.placeOf(waiter), std::get<2>(key), count.second});
    }
    std::sort(kinds.begin(), kinds.end(), [](KindCount const& a, KindCount const& b) {
        return std::tie(b.count, a.name, a.place.line) < std::tie(a.count, b.name, b.place.line);
    });
    return kinds;
}

std::vector<std::vector<Frame const*>> Graph::cycles() const {
    std::map<std::size_t, std::vector<Frame const*>> next; // by number
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
    std::map<std::size_t, Colour> colour; // by number
    for (Frame const* start : starts) {
        std::vector<std::pair<Frame const*, std::size_t>> path; // and how many of its edges have been followed
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
