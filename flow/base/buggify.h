#pragma once
// buggify() returns true at random, but only in simulation. Code then does something rare but allowed. knob() returns a
// constant, which may have another value in a simulated process.
//
//     if (buggify())
//         co_await delay(10);                        // what if this took long?
//     std::size_t batch = buggify() ? 1 : knob("batch", 1000);
//
// A site is a place in the source that calls buggify(). Each run arms a quarter of the sites, chosen by its seed. At an
// armed site buggify() is true in a quarter of the calls, and buggify(0.01) in one of a hundred. Outside of a
// simulation, buggify() returns false and knob() returns its second argument. This costs a load and a branch.

#include <source_location>
#include <string>

namespace flow {

/// The object that decides what buggify() and knob() return. In a simulation it is the World.
class BuggifySource {
public:
    static constexpr double kUsual = -1;

    /// Returns the result of a buggify() call at the site `file`, `line`. If the site is armed, the result is true with
    /// the given probability. kUsual stands for the usual probability of this source.
    virtual bool buggify(const char* file, unsigned line, double probability = kUsual) = 0;
    /// Returns the value of the knob `name` in the current process; null if the process has no such knob.
    virtual double const* findKnob(std::string const& name) const = 0;

protected:
    ~BuggifySource() = default;
};

namespace detail {
inline constinit thread_local BuggifySource* buggifySource = nullptr;
}

/// Makes `source` the source of this thread; null means none. Returns the previous one.
inline BuggifySource* setBuggifySource(BuggifySource* source) {
    BuggifySource* before = detail::buggifySource;
    detail::buggifySource = source;
    return before;
}

inline bool buggify(std::source_location where = std::source_location::current()) {
    BuggifySource* source = detail::buggifySource;
    return source && source->buggify(where.file_name(), where.line());
}

inline bool buggify(double probability, std::source_location where = std::source_location::current()) {
    BuggifySource* source = detail::buggifySource;
    return source && source->buggify(where.file_name(), where.line(), probability);
}

inline double knob(const char* name, double value) {
    if (BuggifySource* source = detail::buggifySource)
        if (double const* other = source->findKnob(name))
            return *other;
    return value;
}

} // namespace flow
