#pragma once
// withPieces, systemText: the sentences of errors of the system.
//
//     throw withPieces(file_not_found(), {"open \"", path, "\": ", systemText(ENOENT)});
//     // open "/data/log": No such file or directory

#include "flow/base/error.h"

#include <initializer_list>
#include <string_view>

namespace flow {

/// Returns `error` with the pieces as its sentence. Of a piece above 300 bytes the sentence has only the end, so that
/// what comes behind a long path is there. Needs no memory for that: without memory, the error has no sentence.
[[gnu::cold]] Error withPieces(Error error, std::initializer_list<std::string_view> pieces) noexcept;

/// Returns the system's text for an errno: "Permission denied".
std::string_view systemText(int number) noexcept;

} // namespace flow
