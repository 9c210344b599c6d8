#include "tests/sim/kv/journal.h"

#include "flow/flow.h"
#include "tests/sim/kv/message.h"
#include "tests/sim/mutants.h"

namespace kv {
namespace {

constexpr std::size_t kLengthBytes = 8; // of a record: how long it is, and that once more, inverted

std::string frame(std::string const& record) {
    std::string sealed = seal(record);
    auto length = static_cast<std::uint32_t>(sealed.size());
    BinaryWriter head(Unversioned());
    head << length << ~length;
    std::string bytes(static_cast<char const*>(head.getData()), static_cast<std::size_t>(head.getLength()));
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

/// The record whose frame begins there, if it is whole.
Optional<std::string> recordAt(std::string_view content, std::size_t at) {
    std::size_t length = frameLength(content, at);
    if (length == 0)
        return {};
    return unseal<std::string>(content.substr(at + kLengthBytes, length - kLengthBytes));
}

} // namespace

/// An empty file appears under its name as a whole, or not at all.
Future<Void> Journal::make(std::string path) {
    std::string temporary = path + ".new";
    Reference<AsyncFile> file = co_await files().open(temporary, OpenMode::Create);
    co_await file->truncate(0);
    co_await file->sync();
    co_await files().rename(temporary, path);
    co_await files().syncDirectory("/");
}

Future<Journal::Copy> Journal::read(std::string path) {
    bool isThere = co_await files().exists(path);
    if (!isThere)
        co_await make(path);
    Copy copy;
    copy.file = co_await files().open(path, OpenMode::ReadWrite);
    std::int64_t size = co_await copy.file->size();
    Standalone<StringRef> bytes = co_await copy.file->read(0, static_cast<int>(size));
    copy.content = bytes.toString();
    co_return copy;
}

/// Takes each record from whichever copy has it, and makes the other one good.
Future<Void> Journal::recover(Reference<Journal> self, std::string path) {
    Copy first = co_await read(path + "1");
    Copy second = co_await read(path + "2");
    std::string whole;
    for (;;) {
        Optional<std::string> record = recordAt(first.content, whole.size());
        if (!record.present() && !planted(Mutant::OneCopyOnly))
            record = recordAt(second.content, whole.size());
        if (!record.present())
            break;
        whole += frame(record.get());
        self->records_.push_back(std::move(record.get()));
    }
    CODE_PROBE(first.content != whole, "the first copy of the journal is made good");
    CODE_PROBE(second.content != whole, "the second copy of the journal is made good");
    for (Copy* copy : {&first, &second})
        if (copy->content != whole) {
            co_await copy->file->write(0, whole);
            co_await copy->file->truncate(static_cast<std::int64_t>(whole.size()));
            co_await copy->file->sync();
        }
    self->files_[0] = first.file;
    self->files_[1] = second.file;
    self->end_ = static_cast<std::int64_t>(whole.size());
}

Future<Reference<Journal>> Journal::open(std::string path) {
    Reference<Journal> self = makeReference<Journal>();
    co_await recover(self, path);
    co_return self;
}

Future<Void> Journal::append(std::string record) {
    Reference<Journal> self = Reference<Journal>::addRef(this);
    std::string bytes = frame(record);
    for (Reference<AsyncFile> file : self->files_) {
        co_await file->write(self->end_, bytes);
        if (!planted(Mutant::ForgottenSync))
            co_await file->sync();
        if (planted(Mutant::OneCopyWritten))
            break;
    }
    self->end_ += static_cast<std::int64_t>(bytes.size());
}

} // namespace kv
