#include "flow/trace/sampler.h"

namespace flow::trace {

Sampler Sampler::ratio(double part) {
    if (!(part >= 0 && part <= 1))
        throw wrongOption("Sampler", "ratio", format("%g", part), "it must be from 0 to 1");
    return {static_cast<std::uint64_t>(part * 0x1p63), false};
}

} // namespace flow::trace
