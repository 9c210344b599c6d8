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
//
// sampleStack() takes one sample of one thread.

#include <string>
#include <vector>

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

/// Returns the return addresses on the stack of the thread with this system's number, the innermost first; empty if the
/// thread does not answer its SIGPROF within 0.2 s. The first "return address" is one byte behind the instruction that
/// the thread runs. Like any signal, this interrupts a call of the system. Any thread may call this, for another one.
std::vector<void*> sampleStack(int thread);

} // namespace flow
