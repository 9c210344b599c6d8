#pragma once
// errorAt, errorOfCall: the texts of socket errors, in the real and the simulated network.
//
//     throw errorAt(errorOfCall(EADDRINUSE), "listen at", address);   // listen at 10.0.0.1:80: Address already in use

#include "flow/base/error.h"
#include "net/address.h"

namespace flow::net {

/// Returns the Error for the errno of a system call. It has no sentence.
Error errorOfSystem(int number);
/// Returns errorOfSystem(number) with the system's text as its sentence.
Error errorOfCall(int number);
/// Returns `error` with "CALL ADDRESS: " before its text.
Error errorAt(Error error, std::string_view call, Address const& at) noexcept;
/// Returns connection_timed_out: "connect to TO: no answer within 30 s".
Error connectTimedOut(std::string_view to, double seconds) noexcept;

} // namespace flow::net
