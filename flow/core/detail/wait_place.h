#pragma once
// The place of a coroutine's wait, which reports show in every build.
//
//     notePlace(cell, where);                                          // at each co_await: two instructions
//
// The place is the lower half of the address of the data of `where`, in the four bytes of the cell's `error`: only a
// coroutine that ends has an error. The upper half of the address is the upper half of the address of the
// coroutine's code: the compiler puts both into one file of the program, less than 2 GiB apart.
//
// flow/inspect/code.cpp and tools/millrace/debugger/pending.py read it.

#include "flow/base/inline.h"
#include "flow/core/frame.h"

#include <bit>
#include <cstdint>
#include <new>
#include <source_location>

namespace flow::detail {

/// A type of its own: with uint32_t a compiler would expect that a store changes other numbers.
enum class WaitPlace : std::uint32_t {};

FLOW_INLINE void notePlace(Cell* cell, std::source_location where) {
    static_assert(sizeof(WaitPlace) == sizeof(Error) && sizeof where == sizeof(std::uintptr_t));
    ::new (static_cast<void*>(&cell->error)) WaitPlace(static_cast<WaitPlace>(std::bit_cast<std::uintptr_t>(where)));
}

/// Called before the error is stored: a compiler must not move the store of a place behind it.
FLOW_INLINE void endPlace() {
    asm volatile("" ::: "memory");
}

/// Returns the address of the data. If the cell holds no place, but an error, the address has no meaning.
inline std::uintptr_t addressOfPlace(Waiter const* frame) {
    auto code = reinterpret_cast<std::uintptr_t>(frame->resume);
    std::uint32_t low = std::bit_cast<std::uint32_t>(Cell::of(const_cast<Waiter*>(frame))->error);
    return code +
           static_cast<std::uintptr_t>(std::int64_t{static_cast<std::int32_t>(low - static_cast<std::uint32_t>(code))});
}

} // namespace flow::detail
