#pragma once
// TaskPriority: which ready task runs first. Higher runs first; first in, first out within one priority.
//
//     co_await delay(0, TaskPriority::Low);                       // let everything more urgent go first
//     co_await delay(0, static_cast<TaskPriority>(1234));         // any number from 0 to 65535
//
// Numbers outside that range count as the nearest end of it.

namespace flow {

enum class TaskPriority : int {
    Zero = 0,
    Min = 1000,
    Low = 2000,
    DefaultOnMainThread = 7500,
    Default = 7500,
    DefaultDelay = 7010,
    DefaultYield = 7000,
    ReadSocket = 9000,
    High = 20000,
    Max = 65535,
};

} // namespace flow
