// The part of a Replica that handles messages of other servers: elections and the log (Raft). inTurn() runs one step at
// a time: each step here ends before the next one begins, even if it waits for the disk.
//
// A server is a follower, a candidate or the leader. A server that has received no message of a leader for some time
// becomes a candidate: it enters a later term, stores its vote for itself, and asks for votes. With a majority of votes
// it leads, and appends an entry of its own. A leader sends each server its missing entries, and goes back in its log
// at each refusal. An entry is committed when a majority has it on disk. A message of a later term makes any server a
// follower in that term. Terms and votes are on disk before they are sent.
#include "flow/base/buggify.h"
#include "flow/flow.h"
#include "net/examples/kv/replica.h"

#include <algorithm>
#include <functional>

namespace kv {
namespace {

constexpr std::size_t kEntriesAtOnce = 20;
constexpr std::size_t kBytesAtOnce = 256 * 1024; // the last entry may exceed this limit

/// Sometimes ends the server at a bad moment: in a quarter of all runs, in 1 % of the calls.
void mayDie() {
    if (buggify() && deterministicRandom()->random01() < 0.04)
        throw operation_failed();
}

} // namespace

Future<Void> Replica::handle(Message message) {
    if (message.term > term_)
        co_await enter(message.term);
    switch (message.kind) {
    case Message::Kind::AskVote:
        co_await vote(message);
        break;
    case Message::Kind::Vote:
        countVote(message);
        co_await leadIfElected();
        break;
    case Message::Kind::Append:
        co_await follow(message);
        break;
    case Message::Kind::Appended:
        acknowledged(message);
        break;
    }
}

Future<Void> Replica::write(Record record) {
    constexpr std::size_t kMostRecords = 20;
    if (journal_->length() > kMostRecords + log_.size() / 16)
        co_await journal_->replace(wholeState());
    co_await journal_->append(seal(record));
}

/// Returns records for a new journal: they hold the term, the vote and all entries of the log.
std::vector<std::string> Replica::wholeState() const {
    std::vector<std::string> records;
    std::uint64_t keep = 0;
    do {
        Record record{term_, votedFor_, keep, {}};
        for (; keep < lastIndex() && record.entries.size() < kEntriesAtOnce; ++keep)
            record.entries.push_back(log_[keep + 1]);
        records.push_back(seal(record));
    } while (keep < lastIndex());
    return records;
}

/// Enters a later term. This server has not voted in that term yet.
Future<Void> Replica::enter(std::uint64_t term) {
    Record record{term, -1, lastIndex(), {}};
    co_await write(record);
    term_ = term;
    votedFor_ = -1;
    stepDown();
}

void Replica::stepDown() {
    FLOW_CODE_PROBE(role_ == Role::Leader, "a leader steps down");
    role_ = Role::Follower;
    postponeElection();
    progress_.trigger();
}

void Replica::postponeElection() {
    double spread = buggify() ? 0.05 : 0.3; // a small spread makes several servers candidates together
    spread *= 1 << std::min(inVain_, 4);    // grows after failed elections: they overlap on slow disks
    electionAt_ = now() + 0.3 + spread * deterministicRandom()->random01();
}

// -------------------------------------------------------------------------------------------------------------------
// Elections

Future<Void> Replica::startElection() {
    ++elections_;
    ++inVain_;
    FLOW_CODE_PROBE(elections_ > 3, "a server needs many elections");
    Record record{term_ + 1, id_, lastIndex(), {}};
    co_await write(record);
    ++term_;
    votedFor_ = id_;
    role_ = Role::Candidate;
    votes_ = {id_};
    postponeElection();
    askForVotes();
    co_await leadIfElected(); // a single server has the majority by its own vote
}

void Replica::askForVotes() {
    for (int to = 0; to < size(); ++to)
        if (!votes_.contains(to))
            send({.kind = Message::Kind::AskVote, .to = to, .index = lastIndex(), .entryTerm = log_.back().term});
}

Future<Void> Replica::vote(Message message) {
    bool newer =
        message.entryTerm > log_.back().term || (message.entryTerm == log_.back().term && message.index >= lastIndex());
    bool free = votedFor_ == -1 || votedFor_ == message.from;
    bool granted = message.term == term_ && free && newer;
    FLOW_CODE_PROBE(message.term == term_ && free && !newer, "a vote is refused to a server with an older log");
    if (granted && votedFor_ != message.from) {
        Record record{term_, message.from, lastIndex(), {}};
        co_await write(record);
        votedFor_ = message.from;
    }
    if (granted)
        postponeElection();
    send({.kind = Message::Kind::Vote, .to = message.from, .granted = granted});
    mayDie();
}

void Replica::countVote(Message const& message) {
    if (role_ == Role::Candidate && message.term == term_ && message.granted)
        votes_.insert(message.from);
}

Future<Void> Replica::leadIfElected() {
    if (role_ != Role::Candidate || static_cast<int>(votes_.size()) < majority())
        co_return;
    role_ = Role::Leader;
    inVain_ = 0;
    witness_.leads(id_, term_);
    progressOf_.assign(static_cast<std::size_t>(size()), Progress{.next = lastIndex() + 1});
    co_await appendOwn(Request()); // this entry also commits the entries of older terms
}

// -------------------------------------------------------------------------------------------------------------------
// The log of a leader

Future<Void> Replica::appendOwn(Request request) {
    Record record{term_, votedFor_, lastIndex(), {Entry{term_, request}}};
    co_await write(record);
    log_.push_back(record.entries.front());
    progressOf_[static_cast<std::size_t>(id_)].matches = lastIndex();
    mayDie();
    commitWhatAMajorityHas();
    for (int to = 0; to < size(); ++to)
        if (to != id_ && now() >= progressOf_[static_cast<std::size_t>(to)].resendAt)
            sendEntries(to);
}

/// Sends no entries while `to` may still acknowledge earlier entries: more entries would make a slow server slower.
void Replica::sendEntries(int to) {
    std::uint64_t most = buggify() ? 1 : kEntriesAtOnce;
    Progress& progress = progressOf_[static_cast<std::size_t>(to)];
    std::uint64_t first = progress.next;
    std::uint64_t end = now() < progress.resendAt ? first : std::min(first + most, lastIndex() + 1);
    Message message{.kind = Message::Kind::Append,
                    .to = to,
                    .index = first - 1,
                    .entryTerm = log_[first - 1].term,
                    .committed = committed_};
    std::size_t bytes = 0;
    for (std::uint64_t i = first; i < end && bytes < kBytesAtOnce; ++i) {
        message.entries.push_back(log_[i]);
        bytes += bytesIn(log_[i].request);
    }
    if (!message.entries.empty()) {
        progress.resendAt = now() + progress.patience;
        progress.patience = std::min(2 * progress.patience, kMostPatience);
    }
    send(message);
}

void Replica::acknowledged(Message const& message) {
    if (role_ != Role::Leader || message.term != term_)
        return;
    auto& [next, matches, resendAt, patience] = progressOf_[static_cast<std::size_t>(message.from)];
    std::uint64_t before = next;
    if (message.granted) {
        matches = std::max(matches, std::min(message.index, lastIndex()));
        next = std::max(next, matches + 1);
        commitWhatAMajorityHas();
    } else {
        FLOW_CODE_PROBE(true, "a follower's log has to be brought up to date");
        next = std::max(matches + 1, std::min(next - 1, message.index + 1));
    }
    if (next == before) // else each duplicated message would cause another one
        return;
    resendAt = 0;
    patience = kPatience;
    if (next <= lastIndex())
        sendEntries(message.from);
}

/// Commits the entries up to the last entry of this term that a majority has: these cannot be lost any more.
void Replica::commitWhatAMajorityHas() {
    std::vector<std::uint64_t> sorted;
    for (Progress const& each : progressOf_)
        sorted.push_back(each.matches);
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    std::uint64_t index = sorted[static_cast<std::size_t>(majority() - 1)];
    if (index > committed_ && log_[index].term == term_) {
        committed_ = index;
        executeCommitted();
        mayDie();
    }
}

// -------------------------------------------------------------------------------------------------------------------
// The log of a follower

Future<Void> Replica::follow(Message message) {
    if (message.term < term_) {
        FLOW_CODE_PROBE(true, "a leader of an older term gets the newer term");
        send({.kind = Message::Kind::Appended, .to = message.from});
        co_return;
    }
    inVain_ = 0;
    if (role_ != Role::Follower)
        stepDown();
    postponeElection();
    bool fits = message.index <= lastIndex() && log_[message.index].term == message.entryTerm;
    if (!fits) {
        std::uint64_t before = message.index == 0 ? 0 : message.index - 1;
        send({.kind = Message::Kind::Appended, .to = message.from, .index = std::min(before, lastIndex())});
        co_return;
    }
    co_await take(message);
    postponeElection(); // during the write, this server did not read the leader's later messages
    std::uint64_t known = message.index + message.entries.size(); // up to this index the log equals the leader's
    if (std::uint64_t committed = std::min({message.committed, known, lastIndex()}); committed > committed_) {
        committed_ = committed;
        executeCommitted();
    }
    send({.kind = Message::Kind::Appended,
          .to = message.from,
          .granted = true,
          .index = message.index + message.entries.size()});
}

/// Writes the entries of the message to the log. Does nothing if the log has all of them: the message may be old.
Future<Void> Replica::take(Message message) {
    std::uint64_t keep = message.index;
    std::size_t known = 0;
    while (known < message.entries.size() && keep < lastIndex() && log_[keep + 1].term == message.entries[known].term) {
        ++keep;
        ++known;
    }
    bool drops = keep < lastIndex();
    if (known == message.entries.size())
        co_return;
    FLOW_CODE_PROBE(drops, "a follower drops entries that were never committed");
    Record record{term_, votedFor_, keep, {message.entries.begin() + static_cast<long>(known), message.entries.end()}};
    co_await write(record);
    log_.resize(keep + 1);
    log_.insert(log_.end(), record.entries.begin(), record.entries.end());
}

void Replica::executeCommitted() {
    while (executed_ < committed_) {
        Entry const& entry = log_[++executed_];
        bool fresh = entry.request.client != 0 && store_.execute(entry.request);
        FLOW_CODE_PROBE(entry.request.client != 0 && !fresh, "a repeated request is in the log twice");
        witness_.executes(id_, executed_, entry, fresh);
    }
    progress_.trigger();
}

} // namespace kv
