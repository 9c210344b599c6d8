#pragma once
// Everything of flow in one include.
//
//     #include "flow/flow.h"
//     using namespace flow;
//     #include "flow/actorcompiler.h"   // in .actor.cpp files, after all other includes

#include "flow/actor/runtime.h"
#include "flow/base/error.h"
#include "flow/base/non_copyable.h"
#include "flow/base/optional.h"
#include "flow/base/random.h"
#include "flow/core/error_or.h"
#include "flow/core/future.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/coro/race.h"
#include "flow/lib/all.h"
#include "flow/lib/collection.h"
#include "flow/lib/descriptor.h"
#include "flow/lib/time.h"
#include "flow/lib/unit_test.h"
#include "flow/loop/delay.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/arena.h"
#include "flow/memory/fast_allocator.h"
#include "flow/memory/reference.h"
#include "flow/memory/standalone.h"
#include "flow/memory/string_ref.h"
#include "flow/memory/vector_ref.h"
#include "flow/sim/sim_loop.h"
