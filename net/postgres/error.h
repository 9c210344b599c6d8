#pragma once
// Errors of PostgreSQL: one for each group of SQLSTATEs that programs act on.
//
//     try {
//         co_await pool.execute("INSERT INTO person (name) VALUES ($1)", name);
//     } catch (Error& error) {
//         if (error.code() != postgres::error_code_unique_violation)
//             throw;                                        // what(): 23505: duplicate key value violates ...
//     }
//
//     serialization_failure   40001: the transaction must run again
//     deadlock_detected       40P01: the transaction must run again
//     unique_violation        23505
//     query_cancelled         57014: a cancel, or statement_timeout
//     query_failed            every other SQLSTATE
//     connection_failed       (flow/base/error_table.h) no connection could be made, or it is lost: 08xxx, 57P01 to
//                             57P05, 25P03 and all that libpq reports without a SQLSTATE. It is not known whether the
//                             server has done the query.
//
// what() has the SQLSTATE, the server's sentence and its detail. It can have values of the query: do not show it to
// strangers. The codes are 60001 to 60005. An Error keeps its sentence as long as flow/base/error.h says.

#include "flow/base/error.h"

#include <string_view>

namespace flow::net::postgres {

FLOW_ERROR(serialization_failure, 60001, "the transaction could not be serialized with others; it must run again");
FLOW_ERROR(deadlock_detected, 60002, "the server has ended the transaction to resolve a deadlock; it must run again");
FLOW_ERROR(unique_violation, 60003, "a row with this key exists");
FLOW_ERROR(query_cancelled, 60004, "the query was cancelled at the server");
FLOW_ERROR(query_failed, 60005, "the server has refused the query");

/// Returns the SQLSTATE of an error that a server has sent, such as "23505"; empty for other errors.
std::string_view sqlState(Error const& error);

/// True if the same transaction may succeed when it runs again: for RetryPolicy::retries.
inline bool mayRunAgain(Error error) {
    return error.code() == error_code_serialization_failure || error.code() == error_code_deadlock_detected;
}

/// Returns the error for a SQLSTATE; an empty one stands for an error of libpq.
Error errorOf(std::string_view sqlState, std::string_view sentence);

} // namespace flow::net::postgres
