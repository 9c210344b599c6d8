#include "flow/file/detail/file_call.h"

#include "flow/base/detail/sentence.h"

#include <cerrno>

namespace flow {
namespace {

Error errorOf(int number, Error denied) {
    switch (number) {
    case ENOENT:
    case ENOTDIR:
        return file_not_found();
    case EACCES:
    case EPERM:
    case EROFS:
    case ETXTBSY:
        return denied;
    case EEXIST:
        return file_exists();
    case ENOTEMPTY:
        return directory_not_empty();
    case ENOSPC:
    case EDQUOT:
        return disk_full();
    case EFBIG:
    case EOVERFLOW:
        return file_too_large();
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return platform_error();
    default:
        return io_error();
    }
}

Error explained(FileCall const& call, Error error, std::string_view reason) {
    if (call.to.empty())
        return withPieces(error, {call.name, " \"", call.path, "\": ", reason});
    return withPieces(error, {call.name, " \"", call.path, "\" to \"", call.to, "\": ", reason});
}

} // namespace

Error FileCall::error(int number, Error denied) const noexcept {
    return explained(*this, errorOf(number, denied), systemText(number));
}

Error FileCall::notOpenForThis() const noexcept {
    return explained(*this, file_not_writable(), "the file was opened in another OpenMode");
}

} // namespace flow
