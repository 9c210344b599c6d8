// A storage engine on fibers: what it needs of their stacks, and that runs of it are repeated.
#include "flow/fiber/fiber_thread_pool.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/temporary_directory.h"

#include <algorithm>
#include <csignal>
#include <doctest/doctest.h>
#include <memory>
#include <ostream> // lets doctest print strings
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <string>
#include <vector>

using namespace flow;

namespace {

constexpr int kFibers = 50;
constexpr int kKeys = 40; // of each

std::unique_ptr<rocksdb::DB> open(std::string const& path) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = 64 << 10;    // so that files are written and merged
    options.disable_auto_compactions = true; // compact() does it
    rocksdb::DB* db = nullptr;
    rocksdb::Status status = rocksdb::DB::Open(options, path, &db);
    if (!status.ok())
        throw std::runtime_error(status.ToString());
    return std::unique_ptr<rocksdb::DB>(db);
}

void expect(rocksdb::Status const& status) {
    if (!status.ok())
        throw std::runtime_error(status.ToString());
}

std::string keyOf(int writer, int i) {
    return "key-" + std::to_string(i) + "-of-" + std::to_string(writer);
}
std::string valueOf(int writer, int i) {
    return std::string(200, static_cast<char>('a' + (writer + i) % 26));
}

/// All keys of a writer in one call, which takes most of the stack.
void readAll(rocksdb::DB& db, int writer) {
    std::vector<std::string> names;
    for (int i = 0; i < kKeys; ++i)
        names.push_back(keyOf(writer, i));
    std::vector<rocksdb::Slice> keys(names.begin(), names.end());
    std::vector<rocksdb::PinnableSlice> values(kKeys);
    std::vector<rocksdb::Status> found(kKeys);
    db.MultiGet({}, db.DefaultColumnFamily(), kKeys, keys.data(), values.data(), found.data());
    for (int i = 0; i < kKeys; ++i) {
        expect(found[i]);
        if (values[i].ToString() != valueOf(writer, i))
            throw std::runtime_error("another value is read than was written");
    }
}

/// On this stack; CompactRange() would leave it to a thread of the engine.
void compact(rocksdb::DB& db) {
    rocksdb::ColumnFamilyMetaData all;
    db.GetColumnFamilyMetaData(&all);
    std::vector<std::string> files;
    for (rocksdb::SstFileMetaData const& file : all.levels[0].files)
        files.push_back(file.name);
    if (!files.empty())
        expect(db.CompactFiles({}, files, 1));
}

/// What one of the fibers does; `order` gets what it has done, in the order of all.
void use(rocksdb::DB& db, int writer, std::string& order, std::size_t& mostUsed) {
    for (int i = 0; i < kKeys; ++i) {
        expect(db.Put({}, keyOf(writer, i), valueOf(writer, i)));
        order += static_cast<char>('A' + writer % 50);
        if (i % 10 == 9)
            FiberThreadPool::pause(0.001 * (writer % 7 + 1));
    }
    readAll(db, writer);
    if (writer % 10 == 0) {
        expect(db.Flush({}));
        compact(db);
        order += '+';
    }
    mostUsed = std::max(mostUsed, fiber::stackBytesUsed());
}

/// Writes, reads and compacts from all fibers at a time, opens the database again, and reads all.
std::string run(std::size_t stackBytes, std::size_t& mostUsed) {
    test::TemporaryDirectory here;
    SimLoop loop;
    FiberThreadPool pool(loop, {.threads = kFibers, .stackBytes = stackBytes, .name = "engine"});
    std::string order;
    auto db = loop.run(pool.run([&] { return open(here.path()); }));
    std::vector<Future<Void>> all;
    for (int writer = 0; writer < kFibers; ++writer)
        all.push_back(pool.run([&, writer] { use(*db, writer, order, mostUsed); }));
    for (Future<Void>& each : all)
        loop.run(each);
    loop.run(pool.run([&] {
        db.reset();
        db = open(here.path());
        mostUsed = std::max(mostUsed, fiber::stackBytesUsed());
    }));
    int found = loop.run(pool.run([&] {
        int count = 0;
        std::unique_ptr<rocksdb::Iterator> each(db->NewIterator({}));
        for (each->SeekToFirst(); each->Valid(); each->Next())
            ++count;
        return count;
    }));
    CHECK(found == kFibers * kKeys);
    loop.run(pool.run([&] { db.reset(); }));
    return order;
}

} // namespace

// First: the child of fork() has none of the engine's threads.
TEST_CASE("rocksdb: with stacks of 32 KiB the overflow is reported") {
    test::Death death = test::runInChild([] {
        std::size_t used = 0;
        run(32 << 10, used);
    });
    INFO("standard error: ", death.text);
    CHECK(death.signal == SIGSEGV);
    CHECK(death.says("the fiber \"engine\" has used up its stack of 32768 bytes: give it more by "
                     "fiber::Options::stackBytes"));
}

TEST_CASE("rocksdb: writes, reads, compacts and opens again from 50 fibers with stacks of 256 KiB") {
    std::size_t used = 0;
    std::string order = run(256 << 10, used);
    CHECK(order.size() == kFibers * kKeys + kFibers / 10);
    MESSAGE("a stack of 256 KiB, of which up to " << used << " bytes were used");
    CHECK(used > 32 << 10);
    CHECK(used < 192 << 10);
    CHECK(run(256 << 10, used) == order);
}
