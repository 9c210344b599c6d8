#pragma once
// How many descriptors the process has open, to find one that is not closed.

#include <filesystem>
#include <iterator>

namespace flow::test {

inline int openDescriptors() {
    using Iterator = std::filesystem::directory_iterator;
    return static_cast<int>(std::distance(Iterator("/proc/self/fd"), Iterator()));
}

} // namespace flow::test
