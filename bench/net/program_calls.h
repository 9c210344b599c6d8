#pragma once
// System calls of another program, in all its threads, counted by the kernel. Needs the rights of root.
//
//     ProgramCalls calls;
//     run("echo_go");                   // starts it from this thread, and waits for its end
//     if (calls.obstacle().empty())
//         use(calls.count());

#include <cstdint>
#include <string>

namespace bench {

/// Counts those of all programs that this thread starts while it exists. Meanwhile the kernel counts the calls of the
/// whole machine, which takes time: a round that is timed has none of these.
class ProgramCalls {
public:
    ProgramCalls();
    ProgramCalls(ProgramCalls const&) = delete;
    ProgramCalls& operator=(ProgramCalls const&) = delete;
    ~ProgramCalls();

    /// Why nothing is counted; empty if it is.
    std::string const& obstacle() const { return obstacle_; }
    /// So far, also while the program runs; its start is counted too. 0 if there is an obstacle.
    std::uint64_t count() const;

private:
    int event_ = -1;
    std::string obstacle_;
};

} // namespace bench
