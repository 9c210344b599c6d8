#include "flow/wait/long_steps.h"

#include "flow/diag/detail/symbol.h"
#include "flow/wait/detail/choose.h"
#include "flow/wait/source.h"

#include <cstdio>

namespace flow {
using namespace detail;

LongSteps::LongSteps(RealLoop& loop, Seconds seconds, Handler handler)
    : loop_(loop), seconds_(seconds), handler_(handler) {
    loop.add(*this);
}

LongSteps::~LongSteps() {
    loop_.remove(*this);
}

void LongSteps::begins(Waiter* step, TaskPriority priority) noexcept {
    if (++depth_ <= kMostNested)
        running_[depth_ - 1] = {codeOfStep(step), loop_.timer(), priority};
}

void LongSteps::answers(Waiter* waiter) noexcept {
    if (depth_ <= kMostNested)
        running_[depth_ - 1].code = codeOfStep(waiter);
}

void LongSteps::ended() noexcept {
    if (--depth_ >= kMostNested)
        return;
    Running const& step = running_[depth_];
    double seconds = loop_.timer() - step.since;
    if (seconds < seconds_)
        return;
    char name[160];
    actorNameAt(step.code, name, sizeof name);
    handler_({name, seconds, step.priority});
}

void LongSteps::printToStandardError(LongStep const& step) {
    std::fprintf(stderr, "flow: a step of %s ran for %.1f ms\n", step.actor, step.seconds * 1000);
}

void const* codeOfStep(Waiter const* step) noexcept {
    for (int i = 0; i < 2; ++i) {
        if (Waiter const* frame = ChooseBase::frameOf(step))
            step = frame;
        else if (Waiter const* first = SourceBase::firstOf(step))
            step = first;
        else
            break;
    }
    return reinterpret_cast<void const*>(step->resume);
}

} // namespace flow
