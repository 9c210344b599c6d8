// The loop of a thread that ends.

#include "flow/loop/loop.h"

namespace flow::detail {
namespace {

class EndedLoop final : public Loop {
public:
    EndedLoop() : Loop(NotCurrent()) {}

    double timer() override { return 0; }
    /// Returns true, so that blocking calls start no threads. They become steps of this loop, which never run.
    bool isSimulated() const override { return true; }

private:
    double startTurn() noexcept override { return 0; }
    bool idleUntil(double) override { return false; }
    bool sliceIsOver() override { return true; }
};

constinit thread_local bool isEnding = false;

/// Notes the end of the thread. On the main thread the destructor runs before static objects are destroyed.
struct EndOfThread {
    ~EndOfThread() { isEnding = true; }
};

} // namespace

void noteThreadHasLoop() noexcept {
    [[maybe_unused]] static thread_local EndOfThread const end;
}

// Never destroys the loop: static objects that are destroyed later may still need it.
Loop& loopOfEndingThread() {
    FLOW_ASSERT(isEnding, "no loop on this thread: make a RealLoop or SimLoop first");
    static constinit thread_local Loop* ended = nullptr;
    if (!ended)
        ended = new EndedLoop;
    return *ended;
}

} // namespace flow::detail
