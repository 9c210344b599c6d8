#pragma once
// FLOW_FITS_FRAME: refuses types of variables that no frame can hold. actorc writes it behind the declaration of each
// parameter and state, except where the type is known to fit. Programs do not use it.
//
//     Wide samples; FLOW_FITS_FRAME(decltype(samples));
//
// A frame is aligned to 16 bytes, so its variables cannot be aligned to more. A reference is kept as a pointer.

#include <type_traits>

namespace flow {

template <class... Kept>
concept FitsFrame = ((alignof(std::conditional_t<std::is_reference_v<Kept>, void*, Kept>) <= 16) && ...);

} // namespace flow

// From here on gcc shows an error where the macro is used, and not where it is defined.
#pragma GCC system_header

#define FLOW_FITS_FRAME(...)                                                                                           \
    static_assert(::flow::FitsFrame<__VA_ARGS__>, "parameters and state are aligned to 16 bytes at most")
