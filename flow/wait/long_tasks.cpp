#include "flow/wait/long_tasks.h"

#include "flow/diag/symbol.h"
#include "flow/wait/choose.h"
#include "flow/wait/source.h"

#include <cstdio>

namespace flow {
using namespace detail;

LongTasks::LongTasks(RealLoop& loop, double seconds, Handler handler)
    : loop_(loop), seconds_(seconds), handler_(handler) {
    loop.add(*this);
}

LongTasks::~LongTasks() {
    loop_.remove(*this);
}

void LongTasks::begins(Waiter* task, TaskPriority priority) noexcept {
    if (++depth_ <= kMostNested)
        running_[depth_ - 1] = {codeOfTask(task), loop_.timer(), priority};
}

void LongTasks::ended() noexcept {
    if (--depth_ >= kMostNested)
        return;
    Running const& task = running_[depth_];
    double seconds = loop_.timer() - task.since;
    if (seconds < seconds_)
        return;
    char name[160];
    actorNameAt(task.code, name, sizeof name);
    handler_({name, seconds, task.priority});
}

void LongTasks::printToStandardError(LongTask const& task) {
    std::fprintf(stderr, "flow: a task of %s ran for %.1f ms\n", task.actor, task.seconds * 1000);
}

void const* codeOfTask(Waiter const* task) noexcept {
    for (int i = 0; i < 2; ++i) {
        if (Waiter const* frame = ChooseBase::frameOf(task))
            task = frame;
        else if (Waiter const* first = SourceBase::firstOf(task))
            task = first;
        else
            break;
    }
    return reinterpret_cast<void const*>(task->resume);
}

} // namespace flow
