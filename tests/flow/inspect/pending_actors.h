#pragma once
#include "flow/compat/flow_lock.h"
#include "flow/core/future.h"

#include <stdexcept>

using namespace flow;
Future<int> pendingAnswer(Future<int> const& question);
Future<Void> pendingAsk(Future<int> const& question);
/// Takes one lock, and after a second the other.
Future<Void> pendingHold(FlowLock* const& first, FlowLock* const& second);
/// For error_place_test.cpp: fails with timed_out, or with an error of its own.
Future<Void> pendingTimesOut();
Future<Void> pendingThrows();
Future<Void> pendingThrowsException();
inline void throwException() {
    throw std::runtime_error("disk on fire");
}
