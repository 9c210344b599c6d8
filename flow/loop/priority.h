#pragma once
// TaskPriority: the order of ready steps. The highest number runs first; within one priority, first in, first out.
//
//     co_await delay(0, TaskPriority::Low);                       // lets more urgent steps run first
//     co_await delay(0, static_cast<TaskPriority>(1234));         // any number from 0 to 65535
//
// A number below 0 counts as 0, and a number above 65535 as 65535.

namespace flow {

enum class TaskPriority : int {
    Zero = 0,
    Min = 1000,
    Low = 2000,
    UnknownEndpoint = 4000,
    DefaultEndpoint = 5000,
    DiskRead = 5010,
    DefaultYield = 7000,
    DefaultDelay = 7010,
    DefaultOnMainThread = 7500,
    Default = 7500,
    DefaultPromiseEndpoint = 8000,
    Worker = 8660,
    FailureMonitor = 8700,
    Coordination = 8800,
    Handshake = 8900,
    AcceptSocket = 8950,
    ReadSocket = 9000,
    LoadBalancedEndpoint = 9000,
    DiskIOComplete = 9150,
    PollEIO = 9900,
    WriteSocket = 10000,
    FlushTrace = 10500,
    High = 20000,
    RunCycleFunction = 20000,
    ASIOReactor = 20001,
    RunLoop = 30000,
    Max = 65535,
};

} // namespace flow
