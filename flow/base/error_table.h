#pragma once
// The errors that Millrace itself raises: name, code, description. If FoundationDB Flow has the same error, the codes
// are equal, so logs and wire formats can be compared. FLOW_ERROR (flow/base/error.h) defines errors of applications.
//
//     #define FLOW_ENTRY(name, code, description) ...
//     FLOW_ERROR_TABLE(FLOW_ENTRY)

#define FLOW_ERROR_TABLE(FLOW_ERROR)                                                                                   \
    FLOW_ERROR(success, 0, "no error")                                                                                 \
    FLOW_ERROR(end_of_stream, 1, "the stream has ended")                                                               \
    FLOW_ERROR(operation_failed, 1000, "the operation failed")                                                         \
    FLOW_ERROR(operation_obsolete, 1002, "the result of the operation is no longer needed")                            \
    FLOW_ERROR(timed_out, 1004, "the operation took too long")                                                         \
    FLOW_ERROR(connection_failed, 1026, "the connection failed")                                                       \
    FLOW_ERROR(request_maybe_delivered, 1030, "the request may or may not have arrived")                               \
    FLOW_ERROR(default_error_or, 1035, "the ErrorOr has neither a value nor an error")                                 \
    FLOW_ERROR(lookup_failed, 1041, "the name has no address")                                                         \
    FLOW_ERROR(shutdown_in_progress, 1043, "the program is ending")                                                    \
    FLOW_ERROR(serialization_failed, 1044, "the bytes do not have the expected format")                                \
    FLOW_ERROR(connection_unreferenced, 1048, "the connection is no longer used")                                      \
    FLOW_ERROR(connection_idle, 1049, "the connection was closed because it was idle")                                 \
    FLOW_ERROR(broken_promise, 1100, "the last promise was destroyed before it was set")                               \
    FLOW_ERROR(operation_cancelled, 1101, "the operation was cancelled")                                               \
    FLOW_ERROR(future_released, 1102, "the future was released")                                                       \
    FLOW_ERROR(connection_leaked, 1103, "a connection was dropped without being closed")                               \
    FLOW_ERROR(never_reply, 1104, "no reply will come")                                                                \
    FLOW_ERROR(retry, 1105, "try again")                                                                               \
    FLOW_ERROR(tls_protocol_error, 1186, "the bytes are not TLS, or no version or cipher is common")                   \
    FLOW_ERROR(tls_certificate_expired, 1187, "the other side's certificate has expired, or is not valid yet")         \
    FLOW_ERROR(tls_certificate_untrusted, 1188, "no trusted authority has signed the other side's certificate")        \
    FLOW_ERROR(tls_wrong_name, 1189, "the other side's certificate is for another name")                               \
    FLOW_ERROR(loop_drained, 1190, "the loop has nothing left to run and the awaited future is not ready")             \
    FLOW_ERROR(connection_refused, 1191, "no program listens at the address")                                          \
    FLOW_ERROR(connection_timed_out, 1192, "the other side of the connection did not answer in time")                  \
    FLOW_ERROR(host_unreachable, 1193, "no route to the address")                                                      \
    FLOW_ERROR(connection_reset, 1194, "the other side has reset the connection")                                      \
    FLOW_ERROR(connection_cut_off, 1195, "the connection ended before all expected bytes had arrived")                 \
    FLOW_ERROR(not_allowed, 1196, "the program does not have the permission")                                          \
    FLOW_ERROR(service_not_found, 1197, "the process serves no request of this name")                                  \
    FLOW_ERROR(please_reboot, 1207, "the program must be started again")                                               \
    FLOW_ERROR(test_failed, 1228, "the test failed")                                                                   \
    FLOW_ERROR(platform_error, 1500, "a system call failed")                                                           \
    FLOW_ERROR(large_alloc_failed, 1501, "a large block of memory could not be allocated")                             \
    FLOW_ERROR(bad_allocator, 1503, "there is no allocator")                                                           \
    FLOW_ERROR(io_error, 1510, "input or output failed")                                                               \
    FLOW_ERROR(file_not_found, 1511, "the file does not exist")                                                        \
    FLOW_ERROR(bind_failed, 1512, "the socket could not be bound to the address")                                      \
    FLOW_ERROR(file_not_readable, 1513, "the file cannot be read")                                                     \
    FLOW_ERROR(file_not_writable, 1514, "the file cannot be written")                                                  \
    FLOW_ERROR(file_too_large, 1516, "the file is too large")                                                          \
    FLOW_ERROR(non_sequential_op, 1517, "the file can only be read or written in order")                               \
    FLOW_ERROR(checksum_failed, 1520, "the checksum does not match the data")                                          \
    FLOW_ERROR(io_timeout, 1521, "input or output took too long")                                                      \
    FLOW_ERROR(file_corrupt, 1522, "the file is corrupt")                                                              \
    FLOW_ERROR(disk_full, 1590, "the disk is full")                                                                    \
    FLOW_ERROR(file_exists, 1591, "a file or directory with this name exists")                                         \
    FLOW_ERROR(directory_not_empty, 1592, "the directory is not empty")                                                \
    FLOW_ERROR(client_invalid_operation, 2000, "the call is not allowed with these arguments or at this time")         \
    FLOW_ERROR(inverted_range, 2005, "the range ends before it begins")                                                \
    FLOW_ERROR(invalid_option_value, 2006, "the option cannot have this value")                                        \
    FLOW_ERROR(invalid_option, 2007, "the option is not allowed here")                                                 \
    FLOW_ERROR(network_not_setup, 2008, "the network must be set up first")                                            \
    FLOW_ERROR(network_already_setup, 2009, "the network can be set up only once")                                     \
    FLOW_ERROR(version_invalid, 2011, "the version is not valid")                                                      \
    FLOW_ERROR(attribute_not_found, 2014, "there is no such attribute")                                                \
    FLOW_ERROR(future_not_set, 2015, "the future is not ready")                                                        \
    FLOW_ERROR(future_not_error, 2016, "the future has no error")                                                      \
    FLOW_ERROR(used_during_commit, 2017, "the operation was started before another one had ended")                     \
    FLOW_ERROR(incompatible_protocol_version, 2100, "the other side speaks another version of the protocol")           \
    FLOW_ERROR(transaction_too_large, 2101, "the request is too large")                                                \
    FLOW_ERROR(key_too_large, 2102, "the key is too large")                                                            \
    FLOW_ERROR(value_too_large, 2103, "the value is too large")                                                        \
    FLOW_ERROR(connection_string_invalid, 2104, "the text is not a valid address")                                     \
    FLOW_ERROR(address_in_use, 2105, "the address is already in use")                                                  \
    FLOW_ERROR(invalid_local_address, 2106, "the address does not belong to this machine")                             \
    FLOW_ERROR(tls_error, 2107, "the TLS connection failed")                                                           \
    FLOW_ERROR(unsupported_operation, 2108, "the operation is not supported")                                          \
    FLOW_ERROR(unknown_error, 4000, "an exception that is not a flow::Error")                                          \
    FLOW_ERROR(internal_error, 4100, "an internal invariant does not hold")                                            \
    FLOW_ERROR(not_implemented, 4200, "the operation is not implemented")
