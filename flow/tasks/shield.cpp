// shield() without a Scope: the first call makes a Scope for the loop.

#include "flow/combine/timeout.h"
#include "flow/loop/loop.h"
#include "flow/tasks/scope.h"

namespace flow {
namespace {

class LoopsScope final : public LastWork, LoopOwned {
public:
    explicit LoopsScope(Loop& home) : home_(home) {
        home.provide<LastWork>(this);
        end = [](LoopOwned* owned) {
            auto* self = static_cast<LoopsScope*>(owned);
            Loop& home = self->home_;
            delete self; // drops work that the children shield while they end
            home.provide<LastWork>(nullptr);
        };
        home.add(*this);
    }

    void hold(Future<Void> child) override { scope_.spawn(std::move(child)); }
    Future<Void> ended() override {
        if (scope_.isEmpty())
            return Void();
        if (!joined_.isValid() || joined_.isReady())
            joined_ = keep(scope_.join());
        return joined_;
    }

private:
    Loop& home_;
    Scope scope_{OnError::Report};
    Future<Void> joined_; // shared by all callers of ended()
};

} // namespace

void tasks::shieldOnLoop(Future<Void> child, double atMost) {
    if (detail::machineStops || !hasLoop() || child.canGet())
        return;
    LastWork* last = Loop::current().service<LastWork>();
    if (!last)
        last = new LoopsScope(Loop::current());
    last->hold(timeoutError(std::move(child), atMost));
}

Future<Void> joinShielded() {
    LastWork* last = Loop::current().service<LastWork>();
    return last ? last->ended() : Future<Void>(Void());
}

} // namespace flow
