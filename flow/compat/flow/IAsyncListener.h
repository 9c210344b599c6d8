#pragma once
// IAsyncListener under the old header name: a variable that is computed from another one, and can be watched.
//
//     Reference<AsyncVar<int>> celsius = makeReference<AsyncVar<int>>(20);
//     auto kelvin = IAsyncListener<int>::create(celsius, [](int degrees) { return degrees + 273; });
//     kelvin->get();                                           // 293
//     wait(kelvin->onChange());
//
// A listener holds its source, and changes with the source, unless the function returns an equal value.

#include "../../flow.h"

#include <utility>

template <class Output>
class IAsyncListener : public flow::ReferenceCounted<IAsyncListener<Output>> {
public:
    virtual ~IAsyncListener() = default;
    virtual Output const& get() const = 0;
    virtual flow::Future<flow::Void> onChange() const = 0;

    template <class Source, class F>
    static flow::Reference<IAsyncListener> create(flow::Reference<Source> input, F function);
    template <class Source>
    static flow::Reference<IAsyncListener> create(flow::Reference<Source> input) {
        return create(std::move(input), [](auto const& value) { return value; });
    }
};

namespace flow::compat {

template <class Source, class Output, class F>
class Listener final : public IAsyncListener<Output> {
public:
    Listener(Reference<Source> input, F function)
        : output_(function(input->get())), monitor_(follow(std::move(input), std::move(function), &output_)) {}
    Output const& get() const override { return output_.get(); }
    Future<Void> onChange() const override { return output_.onChange(); }

private:
    static Future<Void> follow(Reference<Source> input, F function, AsyncVar<Output>* output, Propagate = {}) {
        while (true) {
            co_await input->onChange();
            output->set(function(input->get()));
        }
    }

    AsyncVar<Output> output_;
    Future<Void> monitor_;
};

} // namespace flow::compat

template <class Output>
template <class Source, class F>
flow::Reference<IAsyncListener<Output>> IAsyncListener<Output>::create(flow::Reference<Source> input, F function) {
    using Made = flow::compat::Listener<Source, Output, F>;
    return flow::Reference<IAsyncListener>(new Made(std::move(input), std::move(function)));
}

#include "flow.h" // as in Flow; must be last, because it includes this file
