"""Faults that the simulation `adversary` finds. tests/sim/plant.py plants them."""

from __future__ import annotations

from mutantslib.mutant import Mutant

MEANINGS = {
    "RouteOfNext": "a message of an ended connection has the name of the next one",
    "ReplyToNext": "a REP answers the next connection instead of the one that has asked",
    "SharedSearch": "reads up to different texts share one place in the search",
    "AnswerOfAnybody": "a request takes an answer of a peer that was not asked",
    "AllPongs": "PONGs are queued for a peer that reads nothing",
    "AllTopics": "a peer may subscribe to any number of topics",
    "AllReplies": "a peer of RPC is read although it does not read its replies",
    "AllMessages": "a peer that does not read has always room for another message",
    "UnreadSlabs": "a message of an ended connection keeps the whole receive buffer",
    "WholeHead": "the HTTP server keeps the head of a request, however large it is",
    "AllAnswers": "a REP keeps answers for a peer that does not read",
    "AllElements": "a message of RPC may need any memory for the elements of its containers",
    "MovedByCommands": "each command between the parts of a message moves what lies behind it",
    "NoBudget": "what is ready at once goes on as long as it is",
    "CleanEnd": "a connection ends as usual when its handler has failed",
    "EndOfAll": "a handler that throws at once ends its server",
    "EndUntold": "handlers are not told that their server ends",
    "ParentsFirst": "a kill destroys computations oldest first",
}

CONNECTIONS = "net/message/message_connections.cpp"
RPC_PEER = "net/rpc/rpc_peer.cpp"
SERVE = "net/serve.cpp"

FAULTS = [
    Mutant(
        "RouteOfNext",
        CONNECTIONS,
        "arrive(takeFrom(peer), peer);",
        "arrive(takeFrom(peer), PLANTED && next ? *next : peer);",
    ),
    Mutant(
        "ReplyToNext",
        CONNECTIONS,
        "    if (type_ == SocketType::Req && partner_.getPtr() == &peer && arrived_.empty()) {",
        "    if (PLANTED && next && type_ == SocketType::Rep && partner_.getPtr() == &peer)\n"
        "        partner_ = Reference<Peer>::addRef(next);\n"
        "    if (type_ == SocketType::Req && partner_.getPtr() == &peer && arrived_.empty()) {",
    ),
    Mutant(
        "UnreadSlabs",
        CONNECTIONS,
        "        peer.input.rest();",
        "        if (!PLANTED)\n            peer.input.rest();",
    ),
    Mutant(
        "SharedSearch",
        "net/connection.cpp",
        "static_cast<ReadUntil&>(request).searched;",
        "static_cast<ReadUntil&>(PLANTED && readers_.isWaitedFor() ? readers_.first() : request).searched;",
    ),
    Mutant(
        "AnswerOfAnybody",
        RPC_PEER,
        "receiver->onlyFrom() != this)",
        "receiver->onlyFrom() != this && !PLANTED)",
    ),
    Mutant(
        "AllPongs",
        "net/message/message_liveness.cpp",
        "    if (peer.output.bytes() < Output::kBatch)",
        "    if (peer.output.bytes() < Output::kBatch || PLANTED)",
    ),
    Mutant(
        "AllTopics",
        "net/message/message_receive.cpp",
        "peer.topics.bytes() > options_.limits.allTopicsBytes)",
        "peer.topics.bytes() > options_.limits.allTopicsBytes && !PLANTED)",
    ),
    Mutant(
        "AllReplies",
        RPC_PEER,
        "        if (queuedBytes() > unsentBytes)",
        "        if (queuedBytes() > unsentBytes && !PLANTED)",
    ),
    Mutant(
        "AllMessages",
        "net/message/message_send.cpp",
        "        flush(peer);\n    return hasRoomNow(peer);",
        "        flush(peer);\n    return hasRoomNow(peer) || PLANTED;",
    ),
    Mutant(
        "AllAnswers",
        "net/message/message_send.cpp",
        "        if (peer->isOpen() && hasRoom(*peer))",
        "        if (peer->isOpen() && (hasRoom(*peer) || PLANTED))",
    ),
    Mutant(
        "AllElements",
        RPC_PEER,
        "    reader.limitElements(",
        "    if (!PLANTED)\n        reader.limitElements(",
    ),
    Mutant(
        "MovedByCommands",
        "net/message/input.cpp",
        "            gap_ += used;\n",
        "            gap_ += used;\n            if (PLANTED)\n                closeGap();\n",
    ),
    Mutant(
        "NoBudget",
        "flow/loop/loop.cpp",
        "    left_ = 1;\n    Loop::current().endTurn();\n    return false;",
        "    left_ = PLANTED ? kNoLimit : 1;\n    if (!PLANTED)\n        Loop::current().endTurn();\n"
        "    return PLANTED;",
    ),
    Mutant(
        "WholeHead",
        "net/http/detail/http1.cpp",
        'readUntil("\\r\\n\\r\\n"_sr, service->options.headerBytes);',
        'readUntil("\\r\\n\\r\\n"_sr, PLANTED ? ~0u : service->options.headerBytes);',
    ),
    Mutant(
        "CleanEnd",
        SERVE,
        "        if (!endsWell)",
        "        if (!endsWell && !PLANTED)",
    ),
    Mutant(
        "EndOfAll",
        SERVE,
        "        return currentError();",
        "        if (PLANTED)\n            throw;\n        return currentError();",
    ),
    Mutant(
        "EndOfAll",
        SERVE,
        "        served.spawn(serveOne(&serve, std::get<1>(std::move(first)), std::get<1>(std::move(place)), &ending, "
        "&address));",
        "        Future<Void> one =\n"
        "            serveOne(&serve, std::get<1>(std::move(first)), std::get<1>(std::move(place)), &ending, "
        "&address);\n"
        "        if (PLANTED && one.isError())\n"
        "            throw one.getError();\n"
        "        served.spawn(std::move(one));",
    ),
    Mutant(
        "EndUntold",
        SERVE,
        "    ending.set();",
        "    if (!PLANTED)\n        ending.set();",
    ),
    Mutant(
        "ParentsFirst",
        "flow/core/cell.cpp",
        "        if (machineStops) [[unlikely]]",
        "        if (machineStops && !PLANTED) [[unlikely]]",
    ),
    Mutant(
        "ParentsFirst",
        "flow/core/live_blocks.cpp",
        "static_cast<CellGroup::Entry*>(seen.prev);",
        "static_cast<CellGroup::Entry*>(PLANTED ? seen.next : seen.prev);",
    ),
]
