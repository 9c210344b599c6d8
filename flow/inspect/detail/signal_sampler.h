#pragma once
// SignalSampler: samples the stacks of this program by a signal, for systems that do not permit perf.
//
//     SignalSampler sampler("samples");         // until the program ends
//
// Every few milliseconds of processor time, SIGPROF interrupts a running thread. The handler follows the frame
// pointers, and writes the return addresses on the thread's stack to the file. The file is mapped, so it is complete
// however the program ends. tools/profile also reads `samples.maps`, a copy of /proc/self/maps. For x86-64 and arm64.
//
// The file is a row of 64-bit words: for each sample the number of addresses, then the addresses, the innermost first.
// It ends with a 0. At most 64 addresses a sample and 4 million words are kept.

#include <string>

namespace flow {

class SignalSampler {
public:
    /// Starts the sampling. Throws operation_failed if the program has a SignalSampler already. Throws io_error if the
    /// file cannot be made, or on another kind of processor.
    explicit SignalSampler(std::string const& path);
    SignalSampler(SignalSampler const&) = delete;
    SignalSampler& operator=(SignalSampler const&) = delete;
    /// Stops the sampling. The file stays.
    ~SignalSampler();
};

} // namespace flow
