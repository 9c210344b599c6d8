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
// Each stream is a Connection (net/connection.h) with one direction: reads, or writes; a terminal that adoptStream()
// gets may have both. Its addresses are Address(). A read from a terminal gives the lines that the user has typed; one
// in raw mode needs VMIN of at least 1. The end of a file, and Ctrl-D, are the end of the stream.
//
// Flags. Other processes share the flags of a pipe, a file or a terminal, so these flags never change. A pipe or a
// terminal is opened again by /proc/self/fd. For a file, and where the system does not allow that, such as at another
// user's terminal, each read or write is a call on its own thread. All processes share the position in a file. Nothing
// waits for a thread: the program can end while a read of a terminal blocks. Only sockets (inetd) become non-blocking,
// as in net/real/adopt.h.
//
// Cancel safety is as for a Connection. A cancelled read ends immediately; bytes that come later are kept for the next
// read. After close(), bytes that a thread still reads are lost.
//
// Errors. If the reader of a pipe has gone (`| head`), writes fail with connection_reset, and no SIGPIPE comes. Files
// have the errors of flow/file/async_file.h: disk_full, io_error. After the error of a read, bytes that came before are
// still read. A write to an input, or a read from an output, fails with client_invalid_operation.
//
// Do not use the same stream by other means at the same time: std::cin and std::cout have their own buffers.

#include "net/connection.h"

namespace flow::net {

/// Descriptor 0 of the program. Each call on a loop returns the same stream. It is not closed before the program ends:
/// close() only ends its use. Throws unsupported_operation if the loop does not have the machine's network, and
/// client_invalid_operation with a sentence if the descriptor is not open, or open for the other direction only.
Reference<Connection> standardInput();
/// Descriptor 1; otherwise like standardInput(). If both are the same socket, both are the same Connection.
Reference<Connection> standardOutput();

/// Makes a stream of an open pipe, terminal or other file, for the directions for which it is open. The stream closes
/// the descriptor. Throws like standardInput(); then the descriptor stays the caller's. For a socket, it is
/// adoptConnection().
Reference<Connection> adoptStream(int descriptor);

} // namespace flow::net
