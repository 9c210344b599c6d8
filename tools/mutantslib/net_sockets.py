"""Mutants of the sockets of net: addresses, connections, pollers, TLS, the simulated network, examples."""

from __future__ import annotations

from mutantslib.mutant import Mutant

MUTANTS = (
    # ----------------------------------------------------------------------------------------------------------- net
    Mutant(
        "GapForNothing",
        "net/address.cpp",
        "        if (gap >= 0 && size == 16)",
        "        if (gap >= 0 && size == 16 && !PLANTED)",
    ),
    Mutant(
        "AbstractNameWithItsZero",
        "net/address.cpp",
        "    name = isAbstract ? name.substr(1) :",
        "    name = isAbstract ? name.substr(PLANTED ? 0 : 1) :",
    ),
    Mutant(
        "BufferGrowsWhereItStands",
        "net/byte_buffer.cpp",
        "    } else if (total > capacity_ - static_cast<std::size_t>(data_ - block_)) {",
        "    } else if (total > capacity_ - (PLANTED ? 0 : static_cast<std::size_t>(data_ - block_))) {",
    ),
    Mutant(
        "LastErrorOfAttempts",
        "net/connect.cpp",
        "        if (!firstError.isValid())",
        "        if (!firstError.isValid() || PLANTED)",
    ),
    Mutant(
        "SecondTextInOneRead",
        "net/connection.cpp",
        "        std::size_t overlap = request.count - 1u;",
        "        std::size_t overlap = PLANTED ? 0u : request.count - 1u;",
    ),
    Mutant(
        "TextBeyondTheLimit",
        "net/connection.cpp",
        "        if (isFound ? at + request.count > request.size : have >= request.size)",
        "        if (isFound ? at + request.count > request.size && !PLANTED : have >= request.size)",
    ),
    Mutant(
        "StraightReadOfNothing",
        "net/poll/epoll_poller.cpp",
        "                      !(event.events & EPOLLPRI)});",
        "                      !(event.events & EPOLLPRI) || PLANTED});",
    ),
    Mutant(
        "RoomAtTheHighMark",
        "net/drain.h",
        "return queuedBytes() > high_ ? drainedTo(low_)",
        "return queuedBytes() > high_ ? drainedTo(PLANTED ? high_ : low_)",
    ),
    Mutant(
        "NamesKeptForEver",
        "net/resolver.cpp",
        "place != kept_.end() && place->second.until > Loop::current().now())",
        "place != kept_.end() && (place->second.until > Loop::current().now() || PLANTED))",
    ),
    Mutant(
        "RecordingNeverEnds",
        "net/detail/console_recordings.cpp",
        "    ~Recording() { flag = false; }",
        "    ~Recording() { flag = PLANTED; }",
    ),
    # ------------------------------------------------------------------------------------------------------ net/real
    Mutant(
        "PartOfPieceSentAgain",
        "net/real/real_connection.cpp",
        "    first_ += static_cast<int>(bytes);",
        "    first_ = (PLANTED ? 0 : first_) + static_cast<int>(bytes);",
    ),
    Mutant(
        "EndBeforeTheQueue",
        "net/real/real_connection.cpp",
        "    if (std::exchange(writeEnded_, true) || !isOpen())\n        return;\n    if (queue_.isEmpty())",
        "    if (std::exchange(writeEnded_, true) || !isOpen())\n        return;\n    if (queue_.isEmpty() || PLANTED)",
    ),
    Mutant(
        "LingersForEver",
        "net/real/real_connection.cpp",
        "        if (sent.error != 0 || queue_.isEmpty())\n            delete this;",
        "        if ((sent.error != 0 && !PLANTED) || queue_.isEmpty())\n            delete this;",
    ),
    Mutant(
        "SocketOfAnotherRemoved",
        "net/real/socket_file.cpp",
        "file.st_ino == number_)",
        "(file.st_ino == number_ || PLANTED))",
    ),
    Mutant(
        "ListenerWithoutDescriptors",
        "net/real/real_listener.cpp",
        "            pause_.askAt(Loop::current().now() + kPause, TaskPriority::AcceptSocket);",
        "            if (!PLANTED)\n"
        "                pause_.askAt(Loop::current().now() + kPause, TaskPriority::AcceptSocket);",
    ),
    Mutant(
        "DatagramsJoinedUnequal",
        "net/real/real_datagrams.cpp",
        "        if (next == 0 || next > size || total",
        "        if (next == 0 || (next > size && !PLANTED) || total",
    ),
    # ------------------------------------------------------------------------------------------------------ net/poll
    Mutant(
        "RemovedDescriptorWatched",
        "net/poll/epoll_poller.cpp",
        "    if (!events_.needsDescriptor()) // otherwise epoll_ belongs",
        "    if (!events_.needsDescriptor() && !PLANTED) // otherwise epoll_ belongs",
    ),
    Mutant(
        "SlotOfAnother",
        "net/poll/uring_poller.cpp",
        "    if (index >= slots_.size() || slots_[index].count != id >> 32)",
        "    if (index >= slots_.size() || (slots_[index].count != id >> 32 && !PLANTED))",
    ),
    # ------------------------------------------------------------------------------------------------------- net/sim
    Mutant(
        "CloseWithUnreadBytes",
        "net/sim/session.cpp",
        "    if (!half.isEstablished || !half.received.isEmpty())",
        "    if (!half.isEstablished || (!half.received.isEmpty() && !PLANTED))",
    ),
    Mutant(
        "CorruptsTheSendersBytes",
        "net/sim/sim_network.cpp",
        "    Bytes wrong = static_cast<StringRef>(bytes);",
        "    Bytes wrong = PLANTED ? bytes : Bytes(static_cast<StringRef>(bytes));",
    ),
    # ------------------------------------------------------------------------------------------------------- net/tls
    Mutant(
        "TruncatedTlsIsTheEnd",
        "net/tls/tls_connection.cpp",
        "    cut_ = noteTlsError(connection_cut_off(), why_);",
        "    cut_ = PLANTED ? Error() : noteTlsError(connection_cut_off(), why_);",
    ),
    Mutant(
        "NameUnchecked",
        "net/tls/tls_connection.cpp",
        "    if (context_->verifies()) {",
        "    if (context_->verifies() && !PLANTED) {",
    ),
    Mutant(
        "HandshakeWithoutEnd",
        "net/tls/tls_connection.cpp",
        "        if (first.index() == 1) {\n            connection->failWith(",
        "        if (first.index() == 1 && !PLANTED) {\n            connection->failWith(",
    ),
    Mutant(
        "ClientWithoutCertificate",
        "net/tls/tls_context.cpp",
        "(isServer ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0);",
        "(isServer && !PLANTED ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0);",
    ),
    # -------------------------------------------------------------------------------------------------- net/examples
    Mutant(
        "SlowGuestFillsMemory",
        "net/examples/room.cpp",
        "        if (guest->queuedBytes() > kMostUnread)",
        "        if (guest->queuedBytes() > kMostUnread && !PLANTED)",
    ),
    Mutant(
        "ParentFolderServed",
        "net/http/open_file.cpp",
        'int next = part == ".." ? -1',
        'int next = part == ".." && !PLANTED ? -1',
    ),
    Mutant(
        "LinkFollowed",
        "net/http/open_file.cpp",
        "O_RDONLY | O_NOFOLLOW | O_NONBLOCK",
        "O_RDONLY | (PLANTED ? 0 : O_NOFOLLOW) | O_NONBLOCK",
    ),
    Mutant(
        "ChangedFileFromCache",
        "net/http/detail/file_cache.cpp",
        "|| !found.file->isCurrent()",
        "|| (!found.file->isCurrent() && !PLANTED)",
    ),
    Mutant(
        "TooManyBytesOfRanges",
        "net/http/detail/ranges.cpp",
        "count == 0 || bytes > size ?",
        "count == 0 || (bytes > size && !PLANTED) ?",
    ),
    Mutant(
        "WeakTagIsStrong",
        "net/http/detail/conditions.cpp",
        "if (isStrong && isWeak(tag))",
        "if (isStrong && isWeak(tag) && !PLANTED)",
    ),
    Mutant(
        "StreamNotFlushed",
        "net/http/compress.cpp",
        "work->isLive && some.size()",
        "work->isLive && !PLANTED && some.size()",
    ),
    Mutant(
        "HeaderWithoutLimit",
        "net/http/detail/http1.cpp",
        'readUntil("\\r\\n\\r\\n"_sr, service->options.headerBytes);',
        'readUntil("\\r\\n\\r\\n"_sr, PLANTED ? ~0u : service->options.headerBytes);',
    ),
)
