#pragma once
// FLOW_KNOBS, and the base class for a program's knobs, under the old header name.
//
//     struct ServerKnobs : KnobsImpl<ServerKnobs> {
//         int BATCH;
//         ServerKnobs(Randomize randomize, IsSimulated simulated) { initialize(randomize, simulated); }
//         void initialize(Randomize randomize, IsSimulated) {
//             initKnob(BATCH, 1000, "BATCH");
//             if (randomize && BUGGIFY)
//                 BATCH = 1;
//         }
//     };
//     ServerKnobs knobs(Randomize::True, IsSimulated(g_network->isSimulated()));
//     knobs.setKnob("batch", "50");                    // or "0x32"; the case of a name does not matter
//
// A simulated process may have another value for a knob of the same name: flow::knob() (flow/base/buggify.h).

#include "../../base/parse_number.h"
#include "../../flow.h"
#include "BooleanParam.h"
#include "Buggify.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

class Knobs {
public:
    /// Sets a knob. Returns false if there is no knob `name`. Throws invalid_option_value, and changes nothing, if
    /// `text` is no value of the knob's type.
    bool setKnob(std::string const& name, std::string const& text) {
        auto place = knobs_.find(lowerCase(name));
        if (place == knobs_.end())
            return false;
        std::visit([&](auto* knob) { *knob = parsed<std::remove_reference_t<decltype(*knob)>>(text); }, place->second);
        return true;
    }

protected:
    Knobs() = default;
    // Not copyable: it has pointers to its members.
    Knobs(Knobs const&) = delete;
    Knobs& operator=(Knobs const&) = delete;

    template <class T, class Value>
    void initKnob(T& knob, Value const& value, std::string const& name) {
        knob = static_cast<T>(value);
        if constexpr (std::is_arithmetic_v<T>)
            knob = static_cast<T>(flow::knob(name.c_str(), static_cast<double>(knob)));
        knobs_[lowerCase(name)] = &knob;
    }

private:
    using Place = std::variant<int*, std::int64_t*, double*, bool*, std::string*>;

    static std::string lowerCase(std::string_view name) {
        std::string lower;
        for (char c : name)
            lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        return lower;
    }
    template <class T>
    static T parsed(std::string const& text) {
        if constexpr (std::is_same_v<T, std::string>) {
            return text;
        } else if constexpr (std::is_same_v<T, bool>) {
            std::string lower = lowerCase(text);
            return lower == "true" || (lower != "false" && parsed<int>(text) != 0);
        } else {
            std::optional<T> number;
            if constexpr (std::is_integral_v<T>)
                number = text.starts_with("0x") ? flow::parseNumber<T>(text.substr(2), 16) : flow::parseNumber<T>(text);
            else
                number = flow::parseNumber<T>(text);
            if (!number)
                throw flow::invalid_option_value();
            return *number;
        }
    }

    std::map<std::string, Place> knobs_;
};

FLOW_BOOLEAN_PARAM(Randomize);
FLOW_BOOLEAN_PARAM(IsSimulated);

/// The base of a class of knobs with a function initialize().
template <class T>
class KnobsImpl : public Knobs {
public:
    /// Sets the knobs to the values of initialize(arguments).
    template <class... Args>
    void reset(Args&&... arguments) {
        static_cast<T*>(this)->initialize(std::forward<Args>(arguments)...);
    }
};

/// Constants of flow that programs read.
struct FlowKnobs {
    // The range of delayJittered(), relative to its argument.
    double DELAY_JITTER_OFFSET = flow::kJitterOffset;
    double DELAY_JITTER_RANGE = flow::kJitterRange;
    /// 0: Faults (flow/sim/faults.h) lengthen delays in a simulation instead.
    double MAX_BUGGIFIED_DELAY = 0;
};

inline constexpr FlowKnobs flowKnobs;
inline constexpr FlowKnobs const* FLOW_KNOBS = &flowKnobs;
