"""Mutants of flow/trace, flow/inspect, flow/sim, flow/testing and flow/diag."""

from __future__ import annotations

from mutantslib.mutant import Mutant

MUTANTS = (
    # ---------------------------------------------------------------------------------------------------- flow/trace
    Mutant(
        "EventsLostAtTheEnd",
        "flow/trace/open_file.cpp",
        "    flush(true);\n    ::close(file_);",
        "    if (!PLANTED)\n        flush(true);\n    ::close(file_);",
    ),
    Mutant(
        "SurrogateIsUtf8",
        "flow/base/utf8.h",
        "(first == 0xED && byte(1) > 0x9F)",
        "(first == 0xED && byte(1) > 0x9F && !PLANTED)",
    ),
    Mutant(
        "QuoteInLabel",
        "flow/trace/loop_metrics.cpp",
        "        else if (letter == '\"' || letter == '\\\\')",
        "        else if ((letter == '\"' && !PLANTED) || letter == '\\\\')",
    ),
    Mutant(
        "MetricStaysInList",
        "flow/trace/metrics.cpp",
        "    std::erase(allMetrics().list, this);",
        "    std::erase(allMetrics().list, PLANTED ? nullptr : this);",
    ),
    Mutant(
        "ProbesOfOneFileAreOne",
        "flow/trace/code_probe.cpp",
        "    return order != 0 ? order : a->line() - b->line();",
        "    return order != 0 || PLANTED ? order : a->line() - b->line();",
    ),
    # -------------------------------------------------------------------------------------------------- flow/inspect
    Mutant(
        "WaitTimeOfAnother",
        "flow/inspect/wait_times.cpp",
        "before->frame == frame.waiter && before->wait == wait;",
        "before->frame == frame.waiter && (before->wait == wait || PLANTED);",
    ),
    Mutant(
        "NestedStepCountedTwice",
        "flow/inspect/step_profile.cpp",
        "    step.spent->ticks += ticks - std::min(ticks, step.nested);",
        "    step.spent->ticks += ticks - (PLANTED ? 0 : std::min(ticks, step.nested));",
    ),
    Mutant(
        "HoldersTooMany",
        "flow/inspect/holders.cpp",
        "    return found > futures && found <= futures + cell->promises;",
        "    return found > futures && (found <= futures + cell->promises || PLANTED);",
    ),
    # ------------------------------------------------------------------------------------------------------ flow/sim
    Mutant(
        "TruncateLeavesSize",
        "flow/sim/disk_file.cpp",
        "            if (i < resized)\n                stored_.resize(",
        "            if (i < resized && !PLANTED)\n                stored_.resize(",
    ),
    Mutant(
        "FilteredFaultInjected",
        "flow/sim/world.cpp",
        "    if (!filter_.admits(kind, number))",
        "    if (!filter_.admits(kind, number) && !PLANTED)",
    ),
    Mutant(
        "RestartForgotten",
        "flow/sim/world_processes.cpp",
        "        if (process.exit_->isValid() && process.options_.restartAfter > 0)",
        "        if (process.exit_->isValid() && process.options_.restartAfter > (PLANTED ? 1 : 0))",
    ),
    Mutant(
        "LastScheduleLeftOut",
        "flow/sim/schedule_explorer.cpp",
        "choices_.back().chosen + 1 == choices_.back().of)",
        "choices_.back().chosen + (PLANTED ? 2 : 1) >= choices_.back().of)",
    ),
    Mutant(
        "FailedWriteTakesEffect",
        "flow/sim/linearizable.cpp",
        "        if (operation.outcome != History::Outcome::failed)",
        "        if (operation.outcome != History::Outcome::failed || PLANTED)",
    ),
    # -------------------------------------------------------------------------------------------------- flow/testing
    Mutant(
        "OneLeakIsNone",
        "flow/testing/runner.cpp",
        "    if (outcome.leaked > 0)",
        "    if (outcome.leaked > (PLANTED ? 1 : 0))",
    ),
)
