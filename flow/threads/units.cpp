#include "flow/threads/detail/units.h"

namespace flow::threads {

void Units::block(std::unique_lock<std::mutex>& lock, bool expectsNothing) {
    struct Sleeper final : Ticket {
        void wake() noexcept override { woken.notify_one(); }
        std::condition_variable woken;
    } sleeper;
    begin(sleeper, expectsNothing);
    sleeper.woken.wait(lock, [&] { return sleeper.isCalled; });
    end();
}

} // namespace flow::threads
