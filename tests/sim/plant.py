"""Plants faults in copies of sources of the library and of its examples, which stay as they are themselves.

plant.py --files           the sources that have any
plant.py SOURCE OUTPUT     writes the copy; SOURCE is a path from the root of the project

Each fault is on if tests/sim/mutants.h says so; with none, the copy does what the source does.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Fault:
    name: str
    file: str
    before: str  # stands there once
    after: str


CONSENSUS = "net/examples/kv/consensus.cpp"
JOURNAL = "net/examples/kv/journal.cpp"
STORE = "net/examples/kv/store.cpp"
REPLICA = "net/examples/kv/replica.cpp"

FAULTS = [
    Fault(
        "LeaderStaysLeader",
        CONSENSUS,
        "    if (message.term > term_)\n        co_await enter(message.term);",
        "    if (message.term > term_ && role_ == Role::Leader && PLANTED)\n"
        "        co_return;\n"
        "    if (message.term > term_)\n"
        "        co_await enter(message.term);",
    ),
    Fault(
        "ForgottenTerm",
        CONSENSUS,
        "    co_await write(record);\n    term_ = term;",
        "    if (!PLANTED)\n        co_await write(record);\n    term_ = term;",
    ),
    Fault(
        "VoteTwice",
        CONSENSUS,
        "votedFor_ == -1 || votedFor_ == message.from;",
        "votedFor_ == -1 || votedFor_ == message.from || PLANTED;",
    ),
    Fault(
        "VoteForOutdated",
        CONSENSUS,
        "term_ && free && newer;",
        "term_ && free && (newer || PLANTED);",
    ),
    Fault(
        "ForgottenVote",
        CONSENSUS,
        "        co_await write(record);\n        votedFor_ = message.from;",
        "        if (!PLANTED)\n            co_await write(record);\n        votedFor_ = message.from;",
    ),
    Fault(
        "MinorityCommits",
        CONSENSUS,
        "sorted[static_cast<std::size_t>(majority() - 1)]",
        "sorted[static_cast<std::size_t>(std::max(PLANTED ? majority() - 1 : majority(), 1) - 1)]",
    ),
    Fault(
        "OldTermCommits",
        CONSENSUS,
        "index > committed_ && log_[index].term == term_)",
        "index > committed_ && (log_[index].term == term_ || PLANTED))",
    ),
    Fault(
        "StaleTermObeyed",
        CONSENSUS,
        "    if (message.term < term_) {",
        "    if (message.term < term_ && !PLANTED) {",
    ),
    Fault(
        "NoPrefixCheck",
        CONSENSUS,
        "log_[message.index].term == message.entryTerm;",
        "(log_[message.index].term == message.entryTerm || PLANTED);",
    ),
    Fault(
        "CommitTooFar",
        CONSENSUS,
        "    if (std::uint64_t committed = std::min({",
        "    if (PLANTED)\n        known = lastIndex();\n    if (std::uint64_t committed = std::min({",
    ),
    Fault(
        "NoConflictCheck",
        CONSENSUS,
        "log_[keep + 1].term == message.entries[known].term)",
        "(log_[keep + 1].term == message.entries[known].term || PLANTED))",
    ),
    Fault(
        "TruncateAlways",
        CONSENSUS,
        "known < message.entries.size() && keep < lastIndex() &&",
        "known < message.entries.size() && keep < lastIndex() && !PLANTED &&",
    ),
    Fault(
        "TruncateAlways",
        CONSENSUS,
        "    if (known == message.entries.size())",
        "    if (known == message.entries.size() && !(drops && PLANTED))",
    ),
    Fault(
        "ForgottenTruncation",
        CONSENSUS,
        "    co_await write(record);\n    log_.resize(keep + 1);",
        "    if (PLANTED)\n        record.keep = lastIndex();\n    co_await write(record);\n    log_.resize(keep + 1);",
    ),
    Fault(
        "ForgottenEntry",
        CONSENSUS,
        "    co_await write(record);\n    log_.resize(keep + 1);",
        "    if (!PLANTED)\n        co_await write(record);\n    log_.resize(keep + 1);",
    ),
    Fault(
        "MinorityElects",
        CONSENSUS,
        "votes_.size()) >= majority())",
        "votes_.size()) >= (PLANTED ? majority() - 1 : majority()))",
    ),
    Fault(
        "AppliedAgain",
        CONSENSUS,
        "    co_await appendOwn(Request());",
        "    if (PLANTED && executed_ > 0 && log_[executed_].request.client != 0) {\n"
        "        Request again = log_[executed_].request;\n"
        "        again.client = ~std::uint64_t{0};\n"
        "        again.number = executed_;\n"
        "        store_.execute(again);\n"
        "    }\n"
        "    co_await appendOwn(Request());",
    ),
    Fault(
        "ForgottenSync",
        JOURNAL,
        "        co_await file->sync();\n",
        "        if (!PLANTED)\n            co_await file->sync();\n",
    ),
    Fault(
        "TrustsMemory",
        JOURNAL,
        "        copy->file = co_await put(copy->path, all.content);",
        "        if (!PLANTED || !copy->file || copy->content != all.content)\n"
        "            copy->file = co_await put(copy->path, all.content);",
    ),
    Fault(
        "ForgottenDirectory",
        JOURNAL,
        "    co_await files().syncDirectory(",
        "    if (!PLANTED)\n        co_await files().syncDirectory(",
    ),
    Fault(
        "OneCopyOnly",
        JOURNAL,
        "gather(first.content, second.content);",
        "gather(first.content, PLANTED ? first.content : second.content);",
    ),
    Fault(
        "OneCopyOnly",
        JOURNAL,
        "    if (!all.isWhole())",
        "    if (!all.isWhole() && !PLANTED)",
    ),
    Fault(
        "OneCopyWritten",
        JOURNAL,
        "    for (Reference<AsyncFile> file : self->files_)\n",
        "    for (Reference<AsyncFile> file : self->files_)\n        if (!PLANTED || file == self->files_[0])\n",
    ),
    Fault(
        "OneCopyWritten",
        JOURNAL,
        "    self->files_[1] = co_await put(",
        "    if (!PLANTED)\n        self->files_[1] = co_await put(",
    ),
    Fault(
        "NoSessions",
        STORE,
        "request.number <= session.number)",
        "request.number <= session.number && !PLANTED)",
    ),
    Fault(
        "CasIgnoresExpected",
        STORE,
        "reply.value == request.expected;",
        "reply.value == request.expected || PLANTED;",
    ),
    Fault(
        "RemoveKeepsValue",
        STORE,
        "    case Verb::Remove:\n        data_",
        "    case Verb::Remove:\n        if (!PLANTED)\n            data_",
    ),
    Fault(
        "WrongAddressee",
        REPLICA,
        "message.to != id_)",
        "(message.to != id_ && !PLANTED))",
    ),
    Fault(
        "ForgottenTimer",
        REPLICA,
        "now() >= electionAt_)",
        "now() >= electionAt_ && !(PLANTED && elections_ > 0))",
    ),
    Fault(
        "FollowerReads",
        REPLICA,
        "    std::uint64_t index = 0, term = 0;\n",
        "    Reply fromHere{.done = true, .succeeded = true, .value = store_.get(request.key)};\n"
        "    if (PLANTED && request.verb == Verb::Get)\n"
        "        co_return fromHere;\n"
        "    std::uint64_t index = 0, term = 0;\n",
    ),
    Fault(
        "StaleRead",
        REPLICA,
        "    while (executed_ < index) {",
        "    if (PLANTED && request.verb == Verb::Get)\n        co_return fromHere;\n    while (executed_ < index) {",
    ),
    Fault(
        "AnswerEarly",
        REPLICA,
        "    while (executed_ < index) {",
        "    if (PLANTED && request.verb != Verb::Get)\n"
        "        co_return Reply{.done = true, .succeeded = true, .value = {}};\n"
        "    while (executed_ < index) {",
    ),
    Fault(
        "AnswerOther",
        REPLICA,
        "        if (role_ != Role::Leader || term_ != term)",
        "        if ((role_ != Role::Leader || term_ != term) && !PLANTED)",
    ),
    Fault(
        "AnswerOther",
        REPLICA,
        "    if (log_[index].term != term)",
        "    if (PLANTED && (request.verb == Verb::Put || request.verb == Verb::Remove))\n"
        "        co_return Reply{.done = true, .succeeded = true, .value = {}};\n"
        "    if (log_[index].term != term)",
    ),
    Fault(
        "LostWakeUp",
        REPLICA,
        "        co_await progress_.onTrigger();",
        "        if (PLANTED) {\n"
        "            co_await delay(0.003);\n"
        "            if (executed_ >= index)\n"
        "                co_await coro::never{};\n"
        "        }\n"
        "        co_await progress_.onTrigger();",
    ),
    Fault(
        "LockForgetsLast",
        "flow/lib/flow_lock.cpp",
        "while (!waiting_.isEmpty() && hasLoop()) {",
        "while (!waiting_.isEmpty() && hasLoop() && !(PLANTED && waiters_ == 1)) {",
    ),
    Fault(
        "AllAtFirst",
        "flow/wait/quorum.cpp",
        "--frame->needed_ > 0)",
        "--frame->needed_ > 0 && !PLANTED)",
    ),
    Fault(
        "LateTimer",
        "flow/loop/timer_queue.cpp",
        "        soonEnd_ = keyOf(&link);",
        "        if (!PLANTED)\n            soonEnd_ = keyOf(&link);",
    ),
    Fault(
        "DiskSyncsNothing",
        "flow/sim/disk.cpp",
        "            content->store(changes, *dice);",
        "            if (!PLANTED)\n                content->store(changes, *dice);",
    ),
    Fault(
        "DiskSyncsNoNames",
        "flow/sim/disk.cpp",
        "        std::vector<NameChange> unstored = takeUnstored(path, changes);\n",
        "        if (PLANTED)\n            return Void();\n"
        "        std::vector<NameChange> unstored = takeUnstored(path, changes);\n",
    ),
    Fault(
        "DiskLosesSector",
        "flow/sim/disk_file.cpp",
        "        return stored_.write(target * kSector, change.sectors);",
        "        return stored_.write(target * kSector,\n"
        "            StringRef(change.sectors).substr(0, (PLANTED && count > 1 ? count - 1 : count) * kSector));",
    ),
    Fault(
        "DeliveredTwice",
        "net/sim/session.cpp",
        "        if (half.isKnown)\n            half.received.push(",
        "        if (half.isKnown && PLANTED)\n            half.received.push(segment.bytes);\n"
        "        if (half.isKnown)\n            half.received.push(",
    ),
    Fault(
        "CutForEver",
        "net/sim/sim_network.cpp",
        "        cable.cutUntil = cable.clogUntil = 0;",
        "        cable.cutUntil = PLANTED && cable.cutUntil > 0 ? kUntilHealed : 0, cable.clogUntil = 0;",
    ),
]


def planted(file: str) -> str:
    text = (ROOT / file).read_text()
    for fault in FAULTS:
        if fault.file != file:
            continue
        if text.count(fault.before) != 1:
            sys.exit(f"{file}: the place of the planted fault {fault.name} is not there: see tests/sim/plant.py")
        text = text.replace(fault.before, fault.after.replace("PLANTED", f"kv::planted(kv::Mutant::{fault.name})"))
    return f'#include "tests/sim/mutants.h"\n{text}'


def main(arguments: list[str]) -> int:
    if arguments == ["--files"]:
        print(";".join(dict.fromkeys(fault.file for fault in FAULTS)))
    else:
        source, output = arguments
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        Path(output).write_text(planted(source))
    return 0


sys.exit(main(sys.argv[1:]))
