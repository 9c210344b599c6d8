#include "flow/inspect/detail/holders.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <fcntl.h>
#include <map>
#include <unistd.h>
#include <unordered_set>

namespace flow::inspect {
namespace {

using Word = std::uintptr_t;

constexpr std::size_t kMostHolders = 8; // of one target, to keep the report readable
constexpr std::size_t kMostObjects = 200'000;

/// An object for which shown computations wait, and the frames that contain its address.
struct Target {
    Word address;
    std::vector<std::pair<Frame const*, Wait*>> waits;
    std::vector<Frame const*> holders{}; // frames that do not wait for the object
    std::size_t waiting = 0;             // frames that wait for the object and also have its address elsewhere
    Frame const* lastWaiting = nullptr;
    bool isLeft = false; // true for a lock that no frame holds

    Wait const& wait() const { return *waits.front().second; }
    bool isMark() const { return address & 1; }
    bool isWaitedForBy(Frame const* frame) const {
        return std::any_of(waits.begin(), waits.end(), [&](auto& each) { return each.first == frame; });
    }
    /// Returns true if `next`, the word after the address, can be the count that a holder stores there.
    bool isCount(Word next) const { return next - 1 < static_cast<Word>(wait().description.mostHeld); }
    void add(Frame const& frame) {
        if (holders.empty() || holders.back() != &frame) // a frame may have several copies of the address
            holders.push_back(&frame);
    }
    /// Counts `frame`, which contains the address of the target at `word`. `next` is the word after it, or 0.
    void count(Frame const& frame, Word const* word, Word next) {
        if (isMark()) {
            add(frame);
        } else if (isWaitedForBy(&frame)) {
            for (auto& each : waits)
                if (each.second->place == word)
                    return;
            waiting += std::exchange(lastWaiting, &frame) != &frame;
        } else if (wait().isReference()) {
            add(frame);
        } else if (frame.waiter->resume != waits.front().first->waiter->resume && isCount(next)) {
            add(frame); // not frames with the waiter's code: they have the address and a count too
        }
    }
};

/// Returns true if at least one holder must have a Promise. A holder has the address of the cell in a Future or in a
/// Promise. If there are more holders than futures (not counting the futures of waiters), some holder has a Promise.
/// If there are more holders than futures and promises together, some of them have only stale bytes, and nothing is
/// certain.
bool holdsPromise(Target const& target) {
    Cell const* cell = target.wait().promise;
    std::size_t known = target.waiting;
    for (Link const* link = cell->waiters.next; link != &cell->waiters; link = link->next)
        ++known;
    std::size_t futures = cell->futures - std::min<std::size_t>(known, cell->futures), found = target.holders.size();
    return found > futures && found <= futures + cell->promises;
}

class Search {
public:
    Search(Frames const& frames, Codes& codes) : frames_(frames), codes_(codes) {}

    void add(Frame const* frame, Wait& wait) {
        void const* thing = wait.promise ? static_cast<void const*>(wait.promise) : wait.description.lock;
        if (!thing)
            return;
        auto address = reinterpret_cast<Word>(thing);
        auto [target, isNew] = targets_.try_emplace(address, Target{address, {}});
        target->second.waits.push_back({frame, &wait});
        wanted_.set(placeOf(address));
    }
    bool isEmpty() const { return targets_.empty(); }

    /// Calls visit(target, frame, address of the word, the next word) for each word that is the address of a target.
    template <class Visit>
    void inFrames(Visit&& visit) {
        forEachRange([&](Frame const& frame, Word const* begin, Word const* end) {
            scan(begin, end, [&](Target& target, Word const* word, Word next) { visit(target, frame, word, next); });
        });
    }

    /// Finds the objects that hold the locks which no frame holds. Adds the frames that point to these objects.
    void inObjects() {
        // nondeterminism: memory of this process. pread() fails, and does not crash, if a word is no address.
        int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
        if (memory < 0)
            return;
        // The objects without an address of a target. nondeterminism: no code iterates over this set.
        std::unordered_set<Word> empty;
        forEachRange([&](Frame const& frame, Word const* begin, Word const* end) {
            for (Word const* word = begin; word < end && empty.size() < kMostObjects; ++word)
                if (Word object = read(word); isObject(object) && !empty.contains(object)) {
                    bool found = false;
                    std::array<Word, 8> words{};
                    ::ssize_t bytes = ::pread(memory, words.data(), sizeof words, static_cast<::off_t>(object));
                    std::size_t count = bytes > 0 ? static_cast<std::size_t>(bytes) / sizeof(Word) : 0;
                    scan(words.data(), words.data() + count, [&](Target& target, Word const*, Word next) {
                        bool holds = target.isMark() || (!target.wait().isReference() && target.isCount(next));
                        if (!holds || !target.isLeft)
                            return;
                        target.add(frame);
                        found = true;
                    });
                    if (!found)
                        empty.insert(object);
                }
        });
        ::close(memory);
    }

    std::map<Word, Target>& targets() { return targets_; }

private:
    static std::size_t placeOf(Word word) { return word >> 4 & 0xFFFF; } // for most other words, wanted_ is not set
    bool isObject(Word word) const {
        return word % 16 == 0 && word >= 1 << 16 && word >> 47 == 0 && !frames_.holding(reinterpret_cast<void*>(word));
    }
    /// Reads a word, also where AddressSanitizer forbids it: in some parts of a stack.
    __attribute__((no_sanitize("address"))) static Word read(Word const* word) { return *word; }

    template <class Visit>
    void forEachRange(Visit&& visit) {
        for (Frame const& frame : frames_) {
            visit(frame, reinterpret_cast<Word const*>(frame.waiter + 1), reinterpret_cast<Word const*>(frame.end));
            if (auto stack = codes_.stackOf(frame.waiter); stack.first)
                visit(frame, static_cast<Word const*>(stack.first), static_cast<Word const*>(stack.second));
        }
    }
    template <class Visit>
    void scan(Word const* begin, Word const* end, Visit&& visit) {
        for (Word const* at = begin; at < end; ++at)
            if (Word word = read(at); wanted_[placeOf(word)])
                if (auto target = targets_.find(word); target != targets_.end())
                    visit(target->second, at, at + 1 < end ? read(at + 1) : 0);
    }

    Frames const& frames_;
    Codes& codes_;
    std::map<Word, Target> targets_;
    std::bitset<1 << 16> wanted_;
};

} // namespace

void findHolders(Frames const& frames, Codes& codes, std::vector<Node>& nodes) {
    Search search(frames, codes);
    for (Node& node : nodes)
        for (Wait& wait : node.waits)
            search.add(node.frame, wait);
    if (search.isEmpty())
        return;
    search.inFrames(
        [](Target& target, Frame const& frame, Word const* word, Word next) { target.count(frame, word, next); });
    bool isLeft = false;
    for (auto& [address, target] : search.targets()) {
        target.isLeft = target.holders.empty() && !target.wait().isReference();
        isLeft |= target.isLeft;
    }
    if (isLeft)
        search.inObjects();
    for (auto& [address, target] : search.targets()) {
        if (target.wait().promise && !holdsPromise(target))
            continue;
        target.holders.resize(std::min(target.holders.size(), kMostHolders));
        for (auto& each : target.waits)
            each.second->holders = target.holders;
    }
}

} // namespace flow::inspect
