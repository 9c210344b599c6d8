#pragma once
// Actors and coroutines, which are called alike. Both keep copies of their parameters; an actor declares each as
// T const&, a coroutine takes them by value.

#include "flow/flow.h"

#include <functional>
#include <vector>

using Sensor = std::function<flow::Future<double>()>;

/// An actor, in station.actor.cpp: asks a sensor, and once more if it has not answered within a second.
flow::Future<double> readSensor(Sensor const& sensor);

/// A coroutine, in average.cpp: reads all sensors at the same time, by the actor above. Fails if none answers.
flow::Future<double> average(std::vector<Sensor> sensors);

/// An actor, in station.actor.cpp: sends the average, by the coroutine above, each `seconds`, until `stop`. Then it
/// ends the stream.
flow::Future<flow::Void> watch(std::vector<Sensor> const& sensors, double const& seconds,
                               flow::PromiseStream<double> const& averages, flow::Future<flow::Void> const& stop);

/// A coroutine, in average.cpp: the highest value of the stream, when it has ended.
flow::Future<double> highest(flow::FutureStream<double> values);
