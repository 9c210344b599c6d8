#include "flow/parallel/work_pool.h"

#include "flow/base/sanitizer.h"
#include "flow/loop/loop.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

namespace flow {
namespace {

/// The pool of the item that this thread runs.
constinit thread_local void const* currentArena = nullptr;
/// The number of items that this thread has submitted to that pool.
constinit thread_local unsigned submitted = 0;
/// One item in kInTurn goes to the queue of all threads, behind the waiting items. Otherwise a thread on which each
/// item submits the next one would never run the waiting items.
constexpr unsigned kInTurn = 64;

/// Announces to ThreadSanitizer that an object moves to another thread, because oneTBB is not instrumented.
void noteGiven([[maybe_unused]] void* object) {
#if FLOW_THREAD_SANITIZER
    __tsan_release(object);
#endif
}
void noteTaken([[maybe_unused]] void* object) {
#if FLOW_THREAD_SANITIZER
    __tsan_acquire(object);
#endif
}

} // namespace

/// The threads of a pool. On a simulated loop, a pool has a Turn instead.
struct WorkPool::Arena {
    explicit Arena(int threads)
        : control(oneapi::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads) + 1),
          arena(threads, 0) {}
    ~Arena() {
        arena.execute([this] { // this thread joins the pool's threads, if there is a free place
            group.wait();
            noteGiven(this);
        });
        noteTaken(this);
    }

    /// The functor that oneTBB copies and calls.
    struct Run {
        Arena* arena;
        WorkItem* item;

        FLOW_NOT_INSTRUMENTED void operator()() const { runItem(arena, item); }
    };
    static void runItem(Arena* arena, WorkItem* item) {
        noteTaken(item);
        void const* before = std::exchange(currentArena, arena);
        item->run(item);
        currentArena = before;
    }
    void submit(WorkItem& item) {
        Run run{this, &item};
        noteGiven(&item);
        if (currentArena == this && ++submitted % kInTurn != 0)
            group.run(run); // to the queue of this thread
        else
            arena.enqueue(group.defer(run));
    }

    oneapi::tbb::global_control control; // one more than `threads`: the destructor's thread also takes part
    oneapi::tbb::task_arena arena;
    oneapi::tbb::task_group group;
};

/// The items of a pool on a simulated loop, which run as steps of the loop.
class WorkPool::Turn final : public Posted {
public:
    explicit Turn(Loop& home) : home_(home) {}
    ~Turn() {
        if (isQueued_)
            takeBack();
        while (first_)
            runFirst();
    }
    void submit(WorkItem& item) {
        FLOW_ASSERT(hasLoop() && &Loop::current() == &home_, "a WorkPool of a simulated loop is used by another one");
        item.next = nullptr;
        *end_ = &item;
        end_ = &item.next;
        queue();
    }

private:
    void queue() {
        if (!std::exchange(isQueued_, true))
            queueAt<&Turn::arrive, &Turn::drop>(home_, TaskPriority::DefaultYield);
    }
    void arrive() {
        isQueued_ = false;
        WorkItem* rest = first_->next;
        if (rest)
            queue();
        runFirst();
    }
    /// Called if the loop was destroyed first.
    void drop() { isQueued_ = false; }
    void runFirst() {
        WorkItem* item = first_;
        first_ = item->next;
        if (!first_)
            end_ = &first_;
        item->run(item);
    }

    Loop& home_;
    WorkItem* first_ = nullptr;
    WorkItem** end_ = &first_;
    bool isQueued_ = false;
};

WorkPool::WorkPool(int threads) : threads_(threads > 0 ? threads : oneapi::tbb::info::default_concurrency()) {
    if (hasLoop() && Loop::current().isSimulated())
        turn_ = std::make_unique<Turn>(Loop::current());
    else
        arena_ = std::make_unique<Arena>(threads_);
}

WorkPool::~WorkPool() = default;

void WorkPool::submit(WorkItem& item) noexcept {
    if (arena_)
        arena_->submit(item);
    else
        turn_->submit(item);
}

} // namespace flow
