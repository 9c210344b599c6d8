#pragma once
// ErrorOr<T>: a value or an error, as a plain value.
//
//     ErrorOr<int> answer = co_await tryGet(future);
//     if (answer.present()) use(answer.get()); else log(answer.getError());

#include "flow/base/assert.h"
#include "flow/base/error.h"

#include <utility>
#include <variant>

namespace flow {

template <class T>
class ErrorOr {
public:
    using Element = T;

    ErrorOr(T value) : content_(std::in_place_index<0>, std::move(value)) {}
    ErrorOr(Error error) : content_(std::in_place_index<1>, error) {
        FLOW_ASSERT(error.isValid(), "an ErrorOr cannot be made from an Error that says success");
    }

    bool present() const { return content_.index() == 0; }
    bool isError() const { return !present(); }
    bool isError(int code) const { return isError() && getError().code() == code; }

    /// The value; throws the error if there is none.
    T const& get() const& {
        throwIfError();
        return std::get<0>(content_);
    }
    T get() && {
        throwIfError();
        return std::get<0>(std::move(content_));
    }
    template <class U>
    T orDefault(U&& otherwise) const {
        return present() ? std::get<0>(content_) : static_cast<T>(std::forward<U>(otherwise));
    }
    Error getError() const {
        FLOW_ASSERT(isError(), "ErrorOr::getError() on a value");
        return std::get<1>(content_);
    }

private:
    void throwIfError() const {
        if (isError())
            throw Error(std::get<1>(content_));
    }

    std::variant<T, Error> content_;
};

} // namespace flow
