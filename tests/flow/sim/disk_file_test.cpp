#include "flow/sim/detail/disk_file.h"

#include <doctest/doctest.h>

#include <map>
#include <ostream>
#include <set>

using namespace flow;

namespace {

constexpr int kSector = DiskFile::kSector;

struct Disk {
    explicit Disk(std::uint64_t seed = 1) : dice(seed) {}
    PlainFaults dice;
    Reference<DiskFile> file = makeReference<DiskFile>();

    std::string content() { return file->read(0, 1 << 20, dice); }
    void sync() { file->store(file->changes(), dice); }
    std::string afterCrash() {
        file->loseCache(dice);
        return content();
    }
};

std::string sectors(int count, char letter) {
    return std::string(static_cast<std::size_t>(count * kSector), letter);
}
std::string sector(std::string const& content, int i) {
    return content.substr(static_cast<std::size_t>(i * kSector), kSector);
}

} // namespace

TEST_CASE("disk file: without faults everything survives") {
    Disk disk;
    disk.file->write(3, "text"_sr);
    disk.file->truncate(5);
    disk.file->write(5000, "far"_sr);
    std::string before = disk.content();
    CHECK(before.size() == 5003);
    CHECK(disk.afterCrash() == before);
    CHECK(disk.dice.counts.total() == 0);
}

TEST_CASE("disk file: lost writes and truncates, but not what was synced") {
    Disk disk;
    disk.dice.faults.diskLostWrite = 1;
    disk.file->write(0, "synced"_sr);
    disk.sync();
    disk.file->write(2, "lost"_sr);
    disk.file->write(10000, "lost"_sr);
    disk.file->truncate(1);
    CHECK(disk.content() == "s");
    CHECK(disk.afterCrash() == "synced");
    CHECK(disk.dice.counts[FaultKind::diskLostWrite] == 3);
}

TEST_CASE("disk file: sync is of the changes before it") {
    Disk disk;
    disk.dice.faults.diskLostWrite = 1;
    disk.file->write(0, "first"_sr);
    std::uint64_t first = disk.file->changes();
    disk.file->write(5, "second"_sr);
    disk.file->store(first, disk.dice);
    disk.file->store(first, disk.dice);
    disk.file->store(0, disk.dice);
    CHECK(disk.content() == "firstsecond");
    CHECK(disk.afterCrash() == "first");
}

TEST_CASE("disk file: a torn write leaves whole sectors") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Disk disk(seed);
        disk.dice.faults.diskTornWrite = 1;
        disk.file->write(0, sectors(64, 'a'));
        disk.sync();
        disk.file->write(0, sectors(64, 'b'));
        std::string content = disk.afterCrash();
        std::map<char, int> count;
        for (int i = 0; i < 64; ++i) {
            REQUIRE((sector(content, i) == sectors(1, 'a') || sector(content, i) == sectors(1, 'b')));
            ++count[sector(content, i)[0]];
        }
        CHECK(count['a'] > 0);
        CHECK(count['b'] > 0);
        CHECK(disk.dice.counts[FaultKind::diskTornWrite] == 1);
    }
}

TEST_CASE("disk file: one sector is never torn") {
    Disk disk;
    disk.dice.faults.diskTornWrite = 1;
    disk.file->write(kSector + 100, "small"_sr);
    CHECK(disk.afterCrash().substr(kSector + 100) == "small");
    CHECK(disk.dice.counts.total() == 0);
}

TEST_CASE("disk file: reordered writes survive without those before them") {
    std::set<std::string> outcomes;
    int gaps = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Disk disk(seed);
        disk.dice.faults.diskReorderedWrite = 1;
        disk.file->truncate(16 * kSector);
        disk.sync();
        for (int i = 0; i < 16; ++i)
            disk.file->write(i * kSector, sectors(1, 'x'));
        std::string content = disk.afterCrash(), survived;
        for (int i = 0; i < 16; ++i)
            survived += sector(content, i)[0] == 'x' ? 'x' : '-';
        gaps += survived.find("-x") != std::string::npos;
        CHECK(survived.find('-') != std::string::npos);
        CHECK(survived.find('x') != std::string::npos);
        outcomes.insert(survived);
        CHECK(disk.dice.counts[FaultKind::diskReorderedWrite] == 1);
    }
    CHECK(gaps > 25);
    CHECK(outcomes.size() > 25);
}

TEST_CASE("disk file: a sector is always one that the file had") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Disk disk(seed);
        disk.dice.faults = {.diskTornWrite = 0.4, .diskLostWrite = 0.4, .diskReorderedWrite = 0.4};
        constexpr int kSectors = 12;
        std::vector<std::set<std::string>> versions(kSectors);
        auto note = [&] {
            std::string content = disk.content();
            content.resize(kSectors * kSector); // what is not there is zero
            for (int i = 0; i < kSectors; ++i)
                versions[static_cast<std::size_t>(i)].insert(sector(content, i));
        };
        note();
        for (int i = 0; i < 60; ++i) {
            int offset = disk.dice.random().randomInt(0, kSectors * kSector);
            if (disk.dice.random().randomInt(0, 10) == 0)
                disk.file->truncate(offset / kSector * kSector);
            else
                disk.file->write(offset, disk.dice.random().randomAlphaNumeric(disk.dice.random().randomInt(
                                             0, std::min(2000, kSectors * kSector - offset))));
            note();
            if (disk.dice.random().randomInt(0, 15) == 0) {
                disk.sync();
                versions.assign(kSectors, {});
                note();
            }
        }
        std::string content = disk.afterCrash();
        // Beyond the end, which may be older than the sectors, there is nothing.
        for (int i = 0; (i + 1) * kSector <= static_cast<int>(content.size()); ++i)
            REQUIRE(versions[static_cast<std::size_t>(i)].contains(sector(content, i)));
    }
}

TEST_CASE("disk file: a file that was cut and has grown again does not show what was cut off") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Disk disk(seed);
        disk.dice.faults.diskLostWrite = 0.5;
        disk.file->write(0, sectors(8, 'a'));
        disk.sync();
        disk.file->truncate(0);
        disk.file->write(7 * kSector, sectors(1, 'b'));
        std::string content = disk.afterCrash();
        REQUIRE(content.size() % kSector == 0);
        bool grown = content.size() == 8 * kSector && sector(content, 7) == sectors(1, 'b');
        if (grown)
            CHECK(content.substr(0, 7 * kSector) == std::string(7 * kSector, '\0'));
        else
            CHECK((content.empty() || content == sectors(8, 'a')));
    }
}

TEST_CASE("disk file: a misdirected write is found elsewhere after the crash") {
    Disk disk;
    disk.file->write(0, sectors(8, 'a'));
    disk.sync();
    disk.dice.faults.diskMisdirectedWrite = 1;
    disk.file->write(2 * kSector, sectors(1, 'b'));
    std::string before = disk.content();
    CHECK(sector(before, 2) == sectors(1, 'b'));
    disk.sync();
    CHECK(disk.content() == before);
    std::string after = disk.afterCrash();
    CHECK(after.size() == before.size());
    CHECK(sector(after, 2) == sectors(1, 'a'));
    CHECK(std::count(after.begin(), after.end(), 'b') == kSector);
    CHECK(disk.dice.counts[FaultKind::diskMisdirectedWrite] == 1);
}

TEST_CASE("disk file: a flipped bit stays until it is written again") {
    Disk disk;
    disk.file->write(0, "text"_sr);
    disk.sync();
    disk.dice.faults.diskBitFlip = 1;
    std::string wrong = disk.file->read(1, 2, disk.dice);
    disk.dice.faults.diskBitFlip = 0;
    int bits = 0;
    for (int i = 0; i < 2; ++i)
        bits += __builtin_popcount(static_cast<unsigned char>(wrong[static_cast<std::size_t>(i)] ^ "ex"[i]));
    CHECK(bits == 1);
    CHECK(disk.content() == "t" + wrong + "t");
    CHECK(disk.afterCrash() == "t" + wrong + "t");
    disk.file->write(0, "text"_sr);
    CHECK(disk.afterCrash() == "text");
    CHECK(disk.dice.counts[FaultKind::diskBitFlip] == 1);
}

TEST_CASE("disk file: what a failed sync has lost, a later one does not bring back") {
    Disk disk;
    disk.dice.faults.diskLostWrite = 1;
    disk.file->write(0, "lost"_sr);
    disk.file->storeSome(disk.file->changes(), disk.dice);
    CHECK(disk.content() == "lost");
    disk.file->write(4, "kept"_sr);
    disk.sync();
    std::string content = disk.afterCrash();
    CHECK(content.substr(4) == "kept"); // the sector is written whole, so the other comes along here
    disk.file->write(2 * kSector, "lost"_sr);
    disk.file->storeSome(disk.file->changes(), disk.dice);
    disk.file->write(4 * kSector, "kept"_sr);
    disk.sync();
    content = disk.afterCrash();
    CHECK(content.substr(2 * kSector, 4) == std::string(4, '\0'));
    CHECK(content.substr(4 * kSector) == "kept");
}
