#include "flow/trace/detail/bursts.h"

#include "flow/base/to_text.h"
#include "flow/loop/real_loop.h"
#include "flow/trace/detail/date.h"
#include "flow/trace/detail/json.h"
#include "flow/trace/detail/open_file.h"

#include <utility>

namespace flow::trace {

// nondeterminism: code of a simulation has a loop.
std::optional<std::int64_t> Suppression::admit(double seconds, int most) {
    double now = hasLoop() ? Loop::current().now() : realLoopTime();
    // A time before the last event is the time of another loop, which has not had this event.
    if (written_ == 0 || now >= until_ || now < until_ - seconds) {
        until_ = now + seconds;
        written_ = 0;
        isSimulated_ = hasLoop() && Loop::current().isSimulated();
    } else if (written_ >= most) {
        ++leftOut_;
        return {};
    }
    ++written_;
    return std::exchange(leftOut_, 0);
}

std::optional<std::int64_t> Bursts::admit(std::string_view type, int most) {
    {
        std::lock_guard lock(mutex_);
        auto place = types_.find(type);
        if (place == types_.end())
            place = types_.try_emplace(std::string(type)).first;
        std::optional<std::int64_t> admitted = place->second.admit(1, most);
        if (admitted || !isCounted_ || place->second.leftOut_ > 1)
            return admitted;
    }
    OpenFiles::all().flushSoon(); // without the lock, which its thread takes too
    return {};
}

// nondeterminism: asks only for the end of seconds of real loops.
bool Bursts::takeCounts(bool atEnd, std::function<void(std::string_view line)> const& write) {
    std::lock_guard lock(mutex_);
    double now = realLoopTime();
    bool isOneLeft = false;
    for (auto& [type, each] : types_) {
        if (each.leftOut_ == 0)
            continue;
        if (!atEnd && (each.isSimulated_ || now < each.until_)) {
            isOneLeft |= !each.isSimulated_;
            continue;
        }
        std::string line = R"({"DateTime":")";
        appendDate(line, currentDate());
        line += R"(","Area":"flow/trace","Severity":30,"Type":"TraceEventsSuppressed","SuppressedType":)";
        appendJsonString(line, type);
        line += R"(,"SuppressedEventCount":)" + toText(each.leftOut_) + '}';
        write(line);
        each.leftOut_ = 0;
    }
    return isOneLeft;
}

void Bursts::forget() noexcept {
    for (auto& [type, each] : types_)
        each.leftOut_ = 0;
}

} // namespace flow::trace
