#pragma once
// describeError(): returns the text that a failed test or benchmark prints for its error. If the place that raised the
// error is known, the text names the place.

#include "flow/base/error.h"
#include "flow/base/format.h"

#include <cstring>
#include <string>

namespace flow::testing {

inline std::string describeError(Error error) {
    std::string text = format("%s (%d): %s", error.name(), error.code(), error.what());
    if (error.code() == error_code_unknown_error && std::strcmp(error.what(), unknown_error().what()) == 0)
        text += format(": %s", lastUnknownError());
    if (std::string origin = error.origin(); !origin.empty())
        text += "\nraised at " + origin;
    return text;
}

} // namespace flow::testing
