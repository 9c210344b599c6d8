#include "flow/inspect/detail/profile_request.h"

#include "flow/inspect/detail/signal_sampler.h"
#include "flow/inspect/detail/step_profile.h"
#include "flow/trace/recorder.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

namespace flow {
namespace {

/// Returns FOLDER/PID; empty if there is no request.
std::string const& wanted() {
    static std::string const path = [] {
        char const* folder = std::getenv("MILLRACE_PROFILE");
        // nondeterminism: the name of a file.
        return folder && *folder ? std::string(folder) + "/" + std::to_string(::getpid()) : std::string();
    }();
    return path;
}

bool isSet(char const* variable) {
    char const* value = std::getenv(variable);
    return value && std::strcmp(value, "1") == 0;
}

/// A profile that is written when its loop ends.
struct Written : LoopOwned {
    explicit Written(Loop& loop) : profile(loop, isSet("MILLRACE_PROFILE_ALLOCATIONS")) {
        end = [](LoopOwned* owned) {
            auto* self = static_cast<Written*>(owned);
            // nondeterminism: no simulated loop has a Written.
            static std::atomic<int> count{0};
            try {
                trace::writeFile(wanted() + "-" + std::to_string(count.fetch_add(1)) + ".json", self->profile.json());
            } catch (Error const& error) {
                std::fprintf(stderr, "flow: the profile cannot be written: %s\n", error.what());
            }
            delete self;
        };
    }
    StepProfile profile;
};

} // namespace

void sampleIfAsked() {
    if (wanted().empty() || !isSet("MILLRACE_PROFILE_SAMPLES"))
        return;
    try {
        static SignalSampler sampler(wanted() + ".samples");
    } catch (Error const& error) {
        std::fprintf(stderr, "flow: the program cannot be sampled: %s\n", error.what());
    }
}

void detail::profileIfAsked(RealLoop& loop) {
    if (!wanted().empty())
        loop.add(*new Written(loop));
}

} // namespace flow
