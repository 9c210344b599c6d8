#include "flow/file/journal.h"

#include "flow/base/format.h"
#include "flow/base/random.h"
#include "flow/coro/coroutine.h"
#include "flow/memory/sealed.h"
#include "flow/tasks/scope.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace flow {
namespace {

constexpr std::size_t kLengthBytes = 8; // a frame begins with its length and the inverted length
constexpr std::int64_t kMostBytes = std::numeric_limits<int>::max(); // one read() reads the whole file

struct Framed {
    std::uint64_t generation = 0;
    std::uint64_t least = 0;  // the number of records with which the generation began
    bool hasSnapshot = false; // the first record of the generation is a snapshot
    std::uint64_t index = 0;  // the record's place in its generation: detects sectors at a wrong place
    std::string record;

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, generation, least, hasSnapshot, index, record);
    }
};

std::string frame(Framed const& framed) {
    std::string sealed = seal(framed);
    auto length = static_cast<std::uint32_t>(sealed.size());
    BinaryWriter head(Unversioned());
    head << length << ~length;
    std::string bytes(static_cast<char const*>(head.getData()), kLengthBytes);
    return bytes += sealed;
}

/// Returns the length of the frame at `at`; 0 if no frame begins there.
std::size_t frameLength(std::string_view content, std::size_t at) {
    if (content.size() < at + kLengthBytes)
        return 0;
    std::uint32_t length, inverted;
    BinaryReader head(StringRef(content.substr(at, kLengthBytes)), Unversioned());
    head >> length >> inverted;
    return length == ~inverted && length <= content.size() - at - kLengthBytes ? kLengthBytes + length : 0;
}

/// Returns the content of the frame at `at`, if it is valid.
Optional<Framed> framedAt(std::string_view content, std::size_t at) {
    std::size_t length = frameLength(content, at);
    if (length == 0)
        return {};
    return unseal<Framed>(content.substr(at + kLengthBytes, length - kLengthBytes));
}

std::string folderOf(std::string const& path) {
    std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

constexpr char kTemporary[] = ".new"; // a random number follows

/// Throws if the journal would be too long with `bytes` at `end`.
void checkSize(std::string const& path, std::int64_t end, std::string const& bytes) {
    if (bytes.size() > static_cast<std::size_t>(kMostBytes - end))
        throw file_too_large().withSentence(path + ": a journal has at most 2 GiB");
}

/// The records of one generation, from both copies.
struct Gathered {
    bool isWhole() const { return records.size() >= least; }

    std::uint64_t generation = 0;
    std::uint64_t least = 0;
    bool hasSnapshot = false;
    std::vector<std::string> records;
    std::string content;
};

/// Returns the records of the first record's generation. Prefers valid records of `first`.
Gathered gather(std::string_view first, std::string_view second) {
    Gathered all;
    auto fits = [&](Optional<Framed> const& found) {
        return found.present() && found.get().index == all.records.size() &&
               (all.records.empty() || found.get().generation == all.generation);
    };
    for (;;) {
        Optional<Framed> found = framedAt(first, all.content.size());
        if (!fits(found))
            found = framedAt(second, all.content.size());
        if (!fits(found))
            return all;
        all.content += frame(found.get());
        all.generation = found.get().generation;
        all.least = found.get().least;
        all.hasSnapshot = found.get().hasSnapshot;
        all.records.push_back(std::move(found.get().record));
    }
}

} // namespace

/// Writes and syncs until a read gives the same bytes. When the future is ready, the bytes are on the disk.
Future<Void> Journal::store(Reference<AsyncFile> file, std::int64_t at, std::string bytes) {
    constexpr std::size_t kPiece = 32 * 1024; // large, so that an append is usually one write
    for (bool isThere = false; !isThere;) {
        Scope writes;
        for (std::size_t i = 0; i < bytes.size(); i += kPiece)
            writes.spawn(file->write(at + static_cast<std::int64_t>(i), bytes.substr(i, kPiece)));
        co_await writes.join();
        co_await file->sync();
        Standalone<StringRef> there = co_await file->read(at, static_cast<int>(bytes.size()));
        isThere = there == StringRef(bytes);
    }
}

/// Replaces the content of the file at `path`. At every moment the file has its old or its new content.
Future<Reference<AsyncFile>> Journal::put(std::string path, std::string content) {
    auto number = static_cast<unsigned long long>(deterministicRandom()->randomUInt64());
    std::string temporary = path + kTemporary + format("%016llx", number);
    Reference<AsyncFile> file = co_await files().open(temporary, OpenMode::CreateNew);
    co_await store(file, 0, std::move(content));
    co_await files().rename(temporary, path);
    co_await files().syncDirectory(folderOf(path));
    co_return file;
}

Future<Journal::Copy> Journal::read(std::string path) {
    Copy copy{path, {}, {}};
    bool isThere = co_await files().exists(path);
    if (!isThere)
        co_return copy;
    copy.file = co_await files().open(path, OpenMode::ReadWrite);
    std::int64_t size = co_await copy.file->size();
    Standalone<StringRef> bytes = co_await copy.file->read(0, static_cast<int>(size));
    copy.content = bytes.toString();
    co_return copy;
}

/// Removes temporary files. Afterwards, operations that an earlier Journal left under way cannot change the journal:
/// they use files that will be replaced, or a temporary name. A rename that comes later finds no file.
Future<Void> Journal::removeTemporaries(std::string path) {
    std::string folder = folderOf(path);
    std::string name = path.substr(path.rfind('/') + 1);
    std::vector<std::string> names = co_await files().list(folder);
    for (std::string const& each : names) {
        if (!each.starts_with(name + "1" + kTemporary) && !each.starts_with(name + "2" + kTemporary))
            continue;
        Future<Void> removing = files().remove(folder + "/" + each);
        ErrorOr<Void> removed = co_await tryGet(std::move(removing));
        if (removed.isError() && removed.getError().code() != error_code_file_not_found) // it was just renamed
            throw removed.getError();
    }
}

/// Writes both copies anew, even a valid copy, because its bytes may be only in memory. If the copies have different
/// generations, each has all acknowledged records. But the newer copy may be damaged. Then the older copy is used.
Future<Void> Journal::recover(Reference<Journal> self) {
    co_await removeTemporaries(self->path_);
    Copy first = co_await read(self->path_ + "1");
    Copy second = co_await read(self->path_ + "2");
    Gathered all = gather(first.content, second.content);
    if (!all.isWhole())
        all = gather(second.content, first.content);
    for (Copy* copy : {&first, &second})
        copy->file = co_await put(copy->path, all.content);
    self->files_[0] = first.file;
    self->files_[1] = second.file;
    self->end_ = static_cast<std::int64_t>(all.content.size());
    self->generation_ = all.generation;
    self->least_ = all.least;
    self->hasSnapshot_ = all.hasSnapshot;
    self->length_ = all.records.size();
    self->records_ = std::move(all.records);
    if (self->hasSnapshot_) {
        self->state_ = std::move(self->records_.front());
        self->records_.erase(self->records_.begin());
    }
}

Future<Reference<Journal>> Journal::open(std::string path) {
    Reference<Journal> self = makeReference<Journal>();
    self->path_ = path;
    co_await recover(self);
    co_return self;
}

Future<Void> Journal::append(std::string record) {
    Reference<Journal> self = Reference<Journal>::addRef(this);
    if (gathering_) {
        gathering_->push_back(std::move(record));
    } else {
        bool mustWait = last_.isValid() && !last_.isReady();
        Batch batch = std::make_shared<std::vector<std::string>>(1, std::move(record));
        last_ = write(this, last_, batch);
        if (mustWait)
            gathering_ = batch;
    }
    Future<Void> written = last_;
    co_await written;
}

Future<Void> Journal::snapshot(std::string state) {
    std::vector<std::string> only;
    only.push_back(std::move(state));
    return replaceAll(std::move(only), true);
}

Future<Void> Journal::replace(std::vector<std::string> records) {
    return replaceAll(std::move(records), false);
}

Future<Void> Journal::replaceAll(std::vector<std::string> records, bool isSnapshot) {
    Reference<Journal> self = Reference<Journal>::addRef(this);
    gathering_.reset(); // later records come after these
    last_ = rewrite(this, last_, std::move(records), isSnapshot);
    Future<Void> written = last_;
    co_await written;
}

Future<Void> Journal::write(Journal* self, Future<Void> before, Batch batch) {
    if (before.isValid())
        co_await before;
    if (self->gathering_ == batch)
        self->gathering_.reset();
    std::string bytes;
    std::uint64_t index = self->length_;
    for (std::string& record : *batch)
        bytes += frame({self->generation_, self->least_, self->hasSnapshot_, index++, std::move(record)});
    checkSize(self->path_, self->end_, bytes);
    for (Reference<AsyncFile> file : self->files_)
        co_await store(file, self->end_, bytes);
    self->end_ += static_cast<std::int64_t>(bytes.size());
    self->length_ = index;
}

Future<Void> Journal::rewrite(Journal* self, Future<Void> before, std::vector<std::string> records, bool isSnapshot) {
    if (before.isValid())
        co_await before;
    ++self->generation_;
    self->least_ = records.size();
    self->hasSnapshot_ = isSnapshot;
    std::string whole;
    for (std::uint64_t index = 0; index < records.size(); ++index)
        whole += frame({self->generation_, self->least_, isSnapshot, index, std::move(records[index])});
    checkSize(self->path_, 0, whole);
    self->files_[0] = co_await put(self->path_ + "1", whole);
    self->files_[1] = co_await put(self->path_ + "2", whole);
    self->end_ = static_cast<std::int64_t>(whole.size());
    self->length_ = records.size();
}

} // namespace flow
