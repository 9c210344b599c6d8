#pragma once
// FLOW_CODE_PROBE (with flow/test.h also CODE_PROBE): marks a place or a situation that tests should reach.
//
//     FLOW_CODE_PROBE(retries > 3, "a peer needed many attempts");
//
// CodeProbe::all() has all probes of the program, also those that were never hit. The first hit is a trace event,
// "CodeProbe". The test runner prints the probes that were missed, except those with a further argument `rare`:
// FLOW_CODE_PROBE(true, "disk full", probe::decoration::rare). Only the condition is evaluated.

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

namespace flow {

class CodeProbe {
public:
    CodeProbe(const char* file, int line, const char* condition, const char* comment, const char* marks) noexcept;
    CodeProbe(CodeProbe const&) = delete;

    void hit() {
        if (hits_.fetch_add(1, std::memory_order_relaxed) == 0) [[unlikely]]
            reportFirst();
    }

    const char* file() const { return file_; }
    int line() const { return line_; }
    const char* condition() const { return condition_; }
    const char* comment() const { return comment_; }
    bool isRare() const { return rare_; }
    std::uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }

    /// Returns all probes, sorted by file and line. A probe in a template or a header may occur more than once.
    static std::vector<CodeProbe const*> all();
    /// Returns the probes that are not rare and were not hit. Each place is listed once.
    static std::vector<CodeProbe const*> missed();

private:
    void reportFirst() const;

    const char* file_;
    int line_;
    bool rare_;
    const char* condition_;
    const char* comment_;
    std::atomic<std::uint64_t> hits_{0};
    CodeProbe* next_;
};

namespace trace {

/// Returns the path of `file` relative to the root of the sources, so that a probe has the same name in every checkout.
/// Consteval, because gcc 12 would warn of `file + root.size()` for every path that is shorter than the root.
consteval const char* fromRoot(const char* file) {
    std::string_view root = __FILE__;
    root.remove_suffix(sizeof("flow/trace/code_probe.h") - 1);
    return std::string_view(file).starts_with(root) ? file + root.size() : file;
}

/// The probe of one place: a static member of a template, which exists from the start even if the place is not reached.
template <class Place>
struct CodeProbeAt {
    static inline CodeProbe probe{Place::file(), Place::line(), Place::condition(), Place::comment(), Place::marks()};
};

} // namespace trace

} // namespace flow

#define FLOW_CODE_PROBE(condition_, comment_, ...)                                                                     \
    do {                                                                                                               \
        struct Place__ {                                                                                               \
            static constexpr const char* file() {                                                                      \
                return ::flow::trace::fromRoot(__FILE__);                                                              \
            }                                                                                                          \
            static constexpr int line() {                                                                              \
                return __LINE__;                                                                                       \
            }                                                                                                          \
            static constexpr const char* condition() {                                                                 \
                return #condition_;                                                                                    \
            }                                                                                                          \
            static constexpr const char* comment() {                                                                   \
                return comment_;                                                                                       \
            }                                                                                                          \
            static constexpr const char* marks() {                                                                     \
                return "" #__VA_ARGS__;                                                                                \
            }                                                                                                          \
        };                                                                                                             \
        if (condition_)                                                                                                \
            ::flow::trace::CodeProbeAt<Place__>::probe.hit();                                                          \
    } while (0)
