#pragma once
// The "flow/flow.h" of old programs: names of flow in the global namespace, and no others.
//
//     target_link_libraries(program PRIVATE millrace::compat)
//
//     #include "flow/flow.h"
//     #include "flow/actorcompiler.h" // This must be the last #include.
//     ACTOR Future<Void> tick() { wait(delay(1.0)); return Void(); }
//
// Each name is declared separately, so that no other name of flow conflicts with a name of the program. The other
// headers of this folder do the same. New code should include the root's flow/flow.h, and write `using namespace flow`.

#include "../../base/parse_number.h"
#include "../../flow.h"
#include "../formatters.h"
#include "ActorCollection.h"
#include "Arena.h"
#include "Buggify.h"
#include "CodeProbe.h"
#include "CoroUtils.h"
#include "Deque.h"
#include "Error.h"
#include "FastAlloc.h"
#include "FastRef.h"
#include "IRandom.h"
#include "Knobs.h"
#include "Platform.h"
#include "ThreadPrimitives.h"
#include "Trace.h"
#include "Util.h"
#include "genericactors.h"
#include "network.h"
#include "serialize.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

using flow::Callback;
using flow::Descriptor;
using flow::Future; // a conflict? Write #include "flow/forward.h" in place of the declaration.
using flow::FutureStream;
using flow::Never;
using flow::Promise;
using flow::PromiseStream;
using flow::SingleCallback;
using flow::StrictFuture;
using flow::Void; // a conflict? Write #include "flow/forward.h" in place of the declaration.

/// The type of a request's reply.
#define REPLY_TYPE(Request)                                                                                            \
    typename decltype(std::declval<flow::PromiseStream<Request>>().getReply(std::declval<Request>()))::Element

/// Returns a number with a unit (B, KB, KiB and so on up to TiB) in bytes: "4KiB" is 4096. Nothing for other text.
inline flow::Optional<std::uint64_t> parse_with_suffix(std::string const& text, std::string const& defaultUnit = "") {
    std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    auto number = flow::parseNumber<std::uint64_t>(text.substr(0, end));
    std::string unit = end < text.size() ? text.substr(end) : defaultUnit;
    if (!number)
        return {};
    if (unit == "B")
        return *number;
    std::string_view const letters = "KMGT";
    std::size_t power = unit.empty() ? std::string_view::npos : letters.find(unit.front());
    if (power == std::string_view::npos || (unit.substr(1) != "B" && unit.substr(1) != "iB"))
        return {};
    std::uint64_t factor = 1;
    for (std::size_t i = 0; i <= power; ++i)
        factor *= unit.size() == 3 ? 1024 : 1000;
    return *number * factor;
}

// Flow's header has network addresses too. This include is last, because that header uses the names above.
#if __has_include("flow/NetworkAddress.h")
#include "flow/NetworkAddress.h"
#endif

#include "../loop_keyword.h"
