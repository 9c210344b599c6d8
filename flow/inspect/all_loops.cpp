#include "flow/inspect/detail/all_loops.h"

#include "flow/inspect/object_name.h"
#include "flow/loop/real_loop.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <unistd.h>

namespace flow {

struct detail::LoopAsk {
    std::function<std::string()> function;
    LoopAnswer answer;
    bool isTaken = false;
    bool isDone = false;
};

namespace {

using Ask = detail::LoopAsk;

/// The entry of a loop in the list of all loops. Freed when the loop ends.
struct Member : LoopOwned {
    Loop* loop = nullptr;
    int thread = 0;
    std::vector<std::shared_ptr<Ask>> asks; // the requests that have no answer yet
};

/// All loops. Never destroyed, because loops of other threads may end after static objects are destroyed.
struct All {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Member*> members; // oldest first
};
All& all() {
    static All* const made = new All;
    return *made;
}

/// Calls the function of `ask`, if no thread has done so, and stores the result. The caller must not hold the mutex.
void answer(std::shared_ptr<Ask> const& ask) noexcept {
    {
        std::lock_guard lock(all().mutex);
        if (std::exchange(ask->isTaken, true))
            return;
    }
    std::string text;
    bool isThere = false;
    try {
        text = ask->function();
        isThere = true;
    } catch (...) { // no memory for the answer
    }
    std::lock_guard lock(all().mutex);
    ask->answer.text = std::move(text);
    ask->answer.isThere = isThere;
    ask->isDone = true;
    for (Member* member : all().members)
        std::erase(member->asks, ask);
    all().changed.notify_all();
}

void leave(LoopOwned* owned) {
    std::unique_ptr<Member> member(static_cast<Member*>(owned));
    std::lock_guard lock(all().mutex);
    std::erase(all().members, member.get());
    for (auto const& ask : member->asks)
        ask->isDone = !ask->isTaken || ask->isDone;
    all().changed.notify_all();
}

/// Returns the name of the loop, or of its thread if the loop has none.
std::string nameOf(Loop const& loop, int thread) {
    if (std::string name = ObjectName::at(&loop); !name.empty())
        return name;
    char text[64] = "";
    std::snprintf(text, sizeof text, "/proc/self/task/%d/comm", thread);
    if (std::FILE* file = std::fopen(text, "r")) {
        std::size_t length = std::fread(text, 1, sizeof text - 1, file);
        std::fclose(file);
        return {text, length > 0 && text[length - 1] == '\n' ? length - 1 : length};
    }
    return {};
}

/// Posts a request to the newest loop of each thread but `mine`: only the newest can run. The caller holds the mutex.
std::vector<std::shared_ptr<Ask>> askOthers(std::function<std::string()> const& function, int mine) {
    std::vector<std::shared_ptr<Ask>> asks;
    std::vector<Member*> const& members = all().members;
    for (std::size_t i = 0; i < members.size(); ++i) {
        Member& member = *members[i];
        bool isNewest = std::none_of(members.begin() + static_cast<std::ptrdiff_t>(i) + 1, members.end(),
                                     [&](Member* other) { return other->thread == member.thread; });
        if (!isNewest || member.thread == mine)
            continue;
        auto ask =
            std::make_shared<Ask>(Ask{function, {member.thread, nameOf(*member.loop, member.thread), false, {}}});
        member.asks.push_back(ask);
        asks.push_back(ask);
        member.loop->post([ask] { answer(ask); }, TaskPriority::Max);
    }
    return asks;
}

/// Returns an untaken request to `thread`; null if there is none. The caller must hold the mutex.
std::shared_ptr<Ask> askOf(int thread) {
    for (Member* member : all().members)
        if (member->thread == thread)
            for (auto const& ask : member->asks)
                if (!ask->isTaken)
                    return ask;
    return nullptr;
}

} // namespace

std::vector<LoopAnswer> askAllLoops(std::function<std::string()> function, double patience) {
    int mine = ::gettid(); // nondeterminism: it is about threads of the machine
    // nondeterminism: it is about threads of the machine.
    auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience);
    std::unique_lock lock(all().mutex);
    std::vector<std::shared_ptr<Ask>> asks = askOthers(function, mine);
    lock.unlock();
    std::vector<LoopAnswer> answers;
    if (hasLoop())
        answers.push_back({mine, nameOf(Loop::current(), mine), true, function()});
    lock.lock();
    auto isDone = [](std::shared_ptr<Ask> const& ask) { return ask->isDone; };
    while (!std::all_of(asks.begin(), asks.end(), isDone)) {
        if (std::shared_ptr<Ask> other = askOf(mine)) {
            lock.unlock();
            answer(other);
            lock.lock();
        } else if (all().changed.wait_until(lock, deadline) == std::cv_status::timeout) {
            break;
        }
    }
    for (auto const& ask : asks)
        answers.push_back(ask->answer);
    return answers;
}

LoopQuestions::LoopQuestions(std::function<std::string()> ask) {
    std::lock_guard lock(all().mutex);
    asks_ = askOthers(ask, ::gettid()); // nondeterminism: it is about threads of the machine
}

bool LoopQuestions::areOver() const {
    std::lock_guard lock(all().mutex);
    return std::all_of(asks_.begin(), asks_.end(), [](std::shared_ptr<Ask> const& ask) { return ask->isDone; });
}

std::vector<LoopAnswer> LoopQuestions::answers() const {
    std::lock_guard lock(all().mutex);
    std::vector<LoopAnswer> answers;
    for (auto const& ask : asks_)
        answers.push_back(ask->answer);
    return answers;
}

void detail::noteLoop(RealLoop& loop) {
    auto* member = new Member;
    member->end = leave;
    member->loop = &loop;
    member->thread = ::gettid(); // nondeterminism: only real loops are noted
    std::lock_guard lock(all().mutex);
    all().members.push_back(member);
    loop.add(*member);
}

} // namespace flow
