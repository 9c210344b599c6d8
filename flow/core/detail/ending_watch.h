#pragma once
// EndingWatch: an object that is called for each computation of this thread that ends with an error or is cancelled.
//
//     struct Print final : EndingWatch {
//         void failed(void const* code, Error error) noexcept override { std::printf("%s\n", error.name()); }
//         void cancelled(void const*) noexcept override {}
//     } print;
//     addEndingWatch(print);                  // until removeEndingWatch(print)
//
// `code` is an address for actorNameAt() (flow/diag/detail/symbol.h). An error that passes ten actors causes ten calls.
// A computation that is cancelled while it runs is reported at once, although it runs on to its next wait. failed() and
// cancelled() must neither make nor end a computation. Without a watch, an error or a cancel costs one more branch.

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

/// Adds a watch for the computations of this thread. There may be several watches, which may be removed in any order.
void addEndingWatch(EndingWatch& watch) noexcept;
void removeEndingWatch(EndingWatch& watch) noexcept;

} // namespace flow
