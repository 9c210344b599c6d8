#pragma once
// Planted faults, one of which can be switched on for a whole run, to see that the simulations find it.
//
//     if (!planted(Mutant::ForgottenSync))
//         co_await file->sync();
//
// MILLRACE_MUTANT in the environment names the one that is on.

#include <cstdint>

// Each with what it does.
#define KV_MUTANTS(X)                                                                                                  \
    X(ForgottenSync, "the journal does not sync")                                                                      \
    X(OneCopyOnly, "the journal recovers from its first copy alone")                                                   \
    X(OneCopyWritten, "the journal writes one copy only")                                                              \
    X(ForgottenVote, "a vote is given before it is written down")                                                      \
    X(ForgottenTerm, "a new term is not written down")                                                                 \
    X(ForgottenEntry, "a follower acknowledges entries that it has not written down")                                  \
    X(ForgottenTruncation, "a follower does not write down that it has dropped entries")                               \
    X(VoteTwice, "a server votes for everybody in a term")                                                             \
    X(VoteForOutdated, "a server votes for one whose log is older")                                                    \
    X(MinorityElects, "one vote less than a majority makes a leader")                                                  \
    X(MinorityCommits, "one acknowledgement less than a majority commits")                                             \
    X(OldTermCommits, "entries of older terms are committed by counting")                                              \
    X(NoPrefixCheck, "a follower takes entries whatever stands before them")                                           \
    X(NoConflictCheck, "a follower keeps its own entry where the leader has another")                                  \
    X(TruncateAlways, "a follower drops what follows the entries of a late message")                                   \
    X(CommitTooFar, "a follower takes the leader's commit index for its own log")                                      \
    X(StaleTermObeyed, "a follower obeys leaders of older terms")                                                      \
    X(LeaderStaysLeader, "a leader does not step down for a newer term")                                               \
    X(StaleRead, "a leader answers reads from its own state, at once")                                                 \
    X(FollowerReads, "any server answers reads from its own state, at once")                                           \
    X(NoSessions, "a repeated request is executed again")                                                              \
    X(SessionByNumber, "a repeated request gets the reply of the last one, whatever its number")                       \
    X(AnswerEarly, "a write is answered before it is committed")                                                       \
    X(AnswerOther, "a write is answered although another entry took its place")                                        \
    X(NoChecksum, "damaged messages are taken for good")                                                               \
    X(WrongAddressee, "messages to other servers are taken")                                                           \
    X(LostWakeUp, "who waits for an entry is told only if it waited before")                                           \
    X(DoubleSend, "a client does not number its repeated requests alike")                                              \
    X(MissedCancel, "a leader that steps down forgets those who wait")                                                 \
    X(ForgottenTimer, "a follower does not start elections after its first")                                           \
    X(AppliedAgain, "an entry is executed again when its server becomes leader")                                       \
    X(CasIgnoresExpected, "a compareAndSet writes whatever it finds")                                                  \
    X(RemoveKeepsValue, "a remove does nothing")                                                                       \
    X(ClientGivesUp, "a client takes a lost reply for a refusal")

namespace kv {

enum class Mutant : std::uint8_t {
    None,
#define KV_MUTANT(name, meaning) name,
    KV_MUTANTS(KV_MUTANT)
#undef KV_MUTANT
};

/// Whether it is the one that is on.
bool planted(Mutant mutant);

} // namespace kv
