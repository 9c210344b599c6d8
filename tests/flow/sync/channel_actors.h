#pragma once
// Actors that use channels and tasks, for channel_actors_test.cpp.

#include "flow/sync/channel.h"
#include "flow/tasks/task.h"

#include <string>

namespace flow::test {

/// The numbers from 0 on.
flow::Future<flow::Void> sends(flow::Channel<int>* const& channel, int const& count, bool const& closes);
/// The sum of all, until the channel is closed.
flow::Future<int> receives(flow::Channel<int>* const& channel);
/// Three times whatever comes first: "a0" or "b0", or a dot after so many seconds.
flow::Future<std::string> chooses(flow::Channel<int>* const& first, flow::Channel<int>* const& second,
                                  double const& seconds);
flow::Future<int> waitsForATask(int const& n);

flow::Task<int> doubleLater(flow::Context, int n);

} // namespace flow::test
