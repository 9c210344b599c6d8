#pragma once
// withPieces(), systemText(): sentences for errors of system calls.
//
//     throw withPieces(file_not_found(), {"open \"", path, "\": ", systemText(ENOENT)});
//     // open "/data/log": No such file or directory

#include "flow/base/error.h"

#include <initializer_list>
#include <string_view>

namespace flow {

/// Returns `error` with the joined pieces as its sentence. Only the last 300 bytes of a longer piece are kept, so that
/// the text behind a long path fits too. Without memory, the error has no new sentence.
[[gnu::cold]] Error withPieces(Error error, std::initializer_list<std::string_view> pieces) noexcept;

/// Returns the system's text for an errno: "Permission denied".
std::string_view systemText(int number) noexcept;

} // namespace flow
