#pragma once
// A value that writes down what happens to it.
//
//     Log log;
//     { Tracer a(log, "a"); Tracer b(a); }
//     CHECK(log == Log{"make a", "copy a", "destroy a", "destroy a"});
//
// A moved-from Tracer is named "moved".

#include <string>
#include <utility>
#include <vector>

namespace flow::test {

using Log = std::vector<std::string>;

class Tracer {
public:
    Tracer(Log& log, std::string name) : log_(&log), name_(std::move(name)) { note("make"); }
    Tracer(Tracer const& other) : log_(other.log_), name_(other.name_) { note("copy"); }
    Tracer(Tracer&& other) noexcept : log_(other.log_), name_(std::exchange(other.name_, "moved")) { note("move"); }
    Tracer& operator=(Tracer const& other) {
        name_ = other.name_;
        note("copy-assign");
        return *this;
    }
    Tracer& operator=(Tracer&& other) noexcept {
        name_ = std::exchange(other.name_, "moved");
        note("move-assign");
        return *this;
    }
    ~Tracer() { note("destroy"); }

    std::string const& name() const { return name_; }

private:
    void note(const char* what) { log_->push_back(what + (" " + name_)); }

    Log* log_;
    std::string name_;
};

/// Counts how many of it exist, and how many were ever destroyed.
struct Counted {
    static inline int live = 0;
    static inline int destroyed = 0;
    int value = 0;

    explicit Counted(int v = 0) : value(v) { ++live; }
    Counted(Counted const& other) : value(other.value) { ++live; }
    Counted& operator=(Counted const&) = default;
    ~Counted() {
        --live;
        ++destroyed;
    }
};

} // namespace flow::test
