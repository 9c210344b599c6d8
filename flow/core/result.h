#pragma once
// Result<T>, takeValue() and takeLocal(): three ways to take the value out of a completed future.
//
//     Result<Page> page(cell);            // holds the future's reference; page.get() is valid as long as `page` is
//     Page mine = takeValue<Page>(cell);  // moved out if no other future refers to it
//     auto page = takeLocal<Page>(cell);  // one of the two above: the cheaper one for this type
//
// Each of the three takes one future reference of a cell that is ready.

#include "flow/core/cell.h"
#include "flow/core/detail/copied.h"

#include <utility>

namespace flow::detail {

/// True if a copy of a T costs no more than a reference, and the program cannot tell the difference.
template <class T>
inline constexpr bool kFreeToCopy =
    std::is_trivially_copy_constructible_v<T> && std::is_trivially_destructible_v<T> && sizeof(T) <= 2 * sizeof(void*);

/// Keeps the value inside a completed future alive. The local that receives the result of a wait refers to this value.
template <class T>
class Result {
public:
    explicit Result(Cell* cell) : cell_(cell) {}
    Result(Result&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
    FLOW_INLINE ~Result() {
        if (cell_)
            releaseFuture<T>(cell_);
    }
    T const& get() const { return valueOf<T>(cell_); }
    /// True if nothing else refers to the value, so that the value is destroyed with this Result.
    bool isOnly() const { return cell_->futures == 1 && cell_->promises == 0; }

private:
    Cell* cell_;
};

template <>
class Result<Void> {
public:
    explicit Result(Cell* cell) {
        if (cell) // a delay has no cell
            releaseFuture<Void>(cell);
    }
    Void const& get() const {
        static constexpr Void value;
        return value;
    }
    bool isOnly() const { return false; }
};

/// A value that was taken out of a future. It has get(), as Result has.
template <class T>
class Own {
public:
    explicit Own(T&& value) : value_(std::move(value)) {}
    T& get() { return value_; }

private:
    T value_;
};

inline Error takeError(Cell* cell) {
    Error error = readError(cell);
    releaseFuture(cell);
    return error;
}

/// Returns the value: moved if no other future has it or T cannot be copied, else copied. `cell` may be null for Void.
template <class T>
T takeValue(Cell* cell) {
    Result<T> result(cell);
    if constexpr (std::is_same_v<T, Void>)
        return Void();
    else if constexpr (!kCopied<T>)
        return std::move(valueOf<T>(cell));
    else if constexpr (kFreeToCopy<T>)
        return result.get();
    else if (cell->futures == 1 && cell->promises == 0)
        return std::move(valueOf<T>(cell));
    else
        return result.get();
}

/// Returns the value in the cheapest way. The value is taken out if a copy is free, or if T can only be moved (other
/// futures then lose the value). Otherwise the returned Result refers to the value in the cell, and its get() is const.
template <class T>
auto takeLocal(Cell* cell) {
    if constexpr (kFreeToCopy<T> || !kCopied<T>)
        return Own<T>(takeValue<T>(cell));
    else
        return Result<T>(cell);
}

} // namespace flow::detail
