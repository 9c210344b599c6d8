#pragma once
// ScopeExit under the old header name: calls a function at the end of its scope.
//
//     ScopeExit closed([&] { close(file); });

#include "../../base/non_copyable.h"

#include <utility>

template <class F>
class ScopeExit : flow::NonCopyable {
public:
    explicit ScopeExit(F function) : function_(std::move(function)) {}
    ~ScopeExit() { function_(); }

private:
    F function_;
};
