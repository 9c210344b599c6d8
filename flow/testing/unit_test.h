#pragma once
// FLOW_TEST_CASE (TEST_CASE with flow/test.h): registers a test under a path. The test may wait.
//
//     #include "flow/test.h"
//
//     TEST_CASE("/queue/keeps its order") {       // in an .actor.cpp: the body of an actor, which may use `wait`
//         wait(delay(1));
//         ASSERT_EQ(now(), 1);
//         return Void();
//     }
//     TEST_CASE("/queue/is empty") {              // in any other file: a plain function, or a coroutine
//         co_await delay(1);
//         ASSERT(queue.isEmpty());
//     }
//
// The body returns Future<Void> and has one parameter, `UnitTestParameters params`. The test fails if the future has an
// error, or if the body throws. To run the tests, link the program with millrace::test_main
// (flow/testing/detail/runner.h). Each test has its own loop, on virtual time, and a seed that depends only on the
// run's seed and the test's path. Two tests must not be on the same line.

#include "flow/base/optional.h"
#include "flow/core/future.h"

#include <atomic>
#include <map>
#include <string>

namespace flow {

/// The parameters of tests on the command line: `--param size=100`.
class UnitTestParameters {
public:
    void set(std::string const& name, std::string const& value) { values_[name] = value; }
    void set(std::string const& name, std::int64_t value) { set(name, std::to_string(value)); }
    void set(std::string const& name, int value) { set(name, std::int64_t{value}); }
    void set(std::string const& name, double value);
    void set(std::string const& name, char const* value) { set(name, std::string(value)); }

    /// Returns the value of the parameter; nothing if it was not given.
    Optional<std::string> get(std::string const& name) const;
    /// Returns the value as a number; nothing if it was not given. Throws invalid_option_value if it is no number.
    Optional<std::int64_t> getInt(std::string const& name) const;
    Optional<double> getDouble(std::string const& name) const;

    /// Returns the directory for files of tests: `--data-dir`, which must exist, or the current directory.
    std::string const& getDataDir() const { return dataDir_; }
    void setDataDir(std::string path) { dataDir_ = std::move(path); }

private:
    std::map<std::string, std::string> values_;
    std::string dataDir_ = ".";
};

/// A registered test: a static object in any translation unit. Only the macros make it.
class UnitTest {
public:
    using Function = Future<Void> (*)(UnitTestParameters const&);

    UnitTest(char const* name, char const* file, int line, Function func) noexcept;
    UnitTest(UnitTest const&) = delete;

    char const* const name;
    char const* const file;
    int const line;
    Function const func;
    UnitTest* const next;
};

/// The list of all tests, latest first: `for (UnitTest* test = g_unittests.tests; test; test = test->next)`.
struct UnitTestCollection {
    UnitTest* tests;
};
extern UnitTestCollection g_unittests;

class Loop;

/// A test sets noUnseed to true if two runs with the same seed may differ. Then `--twice` does not compare the runs.
inline thread_local bool noUnseed = false;
/// The loop of the running test; null outside of tests. Code that other threads call may use it.
inline std::atomic<Loop*> loopOfTest = nullptr;

namespace testing {
/// Calls a test. Tests take their parameters by value or by reference; this function has one signature for both.
template <auto function>
Future<Void> runTestCase(UnitTestParameters const& parameters) {
    return function(parameters);
}
} // namespace testing

} // namespace flow

/// Registers a function from UnitTestParameters to Future<Void>. The parameters outlive the test.
#define FLOW_ACTOR_TEST_CASE(function, name)                                                                           \
    static ::flow::UnitTest flowUnitTest__##function(name, __FILE__, __LINE__, ::flow::testing::runTestCase<&function>);

#define FLOW_TEST_CASE(name) FLOW_TEST_CASE_EXPAND_(name, __LINE__)
#define FLOW_TEST_CASE_EXPAND_(name, line) FLOW_TEST_CASE_AT_(name, line)
#define FLOW_TEST_CASE_AT_(name, line) FLOW_TEST_CASE_NAMED_(name, flowTestCase##line)
#define FLOW_TEST_CASE_NAMED_(name, function)                                                                          \
    static ::flow::Future<::flow::Void> function(::flow::UnitTestParameters);                                          \
    FLOW_ACTOR_TEST_CASE(function, name)                                                                               \
    static ::flow::Future<::flow::Void> function([[maybe_unused]] ::flow::UnitTestParameters params)
