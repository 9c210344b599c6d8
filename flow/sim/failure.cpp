#include "flow/sim/failure.h"

#include <cctype>

namespace flow {

SimulationFailure SimulationFailure::of(std::string text) {
    std::string signature;
    for (char c : text.substr(0, text.find('\n')))
        if (!std::isdigit(static_cast<unsigned char>(c)))
            signature += c;
        else if (signature.empty() || signature.back() != '#')
            signature += '#';
    return {std::move(signature), std::move(text)};
}

} // namespace flow
