#pragma once
// Choose<N>: waits for the first of up to N things. What `choose` in actors and `race` in coroutines stand on.
//
//     Choose<2> choose;
//     {
//         auto evaluation = choose.begin();
//         (void)choose.when(frame, pending<int>(a));
//         if (choose.undecided())
//             (void)choose.when(frame, pending<Void>(delay(1.0)));
//         evaluation.done();
//     }
//     if (!choose.decided()) ... choose.park(frame) and suspend ...
//     Pending result = choose.result();           // losers are released
//     if (choose.winner() == 0) ...
//
// Lazy: `when` is true as soon as its operand is ready, so that later operands are left unevaluated; `undecided` says
// the same later. Losers are released before the winner goes on; a stream that loses keeps its element. Each branch is
// a Waiter of its own; the frame points at the group, so that cancelling the frame finds all branches.

#include "flow/loop/pending.h"

namespace flow {
namespace detail {

/// What does not depend on the number of branches.
class ChooseBase {
public:
    /// Abandons the branches taken so far if an operand throws before done().
    class Evaluation {
    public:
        explicit Evaluation(ChooseBase& choose) : choose_(&choose) {}
        Evaluation(Evaluation const&) = delete;
        Evaluation& operator=(Evaluation const&) = delete;
        ~Evaluation() {
            if (choose_) [[unlikely]]
                releaseAllBut(choose_->group_, kNobody);
        }
        void done() { choose_ = nullptr; }

    private:
        ChooseBase* choose_;
    };

    /// Takes the next operand for the frame; true if no more are to be evaluated. With Passing for a frame that passes
    /// errors on: if the winner fails once the frame is parked, the frame is not resumed, but ended with that.
    template <bool Passing = false>
    FLOW_INLINE bool when(Waiter* frame, Pending operand) {
        std::uint32_t index = group_.count++;
        Waiter& branch = group_.branches[index];
        branch.resume = fire<Passing>;
        branch.owner = frame;
        branch.link.next = nullptr;
        if (operand.isDelay()) [[unlikely]] { // fires from the loop only
            branch.awaited = {};
            operand.park(&branch);
            return isCancelled(frame);
        }
        branch.awaited = operand.cell();
        if (!operand.isReady())
            return isCancelled(frame);
        group_.winner = index;
        return true;
    }

    /// Whether the next operand is to be evaluated. Unlike what `when` returned, this takes account of what the
    /// temporaries did that have died since.
    FLOW_INLINE bool undecided() const {
        Waiter const& last = group_.branches[group_.count - 1];
        return group_.winner == kNobody && !isReady(last) && !isCancelled(static_cast<Waiter*>(last.owner));
    }

    /// Whether the frame need not suspend; if it must, the branches are parked. Asked once all operands are evaluated
    /// and locals are gone: either may have completed an operand, or cancelled the frame, which nothing could wake
    /// again if it parked now.
    FLOW_INLINE bool decided() {
        if (isCancelled(static_cast<Waiter*>(group_.branches[0].owner))) [[unlikely]]
            return giveUp();
        if (group_.winner != kNobody)
            return true;
        for (std::uint32_t i = 0; i < group_.count; ++i) {
            Waiter& branch = group_.branches[i];
            if (isReady(branch)) {
                group_.winner = i;
                return true;
            }
            if (branch.awaited.isCell())
                detail::park(&branch, branch.awaited.cell());
        }
        return false;
    }

    /// Parks the frame at its branches; the choose must be undecided.
    FLOW_INLINE void park(Waiter* frame) { frame->awaited = &group_; }

    /// Of a choose that is decided: whether result() will have failed.
    bool hasFailed() const {
        return failed(winner() == kNobody ? *static_cast<Waiter*>(group_.branches[0].owner)
                                          : group_.branches[winner()]);
    }

    /// What the winner found. Losers are released first. To be called once, by the frame that goes on.
    FLOW_INLINE Pending result() {
        if (group_.winner == kNobody) [[unlikely]] // resumed without a winner: cancelled
            return Pending::resumed(static_cast<Waiter*>(group_.branches[0].owner));
        Pending winner = Pending::resumed(&group_.branches[group_.winner]);
        if (group_.count > 1)
            releaseAllBut(group_, group_.winner);
        return winner;
    }
    /// The same where what the frame was resumed with has already been taken from it.
    FLOW_INLINE Pending result(Pending resumed) {
        auto* frame = static_cast<detail::Waiter*>(group_.branches[0].owner);
        return group_.winner == kNobody && frame->awaited.isNothing() ? resumed : result();
    }
    std::uint32_t winner() const { return group_.winner; }

    static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

protected:
    Evaluation start(Waiter* branches) {
        group_ = {branches, 0, kNobody};
        return Evaluation(*this);
    }

private:
    static bool isCancelled(Waiter* frame) {
        Cell* cell = Cell::of(frame);
        return cell->has(Cell::kCancelled) && !cell->has(Cell::kUncancellable);
    }

    static bool isReady(Waiter const& branch) {
        return hasFired(branch) || (branch.awaited.isCell() && branch.awaited.cell()->isReady());
    }
    /// Whether a delay is over before the frame was parked.
    static bool hasFired(Waiter const& branch) { return branch.resume == nullptr; }

    /// The frame was cancelled during the evaluation: nobody wins, even if an operand is ready.
    [[gnu::noinline, gnu::cold]] bool giveUp() {
        group_.winner = kNobody;
        releaseAllBut(group_, kNobody);
        static_cast<Waiter*>(group_.branches[0].owner)->awaited = cancelledCell(); // where `result` looks
        return true;
    }

    /// A branch has what it waited for. From here on the frame counts as running: a cancel only marks it. The frame's
    /// first act is to ask for the result, so that no other branch can fire before they are all unlinked.
    template <bool Passing>
    static void fire(Waiter* branch) {
        auto* frame = static_cast<Waiter*>(branch->owner);
        if (frame->awaited.isNothing()) [[unlikely]] { // a later operand runs the loop: `decided` will see it
            branch->resume = nullptr;
            return;
        }
        BranchGroup* group = frame->awaited.group();
        frame->awaited = {};
        if (Passing && failed(*branch)) {
            Error error = branch->awaited.cell()->error;
            releaseAllBut(*group, kNobody);
            if (Waiter* last = failFrame(frame, error))
                FLOW_HAND_OVER(last);
            return;
        }
        group->winner = static_cast<std::uint32_t>(branch - group->branches);
        FLOW_HAND_OVER(frame);
    }

    static bool failed(Waiter const& waiter) { return waiter.awaited.isCell() && waiter.awaited.cell()->isError(); }

    // All are unlinked before the first is released for good, since that may run code that would wake another.
    [[gnu::noinline]] static void releaseAllBut(BranchGroup& group, std::uint32_t kept) {
        std::uint32_t last = 0; // how many are the last to hold what they wait for
        for (std::uint32_t i = 0; i < group.count; ++i) {
            Waiter& branch = group.branches[i];
            if (branch.awaited.isTimer()) [[unlikely]]
                detach(&branch);
            else if (branch.link.isLinked())
                branch.link.unlink();
            Cell* cell = branch.awaited.cell();
            if (!cell || i == kept)
                continue;
            if (cell->futures != 1) {
                branch.awaited = {};
                --cell->futures;
            } else {
                ++last;
            }
        }
        for (std::uint32_t i = 0; last != 0; ++i)
            if (Cell* cell = group.branches[i].awaited.cell(); cell && i != kept) {
                --last;
                group.branches[i].awaited = {};
                releaseFuture(cell);
            }
    }

    BranchGroup group_;
};

} // namespace detail

template <std::size_t N>
class Choose : public detail::ChooseBase {
public:
    /// Starts the evaluation of the operands.
    [[nodiscard]] Evaluation begin() { return start(branches_); }

private:
    detail::Waiter branches_[N];
};

} // namespace flow
