#pragma once
// Planted faults, one of which can be switched on for a whole run, to see that the simulations find it.
//
//     if (!planted(Mutant::ForgottenSync))
//         co_await file->sync();
//
// MILLRACE_MUTANT in the environment names the one that is on; "?" prints all of them. Most are in the library and in
// net/examples/kv: tests/sim/plant.py puts them into copies of sources, which the program `mutants` has in place of
// them.

#include <cstdint>

// Each with what it does.
#define KV_MUTANTS(X)                                                                                                  \
    X(ForgottenSync, "the journal does not sync")                                                                      \
    X(ForgottenDirectory, "the journal does not sync the directory after a rename")                                    \
    X(TrustsMemory, "the journal takes what it reads after an error of the disk for stored")                           \
    X(OneCopyOnly, "the journal recovers from its first copy alone")                                                   \
    X(OneCopyWritten, "the journal writes one copy only")                                                              \
    X(ForgottenVote, "a vote is given before it is written down")                                                      \
    X(ForgottenTerm, "a new term is not written down")                                                                 \
    X(ForgottenEntry, "a follower acknowledges entries that it has not written down")                                  \
    X(ForgottenTruncation, "a follower does not write down that it has dropped entries")                               \
    X(VoteTwice, "a server votes for everybody in a term")                                                             \
    X(VoteForOutdated, "a server votes for one with an older log")                                                     \
    X(MinorityElects, "one vote less than a majority makes a leader")                                                  \
    X(MinorityCommits, "one acknowledgement less than a majority commits")                                             \
    X(OldTermCommits, "entries of older terms are committed by counting")                                              \
    X(NoPrefixCheck, "a follower takes entries whatever stands before them")                                           \
    X(NoConflictCheck, "a follower keeps its own entry where the leader has another")                                  \
    X(TruncateAlways, "a follower drops what follows the entries of a late message")                                   \
    X(CommitTooFar, "a follower takes the leader's commit index for its own log")                                      \
    X(StaleTermObeyed, "a follower obeys leaders of older terms")                                                      \
    X(LeaderStaysLeader, "a leader does not hear of newer terms")                                                      \
    X(StaleRead, "a leader answers reads from its own state, at once")                                                 \
    X(FollowerReads, "any server answers reads from its own state, at once")                                           \
    X(NoSessions, "a repeated request is executed again")                                                              \
    X(LateReply, "a client takes a late reply for that to its next request")                                           \
    X(AnswerEarly, "a write is answered before it is committed")                                                       \
    X(AnswerOther, "a write is answered although another entry took its place")                                        \
    X(NoChecksum, "damaged messages are taken for good")                                                               \
    X(WrongAddressee, "messages to other servers are taken")                                                           \
    X(LostWakeUp, "a waiter for an entry misses it if it comes between the check and the wait")                        \
    X(DoubleSend, "a client does not number its repeated requests alike")                                              \
    X(MissedCancel, "a connection that breaks keeps its place in the server")                                          \
    X(ForgottenTimer, "a follower does not start elections after its first")                                           \
    X(AppliedAgain, "an entry is executed again when its server becomes leader")                                       \
    X(CasIgnoresExpected, "a compareAndSet writes whatever it finds")                                                  \
    X(RemoveKeepsValue, "a remove does nothing")                                                                       \
    X(ClientGivesUp, "a client takes a lost reply for a refusal")                                                      \
    X(LockForgetsLast, "a lock does not wake a single waiter")                                                         \
    X(AllAtFirst, "waitForAll() is ready with the first one")                                                          \
    X(LateTimer, "a timer that makes room for a sooner one is late")                                                   \
    X(DiskSyncsNothing, "a sync is none")                                                                              \
    X(DiskSyncsNoNames, "a sync of a directory is none")                                                               \
    X(DiskLosesSector, "the last sector of a long write is lost when the power goes")                                  \
    X(DeliveredTwice, "a connection delivers everything twice")                                                        \
    X(CutForEver, "a link that was cut is not healed")

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
