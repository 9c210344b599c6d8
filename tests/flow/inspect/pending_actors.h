#pragma once
#include "flow/compat/flow_lock.h"
#include "flow/core/future.h"
using namespace flow;
Future<int> pendingAnswer(Future<int> const& question);
Future<Void> pendingAsk(Future<int> const& question);
/// Takes one lock, and after a second the other.
Future<Void> pendingHold(FlowLock* const& first, FlowLock* const& second);
