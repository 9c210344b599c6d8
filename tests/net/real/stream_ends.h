#pragma once
// What the tests of streams share: pipes and terminals that another program may have opened, in place of the standard
// streams of this one.

#include "tests/flow/support/descriptors.h"
#include "tests/net/file_descriptor_suite.h"

#include <string>
#include <termios.h>
#include <thread>

namespace flow::test {

/// Makes `number` a copy of another descriptor, until the end of this object.
class StandsFor {
public:
    StandsFor(int number, int other) : number_(number), before_(::fcntl(number, F_DUPFD_CLOEXEC, 3)) {
        ::dup2(other, number);
    }
    StandsFor(StandsFor const&) = delete;
    ~StandsFor() {
        ::dup2(before_, number_);
        ::close(before_);
    }

private:
    int number_, before_;
};

/// Two descriptors, which block, and share their flags with nothing else of this program.
struct TwoEnds {
    int ends[2] = {-1, -1};

    static TwoEnds ofPipe() {
        TwoEnds made;
        REQUIRE(::pipe2(made.ends, O_CLOEXEC) == 0);
        return made;
    }
    /// The terminal, which gives whole lines and has no echo, and the side that controls it: [0] and [1]. Without
    /// /dev/pts both are -1.
    static TwoEnds ofTerminal() {
        TwoEnds made;
        int control = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (control < 0 || ::grantpt(control) != 0 || ::unlockpt(control) != 0) {
            ::close(control);
            MESSAGE("skipped: this machine has no /dev/pts");
            return made;
        }
        made.ends[1] = control;
        made.ends[0] = ::open(::ptsname(control), O_RDWR | O_NOCTTY | O_CLOEXEC);
        termios settings;
        REQUIRE(::tcgetattr(made.ends[0], &settings) == 0);
        settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        ::tcsetattr(made.ends[0], TCSANOW, &settings);
        return made;
    }
    TwoEnds(TwoEnds&& other) noexcept : ends{std::exchange(other.ends[0], -1), std::exchange(other.ends[1], -1)} {}
    ~TwoEnds() {
        for (int end : {0, 1})
            closeEnd(end);
    }
    explicit operator bool() const { return ends[0] >= 0; }
    int operator[](int end) const { return ends[end]; }
    int take(int end) { return std::exchange(ends[end], -1); }
    void send(std::string const& text) const { REQUIRE(::write(ends[1], text.data(), text.size()) > 0); }
    void closeEnd(int end) {
        if (int number = take(end); number >= 0)
            ::close(number);
    }

private:
    TwoEnds() = default;
};

/// Checks at its end that the flags of a descriptor are what they were, also in between.
class SameFlags {
public:
    explicit SameFlags(int descriptor) : descriptor_(descriptor), before_(::fcntl(descriptor, F_GETFL)) {}
    ~SameFlags() { check(); }
    void check() const { CHECK(::fcntl(descriptor_, F_GETFL) == before_); }

private:
    int descriptor_, before_;
};

/// Writes a byte. Returns the error; Error() if there is none.
inline Future<Error> failureOfWrite(Reference<Connection> to) {
    try {
        co_await to->write("x"_sr);
        co_await to->flushed();
    } catch (Error& error) {
        co_return error;
    }
    co_return Error();
}

/// Checks that no descriptor is left; at its end waits until threads of streams have closed their files.
class NoneLeft {
public:
    NoneLeft() : before_(openDescriptors()) {}
    NoneLeft(NoneLeft const&) = delete;
    ~NoneLeft() {
        for (int i = 0; i < 10'000 && openDescriptors() != before_; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        CHECK(openDescriptors() == before_);
    }

private:
    int before_;
};

} // namespace flow::test
