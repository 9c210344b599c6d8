#pragma once
// EndingWatch: is called for each computation of this thread that ends with an error or is cancelled.
//
//     struct Print final : EndingWatch {
//         void failed(void const* code, Error error) noexcept override { std::printf("%s\n", error.name()); }
//         void cancelled(void const*) noexcept override {}
//     } print;
//     addEndingWatch(print);                  // until removeEndingWatch(print)
//
// `code` is an address for actorNameAt() (flow/diag/symbol.h). An error that passes through ten actors is ten calls. A
// computation that is cancelled while it runs is reported then, and goes on to its next wait. The functions must
// neither make nor end any computation. While there is no watch, an error or a cancel costs one load and one branch
// more.

#include "flow/base/error.h"

namespace flow {

class EndingWatch {
public:
    virtual void failed(void const* code, Error error) noexcept = 0;
    virtual void cancelled(void const* code) noexcept = 0;

protected:
    ~EndingWatch() = default;

private:
    friend class EndingWatches;
    EndingWatch* next_ = nullptr;
};

/// From here on `watch` is called for the computations of this thread. Any number of watches may be added.
void addEndingWatch(EndingWatch& watch) noexcept;
/// Watches may be removed in any order.
void removeEndingWatch(EndingWatch& watch) noexcept;

} // namespace flow
