"""Mutants of net/message and net/rpc."""

from __future__ import annotations

from mutantslib.mutant import Mutant

MUTANTS = (
    # --------------------------------------------------------------------------------------------------- net/message
    Mutant(
        "MessageBytesPerPart",
        "net/message/input.cpp",
        "        bodyBytes_ += frame_.body.size();",
        "        bodyBytes_ += PLANTED ? 0 : frame_.body.size();",
    ),
    Mutant(
        "SharedSlabOverwritten",
        "net/message/input.cpp",
        "        if (slab_.isSole())",
        "        if (slab_.isSole() || PLANTED)",
    ),
    Mutant(
        "HalfSentMessageLost",
        "net/message/output.cpp",
        "        if (!command && at + size > piece.sent)",
        "        if (!command && (PLANTED ? at >= piece.sent : at + size > piece.sent))",
    ),
    Mutant(
        "CommandWithMore",
        "net/message/zmtp.cpp",
        "|| (flags & (kMore | kCommand)) == (kMore | kCommand))",
        "|| ((flags & (kMore | kCommand)) == (kMore | kCommand) && !PLANTED))",
    ),
    Mutant(
        "AuthenticatorThrows",
        "net/message/handshake.cpp",
        "    bool mayEnter = false;\n    try {",
        "    bool mayEnter = PLANTED;\n    try {",
    ),
    Mutant(
        "IdentityOf256",
        "net/message/handshake.cpp",
        "            if (value.size() > 255)",
        "            if (value.size() > (PLANTED ? 256 : 255))",
    ),
    Mutant(
        "SubscriptionsOfLatePeer",
        "net/message/message_connections.cpp",
        "            sendTopic(peer, topic, true);\n    flush(peer);",
        "            if (!PLANTED)\n                sendTopic(peer, topic, true);\n    flush(peer);",
    ),
    # ------------------------------------------------------------------------------------------------------- net/rpc
    Mutant(
        "FrameSizeUnchecked",
        "net/rpc/wire_format.cpp",
        "    if (size < kRest)",
        "    if (size < kRest && !PLANTED)",
    ),
    Mutant(
        "FrameOneByteTooLarge",
        "net/rpc/wire_format.cpp",
        "    bool isTooLarge = size - kRest > limits.largest;",
        "    bool isTooLarge = size - kRest > limits.largest + (PLANTED ? 1 : 0);",
    ),
    Mutant(
        "PausedPeerIsSilent",
        "net/rpc/rpc_peer.cpp",
        "        if (isPaused_)\n            lastHeard_ = now();",
        "        if (isPaused_ && !PLANTED)\n            lastHeard_ = now();",
    ),
    Mutant(
        "BacklogWithoutBound",
        "net/rpc/detail/request_queue.h",
        "return backlog_ > node_->options().backlogBytes; }",
        "return backlog_ > node_->options().backlogBytes && !PLANTED; }",
    ),
    Mutant(
        "TakenBytesNotTold",
        "net/rpc/reply_promise_stream.h",
        "        if (reader_)\n            notifyTaken(false);",
        "        if (reader_ && !PLANTED)\n            notifyTaken(false);",
    ),
)
