#include "flow/base/error.h"

#include "flow/base/detail/sentence.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/throws.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

using namespace flow;

namespace shop {
FLOW_ERROR(queue_full, 11001, "the queue is full");
}

namespace {

static_assert(sizeof(Error) == 4);
static_assert(std::is_trivially_copyable_v<Error>);
static_assert(timed_out().code() == error_code_timed_out);

bool const isOnAtStart = detail::recordsOrigins.load(); // before main() of the tests switches them off

std::string droppedWhere;
Error droppedError;
int droppedCount = 0;

void noteDropped(const char* where, Error error) {
    droppedWhere = where;
    droppedError = error;
    ++droppedCount;
}

/// Installs noteDropped for one test.
struct DroppedErrors {
    DroppedErrorHandler before = setDroppedErrorHandler(noteDropped);

    DroppedErrors() {
        droppedCount = 0;
        droppedWhere.clear();
        droppedError = Error();
    }
    ~DroppedErrors() { setDroppedErrorHandler(before); }
};

template <class Thrown>
Error caught(Thrown thrown) {
    try {
        throw thrown;
    } catch (...) {
        return currentError();
    }
}

} // namespace

TEST_CASE("error: every entry of the table has its code, name and description") {
    struct Entry {
        Error error;
        int code, number;
        const char *name, *description;
    };
#define FLOW_ENTRY(entry, number, description) {entry(), error_code_##entry, number, #entry, description},
    static constexpr Entry entries[] = {FLOW_ERROR_TABLE(FLOW_ENTRY)};
#undef FLOW_ENTRY
    for (Entry const& entry : entries) {
        CAPTURE(entry.name);
        CHECK(entry.code == entry.number);
        CHECK(entry.error.code() == entry.number);
        CHECK(entry.error.name() == std::string(entry.name));
        CHECK(entry.error.what() == std::string(entry.description));
    }
}

TEST_CASE("error: the codes are those of FoundationDB Flow") {
    CHECK(error_code_success == 0);
    CHECK(error_code_end_of_stream == 1);
    CHECK(error_code_operation_failed == 1000);
    CHECK(error_code_timed_out == 1004);
    CHECK(error_code_broken_promise == 1100);
    CHECK(error_code_actor_cancelled == 1101);
    CHECK(error_code_platform_error == 1500);
    CHECK(error_code_io_error == 1510);
    CHECK(error_code_unknown_error == 4000);
    CHECK(error_code_internal_error == 4100);
    CHECK(error_code_serialization_failed == 1044);
    CHECK(error_code_unsupported_operation == 2108);
    CHECK(error_code_operation_cancelled == 1101);
    CHECK(operation_cancelled() == actor_cancelled());
}

TEST_CASE("error: no error, and an application's own") {
    CHECK(!Error().isValid());
    CHECK(Error().code() == 65535);
    CHECK(Error().name() == std::string("unset"));
    CHECK(success().isValid());
    CHECK(success().code() == 0);
    CHECK(success() != Error());
    CHECK(caught(success()) == success());
    CHECK(caught(Error()).code() == error_code_unknown_error);
    CHECK(Error(10001).isValid());
    CHECK(Error(10001).code() == 10001);
    CHECK(Error(65534).code() == 65534);
    CHECK(Error::fromCode(1004) == timed_out());
    CHECK(std::string(Error(10001).name()) == "application_error");
    CHECK(std::strlen(Error(10001).what()) > 0);
}

TEST_CASE("error: a code that does not fit aborts instead of becoming another") {
    for (int code : {65536, 65536 + 1101, -1}) {
        asm volatile("" : "+r"(code));
        CHECK_DIES((void)Error(code), "an Error's code is in 0 .. 65534");
    }
}

TEST_CASE("error: the mark of an injected fault is copied and thrown along") {
    Error error = io_error();
    CHECK(!error.isInjectedFault());
    Error injected = error.asInjectedFault();
    CHECK(injected.isInjectedFault());
    CHECK(!error.isInjectedFault());
    CHECK(injected.code() == error_code_io_error);
    CHECK(std::string(injected.name()) == "io_error");
    CHECK(injected.asInjectedFault() == injected);
    CHECK(injected != error);
    Error copy = injected;
    Error assigned;
    assigned = copy;
    CHECK(assigned.isInjectedFault());
    CHECK(caught(assigned) == injected);
}

TEST_CASE("error: carries where it was made, if that is asked for") {
    auto make = [] { return io_error(); };
    Error without = make();
    CHECK_FALSE(Error::recordOrigins(true));
    int line = __LINE__ + 1;
    Error one = caught(io_error()), other = shop::queue_full().asInjectedFault();
    Error made = make(), again = make(), cancelled = operation_cancelled(), numbered = Error::fromCode(1510);
    CHECK(Error::recordOrigins(false));
    std::string place = "error_test.cpp:" + std::to_string(line);
    CHECK(one.origin() == place);
    CHECK(other.origin() == place);
    CHECK(other.isInjectedFault());
    CHECK_FALSE(other.asInjectedFault() != other);
    CHECK(numbered.origin() == "error_test.cpp:" + std::to_string(line + 1));
    CHECK(made.origin() == again.origin()); // the same text
    CHECK(*cancelled.origin() == 0);
    CHECK(*without.origin() == 0);
    CHECK(*make().origin() == 0);
    CHECK(*Error().origin() == 0);
    CHECK(one == without);
    CHECK(one == numbered);
    CHECK(one.asInjectedFault() != without);
    CHECK(detail::originLines(one) == "  raised at " + place + "\n");
    CHECK(detail::originLines(without).empty());
    static_assert(timed_out() == Error(1004)); // still constants
}

TEST_CASE("error: a sentence is kept by copies, in each thread, and does not change what the error equals") {
    Error plain = file_corrupt();
    CHECK(plain.what() == std::string("the file is corrupt"));
    Error said = caught(plain.withSentence("log: the header has 3 bytes"));
    CHECK(said.what() == std::string("log: the header has 3 bytes"));
    CHECK(said.name() == std::string("file_corrupt"));
    CHECK(said == plain);
    CHECK(plain.what() == std::string("the file is corrupt"));
    Error injected = said.asInjectedFault();
    CHECK(injected.what() == std::string(said.what()));
    CHECK(injected.withSentence("x").isInjectedFault());
    CHECK(plain.withSentence("log: the header has 3 bytes").what() == said.what()); // the same memory
    CHECK(said.withSentence("again").what() == std::string("again"));
    std::string there;
    std::thread([&] { there = said.what(); }).join();
    CHECK(there == "log: the header has 3 bytes");
    CHECK(plain.withSentence(std::string(600, 'x')).what() == std::string(500, 'x'));
    CHECK(*said.origin() == 0);
    CHECK_FALSE(Error::recordOrigins(true));
    Error both = io_error().withSentence("the disk is gone");
    CHECK(Error::recordOrigins(false));
    CHECK(std::string(both.origin()).starts_with("error_test.cpp:"));
    CHECK(both.withSentence("a second one").origin() == std::string(both.origin()));
    CHECK(both.what() == std::string("the disk is gone"));
}

TEST_CASE("error: an uncaught error says its sentence") {
    CHECK_DIES(
        [] {
            try {
                throw wrongOption("MessageOptions", "heartbeatIvl", "-1", "it must not be negative");
            } catch (...) {
                std::terminate();
            }
        }(),
        "uncaught error invalid_option_value (2006): MessageOptions: heartbeatIvl is -1; it must not be negative");
}

TEST_CASE("error: uncaught, also without a loop: name, text, and the line or how to get it") {
    test::Death plain = test::runInChild([] { std::thread([] { throw timed_out(); }).join(); });
    CHECK(plain.aborted());
    CHECK_MESSAGE(
        plain.says("flow: uncaught error timed_out (1004): the operation took too long\n"
                   "  (with MILLRACE_ERROR_ORIGINS=1 in the environment, this line says where it was made)\n"),
        plain.text);
    CHECK(!plain.says("terminate called"));
    int line = __LINE__ + 3;
    test::Death recorded = test::runInChild([] {
        Error::recordOrigins(true);
        std::thread([] { throw timed_out(); }).join();
    });
    std::string raised = "took too long\n  raised at error_test.cpp:" + std::to_string(line) + "\n";
    CHECK_MESSAGE(recorded.says(raised.c_str()), recorded.text);
    test::Death foreign =
        test::runInChild([] { std::thread([] { throw std::runtime_error("disk on fire"); }).join(); });
    CHECK(foreign.says("disk on fire"));
    CHECK(!foreign.says("flow: "));
}

TEST_CASE("error: a terminate handler of the program stays") {
    test::Death death = test::runInChild([] {
        std::set_terminate([] {
            std::fputs("the program's own\n", stderr);
            std::_Exit(3);
        });
        std::thread([] { throw timed_out(); }).join();
    });
    CHECK(death.status == 3);
    CHECK(death.text == "the program's own\n");
}

TEST_CASE("error: origins are on in checked builds, and one report says how to switch them on") {
    if (!std::getenv("MILLRACE_ERROR_ORIGINS"))
        CHECK(isOnAtStart == bool(FLOW_CHECKED));
    test::Death twice = test::runInChild([] {
        reportDroppedError(nullptr, timed_out());
        reportDroppedError(nullptr, io_error());
    });
    std::size_t first = twice.text.find("MILLRACE_ERROR_ORIGINS=1");
    CHECK_MESSAGE(first < twice.text.find("io_error"), twice.text);
    CHECK(twice.text.find("MILLRACE_ERROR_ORIGINS=1", first + 1) == std::string::npos);
}

TEST_CASE("error: of many sentences the first and the newest stay, and no error gets another one's") {
    constexpr int kAll = 100'000, kFirst = 4'000, kNewest = 4'096, kNumbers = 20'000;
    test::Death child = test::runInChild([] {
        std::vector<Error> all;
        auto is = [&](int i, std::string const& text) { return all[static_cast<std::size_t>(i)].what() == text; };
        for (int i = 0; i < kAll; ++i) {
            Error other = i == kAll / 2 ? file_not_found() : connection_refused();
            all.push_back(other.withSentence("connect to 10.0.0.1:" + std::to_string(i)));
        }
        int right = 0, plain = 0;
        for (int i = 0; i < kAll; ++i) {
            right += is(i, "connect to 10.0.0.1:" + std::to_string(i)) && (i < kFirst || i >= kAll - kNewest);
            plain += is(i, connection_refused().what()) && i >= kAll - kNumbers && i < kAll - kNewest;
        }
        bool isOther = is(kAll / 2, file_not_found().what()); // its number has been given to others, of another code
        bool isSame = all.back().what() == connection_refused().withSentence(all.back().what()).what();
        Error::recordOrigins(true);
        Error made = io_error(), said = made.withSentence("new");
        std::fprintf(stderr, "%d right, %d plain, %d, %d, %s, %s", right, plain, isOther, isSame, said.what(),
                     said.origin());
    });
    CHECK_MESSAGE(child.says("8096 right, 15904 plain, 1, 1, new, error_test.cpp:"), child.text);
}

TEST_CASE("error: a sentence with a reason of the system, also behind a long path") {
    Error denied = withPieces(file_not_readable(), {"open \"", "/data/log", "\": ", systemText(EACCES)});
    CHECK(denied.what() == std::string("open \"/data/log\": Permission denied"));
    CHECK(denied == file_not_readable());
    std::string path = "/begin/" + std::string(4000, 'x') + "/end";
    Error longer = withPieces(file_not_found(), {"open \"", path, "\": ", systemText(ENOENT)});
    CHECK(longer.what() == "open \"..." + path.substr(path.size() - 300) + "\": No such file or directory");
    CHECK(systemText(-1) == "Unknown error");
}

TEST_CASE("error: currentError of an Error is that Error") {
    Error kept = caught(std::runtime_error("earlier"));
    CHECK(kept.code() == error_code_unknown_error);
    CHECK(caught(file_not_found()) == file_not_found());
    CHECK(caught(Error(12345)).code() == 12345);
    CHECK(std::string(lastUnknownError()) == "earlier"); // untouched
    flow::test::Throws throws;
    CHECK(caught(timed_out()) == timed_out());
    CHECK(throws.count() == 1); // that of caught itself
    std::exception_ptr stored = std::make_exception_ptr(io_error());
    try {
        std::rethrow_exception(stored);
    } catch (...) {
        CHECK(currentError() == io_error());
    }
    struct Special : Error {};
    CHECK(caught(Special{operation_failed()}) == operation_failed());
}

TEST_CASE("error: currentError of anything else is unknown_error, and what() is kept") {
    CHECK(caught(std::runtime_error("disk on fire")).code() == error_code_unknown_error);
    CHECK(std::string(caught(std::runtime_error("disk on fire")).what()) == "std::runtime_error: disk on fire");
    CHECK(std::string(caught(42).what()) == "int: an exception of unknown type");
    CHECK(std::string(caught(std::bad_alloc()).what()) == unknown_error().what());
    (void)caught(std::runtime_error("disk on fire"));
    CHECK(std::string(lastUnknownError()) == "disk on fire");
    CHECK(caught(42).code() == error_code_unknown_error);
    CHECK(std::string(lastUnknownError()) == "an exception of unknown type");
    CHECK(caught(std::bad_alloc()).code() == error_code_unknown_error);
    CHECK(std::string(lastUnknownError()) == std::bad_alloc().what());
}

TEST_CASE("error: what() is cut after 255 bytes and never a format") {
    (void)caught(std::runtime_error(std::string(300, 'x')));
    CHECK(std::string(lastUnknownError()) == std::string(255, 'x'));
    (void)caught(std::runtime_error("100%s %n"));
    CHECK(std::string(lastUnknownError()) == "100%s %n");
}

TEST_CASE("error: each thread has its own last unknown error") {
    (void)caught(std::runtime_error("mine"));
    std::string other = "not run";
    std::thread([&] {
        other = lastUnknownError();
        (void)caught(std::runtime_error("theirs"));
    }).join();
    CHECK(other.empty());
    CHECK(std::string(lastUnknownError()) == "mine");
}

TEST_CASE("error: the dropped-error handler gets the actor and the error") {
    DroppedErrors dropped;
    reportDroppedError(reinterpret_cast<const void*>(&noteDropped), timed_out().asInjectedFault());
    CHECK(droppedCount == 1);
    CHECK(droppedError == timed_out().asInjectedFault());
    CHECK(droppedWhere.find("noteDropped") != std::string::npos);
    reportDroppedError(nullptr, Error(10007));
    CHECK(droppedCount == 2);
    CHECK(droppedError.code() == 10007);
}

TEST_CASE("error: actor_cancelled and broken_promise are dropped silently") {
    DroppedErrors dropped;
    reportDroppedError(nullptr, actor_cancelled());
    reportDroppedError(nullptr, broken_promise());
    reportDroppedError(nullptr, broken_promise().asInjectedFault());
    CHECK(droppedCount == 0);
}

TEST_CASE("error: setDroppedErrorHandler returns the one before; null restores the default") {
    DroppedErrorHandler original = setDroppedErrorHandler(noteDropped);
    CHECK(bool(original));
    CHECK(bool(setDroppedErrorHandler(nullptr) == noteDropped));
    test::Death child =
        test::runInChild([] { reportDroppedError(reinterpret_cast<const void*>(&noteDropped), file_not_found()); });
    CHECK(child.status == 0);
    CHECK(child.says("file_not_found (1511)"));
    CHECK(child.says("noteDropped"));
    CHECK(child.says(file_not_found().what()));
    CHECK(bool(setDroppedErrorHandler(original) == original));
}

TEST_CASE("error: an application's own errors have names") {
    CHECK(shop::queue_full().code() == shop::error_code_queue_full);
    CHECK(std::string(Error(11001).name()) == "queue_full");
    CHECK(std::string(shop::queue_full().what()) == "the queue is full");
    CHECK(std::string(Error(10002).name()) == "application_error");
    CHECK(flow::detail::nameError(11001, "queue_full", "the queue is full")); // as another shared object would
    CHECK_DIES(flow::detail::nameError(11001, "other", ""), "the errors queue_full and other have the same code 11001");
}

TEST_CASE("error: an error that is printed as unknown keeps the exception's own text") {
    DroppedErrorHandler original = setDroppedErrorHandler(nullptr);
    test::Death child =
        test::runInChild([] { reportDroppedError(nullptr, caught(std::runtime_error("disk on fire"))); });
    CHECK(child.says("unknown_error (4000) dropped by"));
    CHECK(child.says(": disk on fire"));
    (void)setDroppedErrorHandler(original);
    CHECK_DIES(
        [] {
            try {
                throw caught(std::runtime_error("disk on fire"));
            } catch (...) {
                std::terminate();
            }
        }(),
        "uncaught error unknown_error (4000): std::runtime_error: disk on fire");
}

TEST_CASE("error: a code from elsewhere that no error has is unknown_error") {
    CHECK(Error::fromUnvalidatedCode(error_code_timed_out) == timed_out());
    CHECK(Error::fromUnvalidatedCode(65534).code() == 65534);
    for (int code : {-1, 65535, 65536 + error_code_timed_out, -100000})
        CHECK(Error::fromUnvalidatedCode(code).code() == error_code_unknown_error);
}
