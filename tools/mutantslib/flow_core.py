"""Mutants of flow/base, flow/memory and flow/core."""

from __future__ import annotations

from mutantslib.mutant import Mutant

MUTANTS = (
    # ----------------------------------------------------------------------------------------------------- flow/base
    Mutant(
        "FormatAtFullBuffer",
        "flow/base/format.cpp",
        "length >= static_cast<int>(sizeof brief)",
        "length >= static_cast<int>(sizeof brief) + (PLANTED ? 1 : 0)",
    ),
    Mutant(
        "NumberWithMoreBehindIt",
        "flow/base/parse_number.h",
        "&& stop == end ?",
        "&& (stop == end || PLANTED) ?",
    ),
    Mutant(
        "ForkNotCounted",
        "flow/base/fork_count.cpp",
        "forks.fetch_add(1, std::memory_order_relaxed)",
        "forks.fetch_add(PLANTED ? 0 : 1, std::memory_order_relaxed)",
    ),
    # --------------------------------------------------------------------------------------------------- flow/memory
    Mutant(
        "ArenaChainLeaks",
        "flow/memory/arena.cpp",
        "            if (!dropReference(link->block))",
        "            if (!dropReference(link->block) || PLANTED)",
    ),
    Mutant(
        "NewerVersionTaken",
        "flow/memory/binary.h",
        "!version_.isValid() || version_ > newest)",
        "!version_.isValid() || (version_ > newest && !PLANTED))",
    ),
    Mutant(
        "RemoteBlocksOfEndedThread",
        "flow/memory/thread_heap.cpp",
        "    abandoned.takeRemoteOf(*owner);",
        "    if (!PLANTED)\n        abandoned.takeRemoteOf(*owner);",
        reason="only blocks that another thread frees between two lines of a thread that ends are lost",
    ),
    Mutant(
        "FailedMemoryStaysCounted",
        "flow/memory/thread_heap.cpp",
        "    if (!place) {\n        held.fetch_sub(bytes, std::memory_order_relaxed);",
        "    if (!place) {\n        held.fetch_sub(PLANTED ? 0 : bytes, std::memory_order_relaxed);",
    ),
    Mutant(
        "SeparatorLeftBehind",
        "flow/memory/string_ref.h",
        "        *this = substr(end + separator);",
        "        *this = substr(end + (PLANTED ? 1 : separator));",
    ),
    Mutant(
        "CapacityBehindFront",
        "flow/memory/vector_ref.h",
        "        size_ -= count;\n        capacity_ -= count;",
        "        size_ -= count;\n        capacity_ -= PLANTED ? 0 : count;",
    ),
    Mutant(
        "ScopedArenaGivesNothingBack",
        "flow/memory/scoped_arena.h",
        "        if (place + bytes == next_)",
        "        if (place + bytes == next_ && !PLANTED)",
    ),
    # ----------------------------------------------------------------------------------------------------- flow/core
    Mutant(
        "CancelLeaksTimer",
        "flow/core/cell.cpp",
        "            if (frame->awaited.isTimer() || frame->awaited.isOperation())",
        "            if ((frame->awaited.isTimer() && !PLANTED) || frame->awaited.isOperation())",
    ),
    Mutant(
        "OtherEndingWatchesLost",
        "flow/core/cell.cpp",
        "        if (*place == &watch) {\n            *place = watch.next_;",
        "        if (*place == &watch) {\n            *place = PLANTED ? nullptr : watch.next_;",
    ),
    Mutant(
        "BrokenByOneOfTwo",
        "flow/core/future.h",
        "        if (cell->promises == 1 && cell->isUnset()",
        "        if ((cell->promises == 1 || PLANTED) && cell->isUnset()",
    ),
    Mutant(
        "SharedValueMovedOut",
        "flow/core/result.h",
        "    else if (cell->futures == 1 && cell->promises == 0)",
        "    else if ((cell->futures == 1 || PLANTED) && cell->promises == 0)",
    ),
    Mutant(
        "FullRingLooksEmpty",
        "flow/core/ring_queue.h",
        "        return end_ < first_ ? first_ - 1 : last_;",
        "        return end_ < first_ ? first_ - (PLANTED ? 0 : 1) : last_;",
    ),
    Mutant(
        "StateOfOperationLeaks",
        "flow/core/operation.h",
        "            cell->error = detail::takeErrorFor(cell, cancel);\n            destroyState(waiter);",
        "            cell->error = detail::takeErrorFor(cell, cancel);\n            if (!PLANTED)\n"
        "                destroyState(waiter);",
    ),
    Mutant(
        "CallbackStaysLinked",
        "flow/core/callback.h",
        "    virtual ~CallbackBase() { remove(); }",
        "    virtual ~CallbackBase() {\n        if (!PLANTED)\n            remove();\n    }",
    ),
    Mutant(
        "FramesOfDestructorsLeft",
        "flow/core/live_blocks.cpp",
        "        stop();          // again, for what destructors have started",
        "        if (!PLANTED || all.isEmpty()) stop();",
    ),
)
