#include "weather.h"

#include <algorithm>
#include <limits>

using namespace flow;

Future<double> average(std::vector<Sensor> sensors) {
    std::vector<Future<double>> readings; // all begin here
    for (Sensor const& sensor : sensors)
        readings.push_back(readSensor(sensor));
    double sum = 0;
    int count = 0;
    for (Future<double>& reading : readings) {
        ErrorOr<double> value = co_await tryGet(reading);
        if (value.isError())
            continue; // a broken sensor does not count
        sum += value.get();
        ++count;
    }
    if (count == 0)
        throw operation_failed();
    co_return sum / count;
}

Future<double> highest(FutureStream<double> values) {
    double result = -std::numeric_limits<double>::infinity();
    try {
        while (true) {
            double value = co_await values;
            result = std::max(result, value);
        }
    } catch (Error& e) {
        if (e.code() != error_code_end_of_stream)
            throw;
    }
    co_return result;
}
