#pragma once
// handlesForeignException(): tells an exception that is no Error from one that is. Called in a catch block.

namespace flow::detail {

/// True if the exception that is handled is neither an Error nor of a class derived from Error.
bool handlesForeignException() noexcept;

} // namespace flow::detail
