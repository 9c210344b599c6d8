#pragma once
// ChildProcess: runs another program, with its standard streams as connections and its exit status as a future.
//
//     ChildOptions options{.program = "sort", .arguments = {"-n"}};
//     options.input = options.output = ChildStream::Connected;
//     Reference<ChildProcess> sort = spawn(options);
//     co_await sort->input()->write("10\n9\n"_sr);
//     sort->input()->shutdownWrite();
//     Bytes first = co_await sort->output()->readUntil("\n"_sr, 100);
//     ExitStatus status = co_await sort->onExit();
//
// A connected stream is a Unix socket for the child, so programs that open /dev/stdout by name fail.
//
// A child that still runs is killed (SIGKILL) when the last Reference of its ChildProcess is destroyed, or when the
// loop's network ends. A child is always reaped, so no zombie remains. A ChildProcess belongs to its loop, which must
// have the machine's network; on other loops spawn() throws unsupported_operation. If this program ignores SIGCHLD, the
// exit statuses of its children are lost: their code is -1.

#include "flow/loop/turn.h"
#include "net/real/detail/real_socket.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace flow::net {

enum class ChildStream : std::uint8_t {
    Inherited, // the stream of this program
    Connected,
    Null, // /dev/null
};

struct ChildOptions {
    /// The path of the program. A name without / is looked up in PATH.
    std::string program;
    std::vector<std::string> arguments = {};
    /// The environment, as texts "NAME=value". If absent, the child inherits this program's environment.
    std::optional<std::vector<std::string>> environment = {};
    /// The working directory of the child. "": the directory of this program.
    std::string directory = {};
    ChildStream input = ChildStream::Inherited, output = ChildStream::Inherited, error = ChildStream::Inherited;
};

struct ExitStatus {
    int code = 0;   // the exit code of the child; 0 if a signal ended the child
    int signal = 0; // the signal that ended the child; 0 if none did

    bool isSuccess() const { return code == 0 && signal == 0; }
    friend bool operator==(ExitStatus const&, ExitStatus const&) = default;
};

class ChildProcess final : public ReferenceCounted<ChildProcess>, RealSocket, Turn {
public:
    using Streams = std::array<Reference<Connection>, 3>;

    /// Called by spawn(). `opened` is a pidfd.
    ChildProcess(RealNetwork& network, OpenDescriptor opened, int id, Streams streams);
    ~ChildProcess();

    int id() const { return id_; }
    /// Return the connections; null for a stream that is not Connected. The child reads the bytes written to input().
    Reference<Connection> const& input() const { return streams_[0]; }
    Reference<Connection> const& output() const { return streams_[1]; }
    Reference<Connection> const& error() const { return streams_[2]; }
    /// Ready when the child has ended, for any number of waiters. Fails with broken_promise if this object is
    /// destroyed.
    Future<ExitStatus> onExit() { return exit_.getFuture(); }
    /// Sends `signal` to the child. Does nothing if the child has ended.
    void kill(int signal);

private:
    friend Reference<ChildProcess> spawn(ChildOptions const& options);

    void onNews(News news) noexcept override;
    bool isAwaited() const override { return exit_.getFutureReferenceCount() != 0; }
    void onNetworkEnd() noexcept override;
    void lookForExit();

    int id_;
    Streams streams_;
    Promise<ExitStatus> exit_;
};

/// Starts the program. Throws file_not_found, not_allowed if it is not executable, platform_error without resources.
Reference<ChildProcess> spawn(ChildOptions const& options);

} // namespace flow::net
