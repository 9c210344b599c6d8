#pragma once
// buggify(): places where the code itself does something rare but allowed, in simulation only; and knobs, the constants
// that may have another value in a simulated process.
//
//     if (buggify())
//         co_await delay(10);                        // what if this took long?
//     std::size_t batch = buggify() ? 1 : knob("batch", 1000);
//
// Each run arms a quarter of the sites of a program, by its seed. An armed one is true in a quarter of its visits.
// buggify(0.01) is true in one of a hundred visits of an armed one instead. Outside of a simulation buggify() is false
// and knob() its argument, after a load and a branch.

#include <source_location>
#include <string>

namespace flow {

/// The source of the decisions. The current one of a thread is a World.
class BuggifySource {
public:
    static constexpr double kUsual = -1;

    /// `probability` is that of an armed site; kUsual: the one that the source has for all sites.
    virtual bool buggify(const char* file, unsigned line, double probability = kUsual) = 0;
    /// Null if the current process has none of that name.
    virtual double const* findKnob(std::string const& name) const = 0;

protected:
    ~BuggifySource() = default;
};

namespace detail {
inline constinit thread_local BuggifySource* buggifySource = nullptr;
}

/// From here on `source` is that of this thread; null: none. Returns the one before.
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
