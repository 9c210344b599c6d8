"""Plants faults in copies of sources of the library and of its examples, which stay as they are themselves.

plant.py --files           the sources that have any
plant.py SOURCE OUTPUT     writes the copy; SOURCE is a path from the root of the project

Each fault is on if tests/sim/planted.h says so; with none, the copy does what the source does.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import attacked

from common.tree import ROOT
from millrace.common.failure import Failure
from mutantslib.mutant import Mutant, planted

# Each with what it does. Those without a place below are in the sources of tests/sim/kv.
MEANINGS = {
    "ForgottenSync": "the journal does not sync",
    "ForgottenDirectory": "the journal does not sync the directory after a rename",
    "TrustsMemory": "the journal takes what it reads after an error of the disk for stored",
    "OneCopyOnly": "the journal recovers from its first copy alone",
    "OneCopyWritten": "the journal writes one copy only",
    "ForgottenVote": "a vote is given before it is written down",
    "ForgottenTerm": "a new term is not written down",
    "ForgottenEntry": "a follower acknowledges entries that it has not written down",
    "ForgottenTruncation": "a follower does not write down that it has dropped entries",
    "VoteTwice": "a server votes for everybody in a term",
    "VoteForOutdated": "a server votes for one with an older log",
    "MinorityElects": "one vote less than a majority makes a leader",
    "MinorityCommits": "one acknowledgement less than a majority commits",
    "OldTermCommits": "entries of older terms are committed by counting",
    "NoPrefixCheck": "a follower takes entries whatever stands before them",
    "NoConflictCheck": "a follower keeps its own entry where the leader has another",
    "TruncateAlways": "a follower drops what follows the entries of a late message",
    "CommitTooFar": "a follower takes the leader's commit index for its own log",
    "StaleTermObeyed": "a follower obeys leaders of older terms",
    "LeaderStaysLeader": "a leader does not hear of newer terms",
    "StaleRead": "a leader answers reads from its own state, at once",
    "FollowerReads": "any server answers reads from its own state, at once",
    "NoSessions": "a repeated request is executed again",
    "LateReply": "a client takes a late reply for that to its next request",
    "AnswerEarly": "a write is answered before it is committed",
    "AnswerOther": "a write is answered although another entry took its place",
    "NoChecksum": "damaged messages are taken for good",
    "WrongAddressee": "messages to other servers are taken",
    "LostWakeUp": "a waiter for an entry misses it if it comes between the check and the wait",
    "DoubleSend": "a client does not number its repeated requests alike",
    "MissedCancel": "a connection that breaks keeps its place in the server",
    "ForgottenTimer": "a follower does not start elections after its first",
    "AppliedAgain": "an entry is executed again when its server becomes leader",
    "CasIgnoresExpected": "a compareAndSet writes whatever it finds",
    "RemoveKeepsValue": "a remove does nothing",
    "ClientGivesUp": "a client takes a lost reply for a refusal",
    "LockForgetsLast": "a lock does not wake a single waiter",
    "AllAtFirst": "waitForAll() is ready with the first one",
    "LateTimer": "a timer that makes room for a sooner one is late",
    "DiskSyncsNothing": "a sync is none",
    "DiskSyncsNoNames": "a sync of a directory is none",
    "DiskLosesSector": "the last sector of a long write is lost when the power goes",
    "DeliveredTwice": "a connection delivers everything twice",
    "CutForEver": "a link that was cut is not healed",
}
MEANINGS |= attacked.MEANINGS

CONSENSUS = "net/examples/kv/consensus.cpp"
JOURNAL = "flow/file/journal.cpp"
STORE = "net/examples/kv/store.cpp"
REPLICA = "net/examples/kv/replica.cpp"

FAULTS = [
    Mutant(
        "LeaderStaysLeader",
        CONSENSUS,
        "    if (message.term > term_)\n        co_await enter(message.term);",
        "    if (message.term > term_ && role_ == Role::Leader && PLANTED)\n"
        "        co_return;\n"
        "    if (message.term > term_)\n"
        "        co_await enter(message.term);",
    ),
    Mutant(
        "ForgottenTerm",
        CONSENSUS,
        "    co_await write(record);\n    term_ = term;",
        "    if (!PLANTED)\n        co_await write(record);\n    term_ = term;",
    ),
    Mutant(
        "VoteTwice",
        CONSENSUS,
        "votedFor_ == -1 || votedFor_ == message.from;",
        "votedFor_ == -1 || votedFor_ == message.from || PLANTED;",
    ),
    Mutant(
        "VoteForOutdated",
        CONSENSUS,
        "term_ && free && newer;",
        "term_ && free && (newer || PLANTED);",
    ),
    Mutant(
        "ForgottenVote",
        CONSENSUS,
        "        co_await write(record);\n        votedFor_ = message.from;",
        "        if (!PLANTED)\n            co_await write(record);\n        votedFor_ = message.from;",
    ),
    Mutant(
        "MinorityCommits",
        CONSENSUS,
        "sorted[static_cast<std::size_t>(majority() - 1)]",
        "sorted[static_cast<std::size_t>(std::max(PLANTED ? majority() - 1 : majority(), 1) - 1)]",
    ),
    Mutant(
        "OldTermCommits",
        CONSENSUS,
        "index > committed_ && log_[index].term == term_)",
        "index > committed_ && (log_[index].term == term_ || PLANTED))",
    ),
    Mutant(
        "StaleTermObeyed",
        CONSENSUS,
        "    if (message.term < term_) {",
        "    if (message.term < term_ && !PLANTED) {",
    ),
    Mutant(
        "NoPrefixCheck",
        CONSENSUS,
        "log_[message.index].term == message.entryTerm;",
        "(log_[message.index].term == message.entryTerm || PLANTED);",
    ),
    Mutant(
        "CommitTooFar",
        CONSENSUS,
        "    if (std::uint64_t committed = std::min({",
        "    if (PLANTED)\n        known = lastIndex();\n    if (std::uint64_t committed = std::min({",
    ),
    Mutant(
        "NoConflictCheck",
        CONSENSUS,
        "log_[keep + 1].term == message.entries[known].term)",
        "(log_[keep + 1].term == message.entries[known].term || PLANTED))",
    ),
    Mutant(
        "TruncateAlways",
        CONSENSUS,
        "known < message.entries.size() && keep < lastIndex() &&",
        "known < message.entries.size() && keep < lastIndex() && !PLANTED &&",
    ),
    Mutant(
        "TruncateAlways",
        CONSENSUS,
        "    if (known == message.entries.size())",
        "    if (known == message.entries.size() && !(drops && PLANTED))",
    ),
    Mutant(
        "ForgottenTruncation",
        CONSENSUS,
        "    co_await write(record);\n    log_.resize(keep + 1);",
        "    if (PLANTED)\n        record.keep = lastIndex();\n    co_await write(record);\n    log_.resize(keep + 1);",
    ),
    Mutant(
        "ForgottenEntry",
        CONSENSUS,
        "    co_await write(record);\n    log_.resize(keep + 1);",
        "    if (!PLANTED)\n        co_await write(record);\n    log_.resize(keep + 1);",
    ),
    Mutant(
        "MinorityElects",
        CONSENSUS,
        "votes_.size()) < majority())",
        "votes_.size()) < (PLANTED ? majority() - 1 : majority()))",
    ),
    Mutant(
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
    Mutant(
        "ForgottenSync",
        JOURNAL,
        "        co_await file->sync();\n",
        "        if (!PLANTED)\n            co_await file->sync();\n",
    ),
    Mutant(
        "TrustsMemory",
        JOURNAL,
        "        copy->file = co_await put(copy->path, all.content);",
        "        if (!PLANTED || !copy->file || copy->content != all.content)\n"
        "            copy->file = co_await put(copy->path, all.content);",
    ),
    Mutant(
        "ForgottenDirectory",
        JOURNAL,
        "    co_await files().syncDirectory(",
        "    if (!PLANTED)\n        co_await files().syncDirectory(",
    ),
    Mutant(
        "OneCopyOnly",
        JOURNAL,
        "gather(first.content, second.content);",
        "gather(first.content, PLANTED ? first.content : second.content);",
    ),
    Mutant(
        "OneCopyOnly",
        JOURNAL,
        "    if (!all.isWhole())",
        "    if (!all.isWhole() && !PLANTED)",
    ),
    Mutant(
        "OneCopyWritten",
        JOURNAL,
        "    for (Reference<AsyncFile> file : self->files_)\n",
        "    for (Reference<AsyncFile> file : self->files_)\n        if (!PLANTED || file == self->files_[0])\n",
    ),
    Mutant(
        "OneCopyWritten",
        JOURNAL,
        "    self->files_[1] = co_await put(",
        "    if (!PLANTED)\n        self->files_[1] = co_await put(",
    ),
    Mutant(
        "NoSessions",
        STORE,
        "request.number <= session.number)",
        "request.number <= session.number && !PLANTED)",
    ),
    Mutant(
        "CasIgnoresExpected",
        STORE,
        "reply.value == request.expected;",
        "reply.value == request.expected || PLANTED;",
    ),
    Mutant(
        "RemoveKeepsValue",
        STORE,
        "    case Verb::Remove:\n        data_",
        "    case Verb::Remove:\n        if (!PLANTED)\n            data_",
    ),
    Mutant(
        "WrongAddressee",
        REPLICA,
        "message.to != id_)",
        "(message.to != id_ && !PLANTED))",
    ),
    Mutant(
        "ForgottenTimer",
        REPLICA,
        "now() >= electionAt_)",
        "now() >= electionAt_ && !(PLANTED && elections_ > 0))",
    ),
    Mutant(
        "FollowerReads",
        REPLICA,
        "    auto place = std::make_shared<std::pair<std::uint64_t, std::uint64_t>>();",
        "    Reply fromHere{.done = true, .succeeded = true, .value = store_.get(request.key)};\n"
        "    if (PLANTED && request.verb == Verb::Get)\n"
        "        co_return fromHere;\n"
        "    auto place = std::make_shared<std::pair<std::uint64_t, std::uint64_t>>();",
    ),
    Mutant(
        "StaleRead",
        REPLICA,
        "    while (executed_ < index) {",
        "    if (PLANTED && request.verb == Verb::Get)\n        co_return fromHere;\n    while (executed_ < index) {",
    ),
    Mutant(
        "AnswerEarly",
        REPLICA,
        "    while (executed_ < index) {",
        "    if (PLANTED && request.verb != Verb::Get)\n"
        "        co_return Reply{.done = true, .succeeded = true, .value = {}};\n"
        "    while (executed_ < index) {",
    ),
    Mutant(
        "AnswerOther",
        REPLICA,
        "        if (role_ != Role::Leader || term_ != term)",
        "        if ((role_ != Role::Leader || term_ != term) && !PLANTED)",
    ),
    Mutant(
        "AnswerOther",
        REPLICA,
        "    if (log_[index].term != term)",
        "    if (PLANTED && (request.verb == Verb::Put || request.verb == Verb::Remove))\n"
        "        co_return Reply{.done = true, .succeeded = true, .value = {}};\n"
        "    if (log_[index].term != term)",
    ),
    Mutant(
        "LostWakeUp",
        REPLICA,
        "        co_await progress_.next();",
        "        if (PLANTED) {\n"
        "            co_await delay(0.003);\n"
        "            if (executed_ >= index)\n"
        "                co_await coro::never{};\n"
        "        }\n"
        "        co_await progress_.next();",
    ),
    Mutant(
        "LockForgetsLast",
        "flow/sync/semaphore.cpp",
        "    waiting_.wakeInTurn(priority_);",
        "    if (!PLANTED || passed_ != 1)\n        waiting_.wakeInTurn(priority_);",
    ),
    Mutant(
        "AllAtFirst",
        "flow/combine/quorum.cpp",
        "frame->needed_ <= 1)",
        "frame->needed_ <= 1 || PLANTED)",
    ),
    Mutant(
        "AllAtFirst",
        "flow/combine/quorum.cpp",
        "--frame->needed_ > 0 :",
        "--frame->needed_ > 0 && !PLANTED :",
    ),
    Mutant(
        "LateTimer",
        "flow/loop/timer_queue.cpp",
        "        soonEnd_ = keyOf(&link);",
        "        if (!PLANTED)\n            soonEnd_ = keyOf(&link);",
    ),
    Mutant(
        "DiskSyncsNothing",
        "flow/sim/disk.cpp",
        "            content->store(changes, *dice);",
        "            if (!PLANTED)\n                content->store(changes, *dice);",
    ),
    Mutant(
        "DiskSyncsNoNames",
        "flow/sim/disk.cpp",
        "        std::vector<NameChange> unstored = takeUnstored(path, changes);\n",
        "        if (PLANTED)\n            return Void();\n"
        "        std::vector<NameChange> unstored = takeUnstored(path, changes);\n",
    ),
    Mutant(
        "DiskLosesSector",
        "flow/sim/disk_file.cpp",
        "        return stored_.write(target * kSector, change.sectors);",
        "        return stored_.write(target * kSector,\n"
        "            StringRef(change.sectors).substr(0, (PLANTED && count > 1 ? count - 1 : count) * kSector));",
    ),
    Mutant(
        "DeliveredTwice",
        "net/sim/session.cpp",
        "        if (half.isKnown)\n            half.received.push(",
        "        if (half.isKnown && PLANTED)\n            half.received.push(segment.bytes);\n"
        "        if (half.isKnown)\n            half.received.push(",
    ),
    Mutant(
        "CutForEver",
        "net/sim/sim_network.cpp",
        "        cable.cutUntil = cable.clogUntil = 0;",
        "        cable.cutUntil = PLANTED && cable.cutUntil > 0 ? kUntilHealed : 0, cable.clogUntil = 0;",
    ),
    *attacked.FAULTS,
]


def copy_of(file: str) -> str:
    own = [fault for fault in FAULTS if fault.file == file]
    return planted((ROOT / file).read_text(), own, "tests/sim/planted.h")


def main(arguments: list[str]) -> int:
    if arguments == ["--files"]:
        print(";".join(dict.fromkeys(fault.file for fault in FAULTS)))
    else:
        source, output = arguments
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        try:
            Path(output).write_text(copy_of(source))
        except Failure as error:
            sys.exit(f"{error} (see tests/sim/plant.py)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
