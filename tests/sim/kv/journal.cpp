#include "tests/sim/kv/journal.h"

#include "flow/flow.h"
#include "tests/sim/kv/message.h"
#include "tests/sim/mutants.h"

namespace kv {
namespace {

constexpr std::size_t kLengthBytes = 8; // of a frame: how long it is, and that once more, inverted

struct Framed {
    std::uint64_t generation = 0;
    std::string record;

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, generation, record);
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

/// How long the frame is that begins there; 0 if there is none.
std::size_t frameLength(std::string_view content, std::size_t at) {
    if (content.size() < at + kLengthBytes)
        return 0;
    std::uint32_t length, inverted;
    BinaryReader head(StringRef(content.substr(at, kLengthBytes)), Unversioned());
    head >> length >> inverted;
    return length == ~inverted && length <= content.size() - at - kLengthBytes ? kLengthBytes + length : 0;
}

/// What stands there, if it is whole.
Optional<Framed> framedAt(std::string_view content, std::size_t at) {
    std::size_t length = frameLength(content, at);
    if (length == 0)
        return {};
    return unseal<Framed>(content.substr(at + kLengthBytes, length - kLengthBytes));
}

} // namespace

/// Under its name stands what was there before or the new content, at every moment, and afterwards the new one.
Future<Reference<AsyncFile>> Journal::put(std::string path, std::string content) {
    constexpr std::size_t kPiece = 1024;
    std::string temporary = path + ".new";
    Reference<AsyncFile> file = co_await files().open(temporary, OpenMode::Create);
    co_await file->truncate(0);
    std::vector<Future<Void>> writes;
    for (std::size_t at = 0; at < content.size(); at += kPiece)
        writes.push_back(file->write(static_cast<std::int64_t>(at), content.substr(at, kPiece)));
    co_await waitForAll(writes);
    if (!planted(Mutant::ForgottenSync))
        co_await file->sync();
    co_await files().rename(temporary, path);
    if (!planted(Mutant::ForgottenDirectory))
        co_await files().syncDirectory("/");
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

/// Takes each record from whichever copy has it, and makes the other one good.
Future<Void> Journal::recover(Reference<Journal> self) {
    Copy first = co_await read(self->path_ + "1");
    Copy second = co_await read(self->path_ + "2");
    std::string whole;
    auto fits = [&](Optional<Framed> const& found) {
        return found.present() && (whole.empty() || found.get().generation == self->generation_);
    };
    for (;;) {
        Optional<Framed> found = framedAt(first.content, whole.size());
        if (!fits(found) && !planted(Mutant::OneCopyOnly))
            found = framedAt(second.content, whole.size());
        if (!fits(found))
            break;
        whole += frame(found.get());
        self->generation_ = found.get().generation;
        self->records_.push_back(std::move(found.get().record));
    }
    CODE_PROBE(first.content != whole, "the first copy of the journal is made good");
    CODE_PROBE(second.content != whole, "the second copy of the journal is made good");
    for (Copy* copy : {&first, &second})
        if (!copy->file || copy->content != whole)
            copy->file = co_await put(copy->path, whole);
    self->files_[0] = first.file;
    self->files_[1] = second.file;
    self->end_ = static_cast<std::int64_t>(whole.size());
    self->length_ = self->records_.size();
}

Future<Reference<Journal>> Journal::open(std::string path) {
    Reference<Journal> self = makeReference<Journal>();
    self->path_ = path;
    co_await recover(self);
    co_return self;
}

Future<Void> Journal::append(std::string record) {
    Reference<Journal> self = Reference<Journal>::addRef(this);
    std::string bytes = frame({self->generation_, record});
    for (Reference<AsyncFile> file : self->files_) {
        for (bool isThere = false; !isThere;) {
            co_await file->write(self->end_, bytes);
            if (!planted(Mutant::ForgottenSync))
                co_await file->sync();
            Standalone<StringRef> there = co_await file->read(self->end_, static_cast<int>(bytes.size()));
            isThere = there == StringRef(bytes);
            CODE_PROBE(!isThere, "what was written to the journal is not what it says");
        }
        if (planted(Mutant::OneCopyWritten))
            break;
    }
    self->end_ += static_cast<std::int64_t>(bytes.size());
    ++self->length_;
}

Future<Void> Journal::replace(std::vector<std::string> records) {
    Reference<Journal> self = Reference<Journal>::addRef(this);
    ++self->generation_;
    std::string whole;
    for (std::string const& record : records)
        whole += frame({self->generation_, record});
    self->files_[0] = co_await put(self->path_ + "1", whole);
    if (!planted(Mutant::OneCopyWritten))
        self->files_[1] = co_await put(self->path_ + "2", whole);
    self->end_ = static_cast<std::int64_t>(whole.size());
    self->length_ = records.size();
}

} // namespace kv
