"""Mutants of the rooms above the styles: combine, sync, tasks, threads, parallel, fiber, file and compat."""

from __future__ import annotations

from mutantslib.mutant import Mutant

MUTANTS = (
    # --------------------------------------------------------------------------------- flow/combine, sync and compat
    Mutant(
        "RangeWithItsEnd",
        "flow/compat/async_map.h",
        "            change.trigger();\n    }\n    void triggerAll() {",
        "            change.trigger();\n        if (PLANTED) trigger(end);\n    }\n    void triggerAll() {",
    ),
    Mutant(
        "SameValueIsAChange",
        "flow/sync/async_var.h",
        "        if (!(value_ == value))",
        "        if (!(value_ == value) || PLANTED)",
    ),
    Mutant(
        "CancelledScopeTakesMore",
        "flow/tasks/scope.cpp",
        "    if (scope->has(Node::kCancelled) && flags == 0)",
        "    if (scope->has(Node::kCancelled) && flags == 0 && !PLANTED)",
    ),
    Mutant(
        "WaitersBehindACancelledOneStay",
        "flow/sync/semaphore.cpp",
        "    if (op.permits != 1) // if it leaves",
        "    if (op.permits != 1 && !PLANTED) // if it leaves",
    ),
    Mutant(
        "ClosedSemaphoreStaysOpen",
        "flow/sync/semaphore.cpp",
        "    error_ = others;",
        "    error_ = PLANTED ? Error() : others;",
    ),
    Mutant(
        "DroppedMutexStaysLocked",
        "flow/compat/flow_mutex.h",
        "~Held() { breakMutex(broken_promise()); }",
        "~Held() { if (!PLANTED) breakMutex(broken_promise()); }",
    ),
    Mutant(
        "CallOutlivesItsLoop",
        "flow/threads/on_loop.h",
        "        step_.cancel();\n        refuse();",
        "        if (!PLANTED)\n            step_.cancel();\n        refuse();",
    ),
    Mutant(
        "CallDestroyedElsewhere",
        "flow/threads/on_loop.h",
        "        call_.reset(); // its captures belong to this thread",
        "        if (!PLANTED)\n            call_.reset();",
    ),
    # -------------------------------------------------------------------------------------- flow/sync and flow/tasks
    Mutant(
        "ClosedChannelTakesMore",
        "flow/sync/channel.h",
        "        if (isClosed_)\n            throw broken_promise();",
        "        if (isClosed_ && !PLANTED)\n            throw broken_promise();",
    ),
    Mutant(
        "RingOfChannelWrapsLate",
        "flow/sync/channel.h",
        "return index + 1 == slots_ ? 0 : index + 1; }",
        "return index + 1 == slots_ + (PLANTED ? 1 : 0) ? 0 : index + 1; }",
    ),
    Mutant(
        "BellRingsFreedTask",
        "flow/tasks/stop.h",
        "        target_ = nullptr;\n        drop();",
        "        if (!PLANTED)\n            target_ = nullptr;\n        drop();",
    ),
    Mutant(
        "JoinerOfScopeForgotten",
        "flow/tasks/tree.cpp",
        "            if (node->hasForks())\n                return nullptr;",
        "            if (node->hasForks() && !PLANTED)\n                return nullptr;",
    ),
    Mutant(
        "ErrorOfGeneratorTwice",
        "flow/tasks/generator.h",
        "std::rethrow_exception(std::exchange(error_, nullptr));",
        "std::rethrow_exception(PLANTED ? error_ : std::exchange(error_, nullptr));",
    ),
    # ------------------------------------------------------------------------------------------ threads and parallel
    Mutant(
        "IdleThreadForSeveral",
        "flow/threads/thread_pool.cpp",
        "    if (queued_ >= idle_ && threads_.size() < mostThreads_)",
        "    if ((PLANTED ? idle_ == 0 : queued_ >= idle_) && threads_.size() < mostThreads_)",
    ),
    Mutant(
        "IdleThreadNotWoken",
        "flow/threads/thread_pool.cpp",
        "    if (wake)\n        changed_.notify_one();",
        "    if (wake && !PLANTED)\n        changed_.notify_one();",
    ),
    Mutant(
        "EndOfQueueDangles",
        "flow/parallel/work_pool.cpp",
        "        if (!first_)\n            end_ = &first_;",
        "        if (!first_ && !PLANTED)\n            end_ = &first_;",
    ),
    # ------------------------------------------------------------------------------------------------ fiber and file
    Mutant(
        "CancelledFiberTakes",
        "flow/fiber/fiber.h",
        "        if (fiber.isCancelled())\n            throw flow::detail::takeError(",
        "        if (fiber.isCancelled() && !PLANTED)\n            throw flow::detail::takeError(",
    ),
    Mutant(
        "StackOfFiberLeaks",
        "flow/fiber/fiber.cpp",
        "    giveBack(stack_);",
        "    if (!PLANTED)\n        giveBack(stack_);",
    ),
    Mutant(
        "DirectoryOpensAsFile",
        "flow/file/real_files.cpp",
        "        if (S_ISDIR(statusOf(opening, opened.number()).st_mode))",
        "        if (S_ISDIR(statusOf(opening, opened.number()).st_mode) && !PLANTED)",
    ),
)
