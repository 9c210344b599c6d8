#pragma once
// standardInput(), standardOutput(): the streams of a program in a shell; and adoptStream() for another pipe, terminal
// or file.
//
//     Lines lines(net::standardInput());
//     Reference<Connection> output = net::standardOutput();
//     while (Optional<std::string> line = co_await lines.next())
//         co_await output->write(StringRef(*line + "\n"));      // waits while the reader is slow
//     co_await output->flushed();                               // before the program ends
//
// Each stream is a Connection (net/connection.h) with one direction: reads, or writes. A terminal that adoptStream()
// gets may have both. Both addresses of a stream are Address(). A read from a terminal gives the lines that the user
// has typed; a terminal in raw mode needs VMIN of at least 1. The end of a file, and Ctrl-D, are the end of the stream.
//
// Flags. The flags of pipes, files and terminals never change, because other processes share them. A pipe or a terminal
// is opened anew by /proc/self/fd. If that is not allowed, such as at another user's terminal, and for files, each read
// or write is a call on a thread of its own. The position in a file stays shared. Nothing waits for a thread: the
// program can end while a terminal gives nothing. Only sockets (inetd) become non-blocking, as in net/real/adopt.h.
//
// Cancel safety is that of a Connection. A cancelled read ends at once, and bytes that come later are kept for the next
// read. After close(), bytes that a thread still reads are lost.
//
// Errors. If the reader of a pipe has gone (`| head`), writes fail with connection_reset, and no SIGPIPE comes. Files
// have the errors of flow/file/async_file.h: disk_full, io_error. After the error of a read, bytes that came before are
// still read. A write to an input, or a read from an output, fails with client_invalid_operation.
//
// Do not use the same stream by other means at the same time: std::cin and std::cout have their own buffers.

#include "net/connection.h"

namespace flow::net {

/// Returns the stream of descriptor 0. Each call on a loop returns the same stream. The descriptor stays open until the
/// program ends: close() only ends its use. Throws unsupported_operation if the loop does not have the machine's
/// network, and client_invalid_operation with a sentence if the descriptor is not open for this direction.
Reference<Connection> standardInput();
/// Like standardInput(), for descriptor 1. If both descriptors are one socket, both streams are one Connection.
Reference<Connection> standardOutput();

/// Makes a stream of an open pipe, terminal or other file, for the directions for which it is open. The stream closes
/// the descriptor. Throws like standardInput(); then the descriptor stays the caller's. For a socket, calls
/// adoptConnection().
Reference<Connection> adoptStream(int descriptor);

} // namespace flow::net
