#pragma once
// Shared by the suites of the loop and of the styles: a log of events, and an object that logs its destruction.
//
//     TraceLog log;
//     { Noisy a(log, "a"); }
//     CHECK(log.take() == "~a");
//
//     Blocks blocks;
//     ... make and drop things ...
//     CHECK(blocks.leaked() == 0);

#include "flow/memory/fast_allocator.h"
#include "tests/flow/support/small_stack.h"

#include <cstddef>
#include <string>
#include <utility>

namespace flow::test {

/// Words, in the order in which they were said.
class TraceLog {
public:
    void say(std::string const& word) { text_ += (text_.empty() ? "" : " ") + word; }
    /// What was said since the last take.
    std::string take() { return std::exchange(text_, ""); }

private:
    std::string text_;
};

/// Logs "~name" in the destructor, unless it was moved from.
class Noisy {
public:
    Noisy(TraceLog& log, std::string name) : log_(&log), name_(std::move(name)) {}
    Noisy(Noisy const& other) = default;
    Noisy(Noisy&& other) noexcept : log_(std::exchange(other.log_, nullptr)), name_(std::move(other.name_)) {}
    Noisy& operator=(Noisy const&) = delete;
    ~Noisy() {
        if (log_)
            log_->say("~" + name_);
    }
    void forget() { log_ = nullptr; }

private:
    TraceLog* log_;
    std::string name_;
};

/// Counts the blocks that this thread took since the object was made.
class Blocks {
public:
    long leaked() const { return static_cast<long>(memory::totalStatistics().live() - before_.live()); }
    long taken() const { return static_cast<long>(memory::totalStatistics().allocated - before_.allocated); }

private:
    memory::Statistics before_ = memory::totalStatistics();
};

/// What a child process that calls `body` writes to standard error before it aborts; "lived" if it does not.
std::string abortMessage(void (*body)());

} // namespace flow::test
