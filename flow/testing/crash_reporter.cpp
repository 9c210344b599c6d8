#include "flow/testing/detail/crash_reporter.h"

#include <csignal>
#include <cstring>
#include <sys/time.h>
#include <unistd.h>

namespace flow::testing {
namespace {

constexpr int kSignals[] = {SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTERM, SIGINT};

std::string head, tail; // set before the handlers are installed

void say(char const* text, std::size_t length) {
    while (length > 0) {
        ssize_t written = ::write(STDOUT_FILENO, text, length);
        if (written <= 0)
            return;
        text += written;
        length -= static_cast<std::size_t>(written);
    }
}

char const* cause(int signal) {
    switch (signal) {
    case SIGALRM:
        return "it ran too long for --limit";
    case SIGABRT:
        return "it aborted";
    case SIGSEGV:
    case SIGBUS:
        return "it used memory that is not there";
    case SIGTERM:
    case SIGINT:
        return "the program was asked to end";
    default:
        return "it did what the machine cannot do";
    }
}

// Calls only functions that are safe in a signal handler.
void onSignal(int signal) {
    char const* why = cause(signal);
    say(head.data(), head.size());
    say(why, std::strlen(why));
    say(tail.data(), tail.size());
    if (signal == SIGALRM)
        ::_exit(1);
    std::signal(signal, SIG_DFL);
    ::raise(signal);
}

bool hasHandler(int signal, void (*handler)(int)) {
    struct sigaction current;
    return ::sigaction(signal, nullptr, &current) == 0 && !(current.sa_flags & SA_SIGINFO) &&
           current.sa_handler == handler;
}

} // namespace

CrashReporter::CrashReporter(std::string const& test, std::string const& more, int limit) {
    head = "FAILED " + test + ": ";
    tail = "\n" + more;
    for (int signal : kSignals)
        if (hasHandler(signal, SIG_DFL))
            std::signal(signal, onSignal);
    ::alarm(static_cast<unsigned>(limit));
}

CrashReporter::~CrashReporter() {
    ::alarm(0);
    for (int signal : kSignals)
        if (hasHandler(signal, onSignal))
            std::signal(signal, SIG_DFL);
}

} // namespace flow::testing
