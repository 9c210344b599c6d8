#pragma once
// Choose<N>: waits for the first of up to N operands. `choose` in actors and `race` in coroutines use it.
//
//     Choose<2> choose;
//     {
//         auto evaluation = choose.evaluate(frame);
//         (void)choose.when(pending<int>(a));
//         if (choose.undecided())
//             (void)choose.when(pending<Void>(delay(1.0)));
//         evaluation.done();
//     }
//     if (!choose.decided()) ... choose.park(frame) and suspend ...
//     Pending result = choose.result();           // the winner's operand, or a cancel; losers are released
//     if (choose.won(0)) ...
//
// The evaluation is lazy: if `when` returns true, its operand is ready, and the caller evaluates no later operands.
// `undecided` tests the last operand again. Losers are released before the frame goes on, but after the winner has
// taken its value. So a stream that loses keeps its element, and code that reads the winner's stream then gets the next
// element. Each operand has a Waiter, its branch. The frame points at the group, so a cancel finds all branches.

#include "flow/wait/detail/pending.h"

namespace flow {
namespace detail {

/// The part of a Choose that does not depend on the number of branches.
class ChooseBase {
public:
    /// A guard. If an operand throws before done(), the guard releases the branches that exist by then.
    class Evaluation {
    public:
        explicit Evaluation(ChooseBase& choose) : choose_(&choose) {}
        Evaluation(Evaluation const&) = delete;
        Evaluation& operator=(Evaluation const&) = delete;
        ~Evaluation() {
            if (choose_) [[unlikely]]
                releaseAllBut(choose_->group_, nullptr);
        }
        void done() { choose_ = nullptr; }

    private:
        ChooseBase* choose_;
    };

    /// Takes the next operand for the frame. Returns true if the caller must evaluate no more operands. With
    /// Propagates, a winner that fails after the frame has parked ends the frame with the error instead of resuming it.
    template <bool Propagates = false>
    FLOW_INLINE bool when(Pending operand) {
        return take<Propagates>(operand) || isCancelled(frame());
    }

    // The next functions are faster than when(). The operands must exist already: no other code may run before the
    // frame parks. Call begin(frame). If cancelled() is false, call decide() with the first ready operand. If none is
    // ready, call parkThere() or parkOperation() for each operand, and then parkedAll(). Do not call decided().

    FLOW_INLINE bool cancelled() {
        if (!isCancelled(frame())) [[likely]]
            return false;
        giveUp();
        return true;
    }
    FLOW_INLINE void decide(std::uint32_t index, Pending ready) {
        group_.winner = behindGroup(group_.branches + index);
        frame()->awaited = ready.cell();
    }
    template <bool Propagates = false>
    FLOW_INLINE void parkThere(std::uint32_t index, Pending operand) {
        Waiter& branch = group_.branches[index];
        branch.resume = fire<Propagates>;
        branch.owner = this;
        if (operand.isDelay()) { // park() throws if there is no memory for the timer
            branch.link.next = nullptr;
            branch.awaited = {};
            group_.count = index;
        }
        operand.park(&branch);
    }
    /// Parks a branch at an operation. With IsPutOff, the branch resumes in a later turn if its operation is ready now.
    template <bool Propagates = false, bool IsPutOff = false, class Op>
    FLOW_INLINE void parkOperation(std::uint32_t index, Op& op) {
        Waiter& branch = group_.branches[index];
        branch.resume = fire<Propagates>;
        branch.owner = this;
        branch.link.next = nullptr;
        branch.awaited = {};
        group_.count = index; // before park(), which may throw
        op.park(branch);
        if constexpr (IsPutOff)
            goOnLater(branch);
    }
    FLOW_INLINE void parkedAll(std::uint32_t count) { group_.count = count; }
    /// Returns true if the choose is decided: a branch has won, or cancelled() has returned true.
    FLOW_INLINE bool isOver() const { return group_.winner != kNobody || !frame()->awaited.isNothing(); }
    FLOW_INLINE Waiter* frame() const { return frame_; }

    /// Returns true if the caller must evaluate the next operand. Destructors of temporaries may have run since `when`
    /// returned, so the last operand is tested again.
    FLOW_INLINE bool undecided() const {
        Waiter const& last = group_.branches[group_.count - 1];
        return group_.winner == kNobody && !isReady(last) && !isCancelled(frame());
    }

    /// Returns true if the frame need not suspend. Otherwise parks the branches. Called after all operands are
    /// evaluated and the locals are destroyed: an evaluation or a destructor may have completed an operand, or
    /// cancelled the frame. If a cancelled frame parked now, nothing could wake the frame again.
    FLOW_INLINE bool decided() {
        if (cancelled())
            return true;
        if (group_.winner == kNobody) {
            Waiter *branch = group_.branches, *end = branch + group_.count;
            while (parkAtCell(*branch) || !isOver(*branch))
                if (++branch == end)
                    return false;
            group_.winner = behindGroup(branch);
        }
        frame()->awaited = std::exchange(winningBranch()->awaited, {});
        return true;
    }

    /// Parks the frame at its branches; the choose must be undecided.
    FLOW_INLINE void park(Waiter* frame) { frame->awaited = &group_; }

    /// Returns the frame that waits at the branch `waiter`; null if `waiter` is not a branch.
    static Waiter const* frameOf(Waiter const* waiter) {
        bool isBranch = waiter->resume == fire<false> || waiter->resume == fire<true>;
        return isBranch ? static_cast<ChooseBase*>(waiter->owner)->frame_ : nullptr;
    }

    /// Releases the losers. result() is found() followed by releaseLosers().
    FLOW_INLINE void releaseLosers() const {
        // If no branch has won, giveUp() or a cancel of the frame (takeAwaited) has released all branches already.
        if (group_.count > 1)
            releaseAllBut(group_, winningBranch());
    }

    /// Returns true if the result has an error. The choose must be decided. To be called before result().
    bool hasFailed() const { return failed(*frame()); }

    static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

protected:
    FLOW_INLINE void start(Waiter* frame, Waiter* branches) {
        group_ = {branches, 0, kNobody};
        frame_ = frame;
    }

    bool hasWon(Waiter const* branch) const { return group_.winner == behindGroup(branch); }

private:
    std::uint32_t behindGroup(Waiter const* branch) const {
        return static_cast<std::uint32_t>(reinterpret_cast<char const*>(branch) -
                                          reinterpret_cast<char const*>(&group_));
    }
    FLOW_INLINE Waiter* winningBranch() const {
        return reinterpret_cast<Waiter*>(reinterpret_cast<char*>(const_cast<BranchGroup*>(&group_)) + group_.winner);
    }

    /// Adds a branch for the operand. Returns true if the operand is ready.
    template <bool Propagates>
    FLOW_INLINE bool take(Pending operand) {
        std::uint32_t index = group_.count++;
        Waiter& branch = group_.branches[index];
        branch.resume = fire<Propagates>;
        branch.owner = this;
        branch.link.next = nullptr;
        if (operand.isOperation() && !isCancelled(frame()))
            operand.startIfReady();           // decided() starts an operation that is not ready
        if (operand.isDelay()) [[unlikely]] { // only the loop fires a delay
            branch.awaited = {};
            operand.park(&branch);
            return false;
        }
        if (operand.isHeld()) { // decided() tests again, since code that runs meanwhile may take from the source
            branch.awaited = detail::Awaited::operation(operand.held());
            return !isCancelled(frame()) && operand.held()->isReady() && operand.held()->mayGoOn();
        }
        branch.awaited = operand.cell();
        if (!operand.isReady())
            return false;
        group_.winner = behindGroup(&branch);
        return true;
    }

    static bool isCancelled(Waiter* frame) { return Cell::of(frame)->has(Cell::kCancelled); }

    static bool isReady(Waiter const& branch) {
        return hasFired(branch) || (branch.awaited.isCell() ? branch.awaited.cell()->isReady()
                                                            : isHeld(branch) && heldBy(branch).isReady());
    }
    /// Returns true if the branch has a HeldOperation and is not parked at its source.
    static bool isHeld(Waiter const& branch) { return branch.awaited.isOperation() && !branch.link.isLinked(); }
    static HeldOperation& heldBy(Waiter const& branch) {
        return *static_cast<HeldOperation*>(branch.awaited.operation());
    }
    /// Parks a branch at its cell. False if there is no cell, or the cell is ready, or its operation has not started.
    FLOW_INLINE static bool parkAtCell(Waiter& branch) {
        if (!branch.awaited.isCell())
            return false;
        Cell* cell = branch.awaited.cell();
        checkThread(cell);
        if (cell->isReady() || cell->isDormant())
            return false;
        // A later operand may wait for the same stream: without this check, only the next send() would detect it.
        FLOW_CHECK(cell->waiters.isEmpty() || !cell->isStream(), kTwoReaders);
        pushFront(cell->waiters, branch.link);
        return true;
    }
    /// Called if parkAtCell() returned false. Returns true if the branch has its result. Otherwise parks the branch.
    [[gnu::noinline]] bool isOver(Waiter& branch) {
        if (!branch.awaited.isCell())
            return hasFired(branch) || startHeld(branch);
        Cell* cell = branch.awaited.cell();
        if (cell->isReady() || startDormant(cell, StartKept::Always))
            return true;
        pushFront(cell->waiters, branch.link);
        return false;
    }
    /// Starts the HeldOperation of the branch, if there is one. Returns true if it goes on now; else parks the branch.
    bool startHeld(Waiter& branch) {
        if (!isHeld(branch))
            return false;
        HeldOperation& held = heldBy(branch);
        branch.awaited = {};
        Evaluation evaluation(*this); // the calls below may throw
        bool ready = held.isReady() && held.goesOn();
        if (!ready)
            held.park(branch);
        evaluation.done();
        return ready;
    }
    /// Returns true if the branch fired before the frame was parked. Only the branch of a delay can do that.
    static bool hasFired(Waiter const& branch) { return branch.resume == nullptr; }

    /// Called if the frame was cancelled during the evaluation. No branch wins, even if an operand is ready.
    [[gnu::noinline, gnu::cold]] void giveUp() {
        group_.winner = kNobody;
        releaseAllBut(group_, nullptr);
        group_.count = 0;
        frame()->awaited = cancelledCell(nullptr, frame()); // result() takes this cell
    }

    /// Called when the operand of a branch is ready. From here on the frame counts as running: a cancel only marks it.
    /// The frame resumes with a call of result(), which unlinks all branches, so that no other branch can fire.
    template <bool Propagates>
    static void fire(Waiter* branch) {
        auto* choose = static_cast<ChooseBase*>(branch->owner);
        Waiter* frame = choose->frame_;
        if (!frame->awaited.isGroup()) [[unlikely]] { // a later operand runs the loop: see hasFired()
            branch->resume = nullptr;
            return;
        }
        if (Propagates && failed(*branch)) [[unlikely]] {
            branch->resume = fail; // a separate function, so that fire() saves no registers for fail()
            FLOW_HAND_OVER(branch);
        }
        frame->awaited = std::exchange(branch->awaited, {});
        choose->group_.winner = choose->behindGroup(branch);
        FLOW_HAND_OVER(frame);
    }
    static void fail(Waiter* branch) {
        auto* choose = static_cast<ChooseBase*>(branch->owner);
        Waiter* frame = choose->frame_;
        frame->awaited = {};
        Cell* failed = branch->awaited.cell();
        shareException(Cell::of(frame), failed);
        Error error = readError(failed);
        releaseAllBut(choose->group_, nullptr);
        if (Waiter* last = failFrame(frame, error))
            FLOW_HAND_OVER(last);
    }

    /// Returns true if the waiter has got an error. Its wait must be over: `awaited` is a ready cell, or nothing.
    static bool failed(Waiter const& waiter) {
        Cell* cell = waiter.awaited.cell();
        return cell && cell->isError();
    }

    // Releases all branches but `kept`, which was unlinked when it fired. A release that may run code, and so wake
    // another branch, comes after all branches are unlinked. The only call is a tail call, so the function needs no
    // stack. The branches are not changed: nothing reads them again.
    [[gnu::noinline]] static void releaseAllBut(BranchGroup const& group, Waiter const* kept) {
        Waiter* branch = group.branches;
        for (std::uint32_t left = group.count; left != 0; --left, ++branch) {
            if (branch != kept && !letGo(*branch)) [[unlikely]]
                return releaseRest(branch, left, kept);
        }
    }
    /// Releases a branch, and returns true. Changes nothing and returns false if the branch does not wait for a cell,
    /// or has the last future of this cell.
    FLOW_INLINE static bool letGo(Waiter& branch) {
        if (!branch.awaited.isCell() || branch.awaited.cell()->futures == 1) [[unlikely]]
            return false;
        if (branch.link.isLinked())
            branch.link.cutOut();
        --branch.awaited.cell()->futures;
        return true;
    }
    /// The part of releaseAllBut() for the `left` branches from `first` on, if letGo() cannot release all of them.
    [[gnu::noinline]] static void releaseRest(Waiter* first, std::uint32_t left, Waiter const* kept) {
        Waiter* end = first + left;
        for (Waiter* branch = first; branch != end; ++branch)
            if (branch != kept)
                detach(branch);
        for (Waiter* branch = first; branch != end; ++branch)
            if (branch != kept && branch->awaited.isCell())
                releaseFuture(branch->awaited.cell());
    }

    BranchGroup group_;

protected:
    Waiter* frame_;
};

} // namespace detail

template <std::size_t N>
class Choose : public detail::ChooseBase {
public:
    Choose() {}

    [[nodiscard]] FLOW_INLINE Evaluation evaluate(detail::Waiter* frame) {
        start(frame, branches_);
        return Evaluation(*this);
    }
    FLOW_INLINE void begin(detail::Waiter* frame) { start(frame, branches_); }

    /// Takes the result out of the frame: the winner's operand, or the failed cell of a cancel. Releases the losers.
    /// The frame calls result() once, when it resumes.
    FLOW_INLINE Pending result() {
        Pending found = Pending::resumed(frame());
        releaseLosers();
        return found;
    }
    /// Like result(), but does not release the losers: the caller calls releaseLosers().
    FLOW_INLINE Pending found() { return Pending::resumed(frame()); }

    /// Returns the next element of the stream that has won. Then releases the losers, which may read the same stream.
    template <class T>
    T takeNext(Pending won) {
        struct Losers {
            Choose& choose;
            ~Losers() { choose.releaseLosers(); }
        } losers{*this};
        return won.takeNext<T>();
    }

    /// Returns true if the operand with this index has decided the choose.
    bool won(std::size_t index) const { return hasWon(branches_ + index); }

private:
    // The union leaves the branches uninitialised: the functions that take an operand initialise them.
    union {
        detail::Waiter branches_[N];
    };
};

} // namespace flow
