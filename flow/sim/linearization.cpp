// The search is depth-first, with its own stack: places_ holds a Place for each point on the way to the present one,
// and moves_ holds the moves that are possible from these points. A move takes an operation that has returned (done_).
// If that operation does not fit the value, the move first takes operations of unknown outcome (kinds_) that make it
// fit. arrive() lists the moves of a place, take() makes a move, leave() undoes it. When all of done_ is taken, an
// order is found.
//
// Four rules keep the search short. A read that fits is taken immediately. Of several calls with the same effect, only
// one is tried. A set of remaining calls is not searched twice at the same value. Operations of unknown outcome are
// taken only in chains that the next returned operation needs.

#include "flow/sim/detail/linearization.h"

#include <algorithm>
#include <compare>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace flow {
namespace {

using Operation = History::Operation;

/// The number of a value. All values that no operation needs share one number: no result can distinguish them.
using State = int;
constexpr State kNone = 0;
constexpr State kUnseen = 1;
constexpr State kKept = -1;

/// The value that an operation needs, and the value that it leaves.
struct Effect {
    enum class Needs { anything, same, other };
    Needs needs;
    State needed;
    State left; // kKept: the value stays as it is

    bool fits(State state) const { return needs == Needs::anything || (needs == Needs::same) == (state == needed); }
    State after(State state) const { return left == kKept ? state : left; }
    /// Returns true if the operation never changes the value.
    bool onlyLooks() const { return left == kKept || (needs == Needs::same && left == needed); }
    friend auto operator<=>(Effect const&, Effect const&) = default;
};

class States {
public:
    void see(Optional<std::string> const& value) {
        if (value.present())
            numbers_.emplace(value.get(), static_cast<State>(numbers_.size()) + kUnseen + 1);
    }
    State of(Optional<std::string> const& value) const {
        if (!value.present())
            return kNone;
        auto found = numbers_.find(value.get());
        return found == numbers_.end() ? kUnseen : found->second;
    }
    std::size_t count() const { return numbers_.size() + kUnseen + 1; }

private:
    std::map<std::string_view, State> numbers_;
};

/// The key of a point that has been searched: the operations that were left, and the value.
struct RemainingCalls {
    std::vector<std::size_t> numbers;

    friend bool operator==(RemainingCalls const&, RemainingCalls const&) = default;
    struct Hash {
        std::size_t operator()(RemainingCalls const& left) const {
            std::uint64_t hash = 0;
            for (std::size_t number : left.numbers) {
                hash = (hash ^ number) * 0x9E3779B97F4A7C15u;
                hash ^= hash >> 32;
            }
            return static_cast<std::size_t>(hash);
        }
    };
};

class Search {
public:
    Search(std::vector<Operation const*> const& operations, std::size_t end, std::uint64_t budget) : budget_(budget) {
        States states;
        for (Operation const* operation : operations)
            see(*operation, end, states);
        std::map<Effect, std::size_t> kinds;
        for (std::size_t index = 0; index < operations.size(); ++index)
            add(*operations[index], index, end, states, kinds);
        used_.resize(kinds_.size());
        makers_.resize(states.count());
        for (std::size_t kind = 0; kind < kinds_.size(); ++kind)
            makers_[static_cast<std::size_t>(kinds_[kind].effect.left)].push_back(kind);
        visited_.resize(states.count());
        link();
    }

    Linearization run() {
        using Answer = Linearization::Answer;
        while (left_ > 0) {
            if (steps_ > budget_)
                return result(Answer::undecided);
            arrive();
            if (places_.back().next == moves_.size())
                keepLongest();
            while (places_.back().next == moves_.size()) {
                leave();
                if (places_.empty())
                    return result(Answer::none);
            }
            take(moves_[places_.back().next++]);
        }
        keepLongest();
        return result(Answer::exists);
    }

private:
    /// An operation that has returned, and must be in the order.
    struct Done {
        Effect effect;
        std::size_t index, invoked, returned;
    };
    /// All operations of unknown outcome with the same effect, in the order of their invocations. Each may come at any
    /// time after its invocation. So the search always takes them in this order, and only counts how many are taken.
    struct Kind {
        Effect effect;
        std::vector<std::size_t> indices, invoked;
    };
    /// One step of the search: operations of unknown outcome, each needed by the next, then a returned operation.
    struct Move {
        std::size_t done, firstKind, lastKind;
    };
    /// A point of the search, after `taken` operations. While it is the last place, its moves are at the end of moves_.
    struct Place {
        std::size_t firstMove, firstKind, next, taken;
        State state;
    };

    static void see(Operation const& operation, std::size_t end, States& states) {
        if (operation.kind == History::Kind::compareAndSet)
            states.see(operation.expected);
        else if (operation.kind == History::Kind::get && operation.returned < end)
            states.see(operation.value);
    }

    void add(Operation const& operation, std::size_t index, std::size_t end, States const& states,
             std::map<Effect, std::size_t>& kinds) {
        if (operation.invoked >= end)
            return;
        bool returned = operation.returned < end;
        Effect effect{Effect::Needs::anything, 0, states.of(operation.value)};
        if (operation.kind == History::Kind::get) {
            effect = {Effect::Needs::same, effect.left, kKept};
        } else if (operation.kind == History::Kind::compareAndSet) {
            effect.needed = states.of(operation.expected);
            effect.needs = returned && !operation.succeeded ? Effect::Needs::other : Effect::Needs::same;
            if (effect.needs == Effect::Needs::other)
                effect.left = kKept;
        }
        if (returned) {
            done_.push_back({effect, index, operation.invoked, operation.returned});
        } else if (!effect.onlyLooks()) {
            auto [kind, isNew] = kinds.emplace(effect, kinds_.size());
            if (isNew)
                kinds_.push_back({effect, {}, {}});
            kinds_[kind->second].indices.push_back(index);
            kinds_[kind->second].invoked.push_back(operation.invoked);
        }
    }

    // next_ and previous_ make a circular list of the calls and returns, in order. Entry 2i is the call of done_[i],
    // entry 2i + 1 is its return. Entry ends_ is the sentinel, before the first and after the last entry.

    void link() {
        std::vector<std::pair<std::size_t, std::size_t>> events;
        for (std::size_t i = 0; i < done_.size(); ++i) {
            events.emplace_back(done_[i].invoked, 2 * i);
            events.emplace_back(done_[i].returned, 2 * i + 1);
        }
        std::sort(events.begin(), events.end());
        left_ = done_.size();
        ends_ = 2 * left_;
        next_.resize(ends_ + 1);
        previous_.resize(ends_ + 1);
        std::size_t last = ends_;
        for (auto const& event : events) {
            next_[last] = event.second;
            previous_[event.second] = last;
            last = event.second;
        }
        next_[last] = ends_;
        previous_[ends_] = last;
    }

    void unlink(std::size_t entry) {
        next_[previous_[entry]] = next_[entry];
        previous_[next_[entry]] = previous_[entry];
    }
    /// Puts an entry back between its old neighbours. The entry that was unlinked last must be put back first.
    void relink(std::size_t entry) { next_[previous_[entry]] = previous_[next_[entry]] = entry; }

    /// Adds a place for the present point and lists its moves. Lists none if the point need not be searched.
    void arrive() {
        places_.push_back({moves_.size(), chains_.size(), moves_.size(), taken_.size(), state_});
        calls_.clear();
        std::size_t entry = next_[ends_];
        for (; entry % 2 == 0; entry = next_[entry])
            calls_.push_back(entry / 2);
        steps_ += calls_.size();
        firstReturn_ = done_[entry / 2].returned;
        // If an operation only reads, and fits, its move is the only one listed: an order that has the operation at a
        // later place stays valid if the operation is moved to this point.
        for (std::size_t done : calls_) {
            if (done_[done].effect.onlyLooks() && done_[done].effect.fits(state_)) {
                moves_.push_back({done, chains_.size(), chains_.size()});
                return;
            }
        }
        if (wasHere())
            return;
        dropAlike();
        for (std::size_t done : calls_) {
            if (done_[done].effect.fits(state_))
                moves_.push_back({done, chains_.size(), chains_.size()});
        }
        for (std::size_t done : calls_) {
            if (!done_[done].effect.fits(state_))
                listChains(done);
        }
    }

    /// Among calls with the same effect, keeps the call that returns first: the others can still be taken later.
    void dropAlike() {
        std::size_t kept = 0;
        for (std::size_t done : calls_) {
            auto end = calls_.begin() + static_cast<std::ptrdiff_t>(kept);
            auto alike = std::find_if(calls_.begin(), end,
                                      [&](std::size_t other) { return done_[other].effect == done_[done].effect; });
            if (alike == end)
                calls_[kept++] = done;
            else if (done_[done].returned < done_[*alike].returned)
                *alike = done;
        }
        calls_.resize(kept);
    }

    /// Returns true if the search was at a point with the same value and the same remaining returned operations before,
    /// and had taken, of each kind, at most as many operations of unknown outcome as now. To compare the remaining
    /// operations, calls_ is enough: the first return belongs to one of these calls, and all later calls remain.
    bool wasHere() {
        RemainingCalls left{calls_};
        left.numbers.push_back(static_cast<std::size_t>(state_));
        auto& before = seen_[std::move(left)];
        std::size_t size = 1 + used_.size() / 16; // so that the budget bounds the memory as well
        steps_ += size;
        for (auto const& used : before) {
            steps_ += size;
            if (std::equal(used.begin(), used.end(), used_.begin(), std::less_equal<>()))
                return true;
        }
        before.push_back(used_);
        return false;
    }

    /// Lists the moves that take operations of unknown outcome before `done`, which does not fit without them. If
    /// `done` does not need an operation of unknown outcome, an order can have that operation after `done` or not at
    /// all. So a chain is any write, and then compareAndSets, each of which needs the value that the operation before
    /// it leaves.
    void listChains(std::size_t done) {
        Effect const& effect = done_[done].effect;
        if (effect.needs == Effect::Needs::same) {
            listChainsTo(effect.needed, done);
            return;
        }
        for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
            Effect const& maker = kinds_[kind].effect;
            ++steps_;
            if (maker.left != effect.needed && maker.fits(state_) && canTake(kind)) {
                chains_.push_back(kind);
                moves_.push_back({done, chains_.size() - 1, chains_.size()});
            }
        }
    }

    /// Lists the chains that leave the value `target`. chain_ holds the later operations of a chain, in reverse order.
    void listChainsTo(State target, std::size_t done) {
        visited_[static_cast<std::size_t>(target)] = true; // a chain needs no value twice
        for (std::size_t kind : makers_[static_cast<std::size_t>(target)]) {
            Effect const& maker = kinds_[kind].effect;
            if (++steps_ > budget_)
                break;
            if (!canTake(kind))
                continue;
            chain_.push_back(kind);
            if (maker.fits(state_)) {
                moves_.push_back({done, chains_.size(), chains_.size() + chain_.size()});
                chains_.insert(chains_.end(), chain_.rbegin(), chain_.rend());
            } else if (!visited_[static_cast<std::size_t>(maker.needed)]) {
                listChainsTo(maker.needed, done);
            }
            chain_.pop_back();
        }
        visited_[static_cast<std::size_t>(target)] = false;
    }

    bool canTake(std::size_t kind) const {
        auto const& invoked = kinds_[kind].invoked;
        return used_[kind] < invoked.size() && invoked[used_[kind]] < firstReturn_;
    }

    void take(Move const& move) {
        for (std::size_t i = move.firstKind; i < move.lastKind; ++i) {
            Kind const& kind = kinds_[chains_[i]];
            taken_.push_back(kind.indices[used_[chains_[i]]++]);
            state_ = kind.effect.left;
        }
        state_ = done_[move.done].effect.after(state_);
        taken_.push_back(done_[move.done].index);
        unlink(2 * move.done);
        unlink(2 * move.done + 1);
        --left_;
    }

    /// Undoes the move to the last place, and removes this place.
    void leave() {
        moves_.resize(places_.back().firstMove);
        chains_.resize(places_.back().firstKind);
        places_.pop_back();
        if (places_.empty())
            return;
        Move const& move = moves_[places_.back().next - 1];
        relink(2 * move.done + 1);
        relink(2 * move.done);
        ++left_;
        for (std::size_t i = move.firstKind; i < move.lastKind; ++i)
            --used_[chains_[i]];
        state_ = places_.back().state;
        taken_.resize(places_.back().taken);
        kept_ = std::min(kept_, taken_.size());
    }

    /// Copies taken_ to longest_ if it is longer. Copies only the part that has changed.
    void keepLongest() {
        if (std::size_t length = done_.size() - left_; length >= longestLength_) {
            longest_.resize(kept_);
            longest_.insert(longest_.end(), taken_.begin() + static_cast<std::ptrdiff_t>(kept_), taken_.end());
            kept_ = taken_.size();
            longestLength_ = length + 1;
        }
    }

    Linearization result(Linearization::Answer answer) { return {answer, std::move(longest_), steps_}; }

    std::vector<Done> done_; // in the order of their invocations
    std::vector<Kind> kinds_;
    std::vector<std::vector<std::size_t>> makers_; // for each value: the kinds that leave this value
    std::vector<std::size_t> next_, previous_;
    std::size_t ends_ = 0;

    State state_ = kNone;
    std::vector<std::uint32_t> used_; // for each kind: the number of its operations that are taken
    std::size_t left_ = 0;            // the number of done_ that are not taken
    std::vector<std::size_t> taken_;
    std::vector<Place> places_;
    std::vector<Move> moves_;
    std::vector<std::size_t> chains_; // the kinds that moves_ take

    std::vector<std::size_t> calls_; // the remaining calls of this place that are before the first return
    std::size_t firstReturn_ = 0;
    std::vector<std::size_t> chain_;
    std::vector<bool> visited_;

    // nondeterminism: no code iterates over this map
    std::unordered_map<RemainingCalls, std::vector<std::vector<std::uint32_t>>, RemainingCalls::Hash> seen_;
    std::vector<std::size_t> longest_;
    std::size_t kept_ = 0;          // the first kept_ elements of longest_ and taken_ are equal
    std::size_t longestLength_ = 0; // an order with this number of done_ is longer than longest_
    std::uint64_t steps_ = 0, budget_;
};

} // namespace

Linearization linearize(std::vector<History::Operation const*> const& operations, std::size_t end,
                        std::uint64_t budget) {
    return Search(operations, end, budget).run();
}

} // namespace flow
