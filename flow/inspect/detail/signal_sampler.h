#pragma once
// SignalSampler: samples the stacks of this program by a signal, for systems without permission for perf.
//
//     SignalSampler sampler("samples");         // until the program ends
//
// After about each millisecond of processor time (or a longer tick of the kernel), SIGPROF interrupts a running thread.
// The handler follows the frame pointers, and writes the return addresses on the thread's stack to a mapped file. The
// file is complete however the program ends. millrace profile also reads `samples.maps`, a copy of /proc/self/maps. For
// x86-64 and arm64.
//
// These samples follow frame pointers only. Code without them, such as libc, hides the function that has called it, and
// the rest of the stack may be missing. sampleStack() also asks the unwinder, so it finds the caller of a library.
//
// The file is a row of 64-bit words: for each sample the number of addresses, then the addresses, the innermost first.
// A 0 ends it. At most 64 addresses per sample and 4 million words are kept.

#include <string>
#include <vector>

namespace flow {

class SignalSampler {
public:
    /// Starts the sampling. Throws operation_failed if a SignalSampler exists. Throws io_error if the file cannot be
    /// made, or on another kind of processor.
    explicit SignalSampler(std::string const& path);
    SignalSampler(SignalSampler const&) = delete;
    SignalSampler& operator=(SignalSampler const&) = delete;
    /// Stops the sampling. The file stays.
    ~SignalSampler();
};

/// Takes one sample: returns the return addresses on the stack of the thread with this id, the innermost first; empty
/// if the thread does not answer its SIGPROF within 0.2 s. The first address is one byte after the start of the
/// instruction that the thread runs. Like any signal, this interrupts a system call. Any other thread may call this.
std::vector<void*> sampleStack(int thread);

} // namespace flow
