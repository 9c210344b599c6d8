#pragma once
// The errors that Millrace itself raises: name, code, description. Codes are those that users of actors know from
// FoundationDB Flow, so that logs and wire formats stay comparable. Applications number their own from 10000.
//
//     #define FLOW_ERROR(name, code, description) ...
//     FLOW_ERROR_TABLE(FLOW_ERROR)

#define FLOW_ERROR_TABLE(FLOW_ERROR)                                                                                   \
    FLOW_ERROR(success, 0, "no error")                                                                                 \
    FLOW_ERROR(end_of_stream, 1, "the stream has ended")                                                               \
    FLOW_ERROR(operation_failed, 1000, "the operation failed")                                                         \
    FLOW_ERROR(timed_out, 1004, "the operation took too long")                                                         \
    FLOW_ERROR(broken_promise, 1100, "the last promise was dropped before it was set")                                 \
    FLOW_ERROR(actor_cancelled, 1101, "the actor was cancelled")                                                       \
    FLOW_ERROR(loop_drained, 1190, "the loop has nothing left to run and the awaited future is not ready")             \
    FLOW_ERROR(platform_error, 1500, "a call of the operating system failed")                                          \
    FLOW_ERROR(io_error, 1510, "input or output failed")                                                               \
    FLOW_ERROR(file_not_found, 1511, "the file does not exist")                                                        \
    FLOW_ERROR(unknown_error, 4000, "an exception that is not a flow::Error")                                          \
    FLOW_ERROR(internal_error, 4100, "an internal invariant does not hold")                                            \
    FLOW_ERROR(not_implemented, 4200, "the operation is not supported here")
