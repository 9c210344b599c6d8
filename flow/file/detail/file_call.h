#pragma once
// FileCall: the errors of a call of AsyncFile or FileSystem, on a real and on a simulated disk.
//
//     throw FileCall{"open", path}.error(EACCES, file_not_readable());    // open "/data/log": Permission denied

#include "flow/base/error.h"

#include <string_view>

namespace flow {

struct FileCall {
    std::string_view name;
    std::string_view path;
    std::string_view to = {}; // the other path of a rename

    /// Converts an errno to an error of flow/file/async_file.h, with a sentence that names the call, the path and the
    /// reason. If the system denied the call, the error is `denied`.
    Error error(int number, Error denied = file_not_writable()) const noexcept;
    /// Returns file_not_writable: the OpenMode of the file does not allow the call.
    Error notOpenForThis() const noexcept;
};

} // namespace flow
