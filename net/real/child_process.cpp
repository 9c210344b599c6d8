// spawn() makes a socket pair for each connected stream, starts the program by posix_spawnp(), and opens a pidfd, which
// becomes readable when the child ends. The poller watches the pidfd; lookForExit() then reaps the child and completes
// onExit().
//
// The destructor of a ChildProcess kills a running child. The child must still be reaped, without blocking the loop: a
// Reaped object takes the pidfd, waits for the exit, and deletes itself. If the network ends or memory runs out,
// killAndTakeExit() blocks for at most a second.

#include "net/real/child_process.h"

#include "flow/base/detail/sentence.h"
#include "net/real/detail/real_connection.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace flow::net {
namespace {

// glibc 2.36 declares these two system calls for C only, not for C++.
int openProcess(pid_t id) {
    return static_cast<int>(::syscall(SYS_pidfd_open, id, 0));
}
void signalProcess(int descriptor, int signal) {
    ::syscall(SYS_pidfd_send_signal, descriptor, signal, nullptr, 0);
}

/// The status of a child that was reaped by other code, or by the kernel because this program ignores SIGCHLD.
constexpr ExitStatus kLost = {-1, 0};

/// Reaps the child if it has ended, and returns its status. Returns nothing if the child still runs.
std::optional<ExitStatus> takeExit(int descriptor) {
    siginfo_t info = {};
    if (::waitid(P_PIDFD, static_cast<id_t>(descriptor), &info, WEXITED | WNOHANG) != 0)
        return errno == ECHILD ? std::optional<ExitStatus>(kLost) : std::nullopt;
    if (info.si_pid == 0)
        return std::nullopt;
    return info.si_code == CLD_EXITED ? ExitStatus{info.si_status, 0} : ExitStatus{0, info.si_status};
}

/// Kills and reaps a child for which no loop can wait.
void killAndTakeExit(int descriptor) {
    constexpr int kMilliseconds = 1000; // usually the child ends sooner
    signalProcess(descriptor, SIGKILL);
    pollfd asked = {descriptor, POLLIN, 0};
    if (::poll(&asked, 1, kMilliseconds) > 0)
        (void)takeExit(descriptor);
}

class Reaped final : public RealSocket, Turn, public FastAllocated<Reaped> {
public:
    Reaped(RealNetwork& network, OpenDescriptor opened)
        : RealSocket(network, std::move(opened)), Turn([](Turn& self) {
              auto& reaped = static_cast<Reaped&>(self);
              if (takeExit(reaped.descriptor()))
                  delete &reaped;
          }) {}

    /// Starts to wait for the child. Destroys this object if the child cannot be watched.
    void start() noexcept {
        try {
            watch();
        } catch (Error&) {
            onNetworkEnd();
        }
    }

private:
    void onNews(News) noexcept override { ask(TaskPriority::ReadSocket); }
    bool isAwaited() const override { return true; }
    void onNetworkEnd() noexcept override {
        killAndTakeExit(descriptor());
        delete this;
    }
};

class Preparation {
public:
    Preparation() {
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_init(&attributes);
        sigset_t none, pipe;
        ::sigemptyset(&none);
        ::sigemptyset(&pipe);
        ::sigaddset(&pipe, SIGPIPE);
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setsigdefault(&attributes, &pipe);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    Preparation(Preparation const&) = delete;
    Preparation& operator=(Preparation const&) = delete;
    ~Preparation() {
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
    }

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
};

/// Throws the Error for an errno other than 0, with the name of the program in its sentence.
void check(std::string const& program, int error) {
    if (error == 0)
        return;
    Error plain = error == ENOENT || error == ENOTDIR ? file_not_found() : errorOfSystem(error);
    throw withPieces(plain, {"start \"", program, "\": ", systemText(error)});
}

/// Returns `descriptor`, or moves it above the standard streams: returns a copy, and closes `descriptor`.
int aboveStreams(int descriptor) {
    if (descriptor > STDERR_FILENO)
        return descriptor;
    OpenDescriptor before(descriptor);
    int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (moved < 0)
        throw errorOfSystem(errno);
    return moved;
}

std::vector<char*> pointersTo(std::vector<std::string> const& texts) {
    std::vector<char*> pointers;
    for (std::string const& each : texts)
        pointers.push_back(const_cast<char*>(each.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

} // namespace

ChildProcess::ChildProcess(RealNetwork& network, OpenDescriptor opened, int id, Streams streams)
    : RealSocket(network, std::move(opened)), Turn([](Turn& self) { static_cast<ChildProcess&>(self).lookForExit(); }),
      id_(id), streams_(std::move(streams)) {}

ChildProcess::~ChildProcess() {
    if (!isOpen())
        return;
    kill(SIGKILL);
    if (takeExit(descriptor()))
        return;
    RealNetwork& home = network();
    OpenDescriptor left = release();
    try {
        (new Reaped(home, std::move(left)))->start();
    } catch (...) { // no memory
        killAndTakeExit(left.get());
    }
}

void ChildProcess::kill(int signal) {
    if (isOpen())
        signalProcess(descriptor(), signal);
}

void ChildProcess::onNews(News) noexcept {
    ask(TaskPriority::ReadSocket);
}

void ChildProcess::lookForExit() {
    std::optional<ExitStatus> status = takeExit(descriptor());
    if (!status)
        return;
    closeDescriptor();
    exit_.send(*status);
}

void ChildProcess::onNetworkEnd() noexcept {
    takeBack();
    if (isOpen())
        killAndTakeExit(descriptor());
    leaveNetwork();
}

Reference<ChildProcess> spawn(ChildOptions const& options) {
    auto* network = dynamic_cast<RealNetwork*>(&transport());
    if (!network)
        throw unsupported_operation();
    Preparation preparation;
    ChildProcess::Streams streams;
    std::vector<std::unique_ptr<OpenDescriptor>> ofChild;
    ChildStream const wanted[] = {options.input, options.output, options.error};
    for (int stream = 0; stream < 3; ++stream) {
        if (wanted[stream] == ChildStream::Null)
            check(options.program,
                  ::posix_spawn_file_actions_addopen(&preparation.actions, stream, "/dev/null", O_RDWR, 0));
        if (wanted[stream] != ChildStream::Connected)
            continue;
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            throw errorOfSystem(errno);
        OpenDescriptor own(ends[0]);
        ofChild.push_back(std::make_unique<OpenDescriptor>(aboveStreams(ends[1])));
        if (::fcntl(own.get(), F_SETFL, O_NONBLOCK) != 0) // the child's end stays blocking
            throw errorOfSystem(errno);
        streams[static_cast<std::size_t>(stream)] = makeReference<RealConnection>(
            *network, std::move(own), Address(), ReadStrategy::Reactive, Reference<FirstReads>());
        check(options.program, ::posix_spawn_file_actions_adddup2(&preparation.actions, ofChild.back()->get(), stream));
    }
    if (!options.directory.empty())
        check(options.program, ::posix_spawn_file_actions_addchdir_np(&preparation.actions, options.directory.c_str()));
    std::vector<std::string> words = {options.program};
    words.insert(words.end(), options.arguments.begin(), options.arguments.end());
    std::vector<char*> environment;
    if (options.environment)
        environment = pointersTo(*options.environment);
    pid_t id = 0;
    check(options.program,
          ::posix_spawnp(&id, options.program.c_str(), &preparation.actions, &preparation.attributes,
                         pointersTo(words).data(), options.environment ? environment.data() : environ));
    int descriptor = openProcess(id);
    bool isGone = descriptor < 0 && errno == ESRCH; // the child has ended, and its status is lost: SIGCHLD is ignored
    if (descriptor < 0 && !isGone) {
        Error error = errorOfSystem(errno);
        ::kill(id, SIGKILL);
        ::waitpid(id, nullptr, 0);
        throw error;
    }
    OpenDescriptor opened(descriptor);
    Reference<ChildProcess> child;
    try {
        child = makeReference<ChildProcess>(*network, std::move(opened), id, std::move(streams));
    } catch (...) { // no memory
        if (!isGone)
            killAndTakeExit(opened.get());
        throw;
    }
    if (isGone)
        child->exit_.send(kLost);
    else
        child->watch(); // if watch() throws, the destructor kills the child
    return child;
}

} // namespace flow::net
