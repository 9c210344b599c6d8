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
// A connected stream is a Unix socket for the child. Most programs work with that; a program that opens /dev/stdout by
// name does not.
//
// If the child still runs when the last Reference of its ChildProcess goes, or when the loop's network ends, it is
// killed (SIGKILL). It is always reaped, so no zombie remains. Belongs to its loop, which must have the machine's
// network: elsewhere spawn() throws unsupported_operation. A program that ignores SIGCHLD loses the exit statuses:
// their code is -1.

#include "flow/loop/turn.h"
#include "net/real/real_socket.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace flow::net {

enum class ChildStream : std::uint8_t {
    Inherited, // as this program's
    Connected,
    Null, // /dev/null
};

struct ChildOptions {
    /// Looked up in PATH if there is no / in it.
    std::string program;
    /// After the program's name.
    std::vector<std::string> arguments = {};
    /// "NAME=value" each; nothing: this program's.
    std::optional<std::vector<std::string>> environment = {};
    /// Its working directory; "": that of this program.
    std::string directory = {};
    ChildStream input = ChildStream::Inherited, output = ChildStream::Inherited, error = ChildStream::Inherited;
};

struct ExitStatus {
    int code = 0;   // its exit code
    int signal = 0; // or the signal that ended it

    bool isSuccess() const { return code == 0 && signal == 0; }
    friend bool operator==(ExitStatus const&, ExitStatus const&) = default;
};

class ChildProcess final : public ReferenceCounted<ChildProcess>, RealSocket, Turn {
public:
    using Streams = std::array<Reference<Connection>, 3>;

    /// See spawn(). `opened` is a pidfd.
    ChildProcess(RealNetwork& network, OpenDescriptor opened, int id, Streams streams);
    ~ChildProcess();

    int id() const { return id_; }
    /// The streams that are Connected; null otherwise. The child reads what is written to input().
    Reference<Connection> const& input() const { return streams_[0]; }
    Reference<Connection> const& output() const { return streams_[1]; }
    Reference<Connection> const& error() const { return streams_[2]; }
    /// Ready when it has ended. Several may wait. Fails with broken_promise if this is destroyed before.
    Future<ExitStatus> onExit() { return exit_.getFuture(); }
    /// Sends it a signal; does nothing if it has ended.
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

/// Starts the program. Throws file_not_found or not_allowed if it cannot be executed, platform_error for lack of
/// resources.
Reference<ChildProcess> spawn(ChildOptions const& options);

} // namespace flow::net
