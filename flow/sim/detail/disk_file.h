#pragma once
// DiskFile: one simulated file, with the content that programs see and the content on the disk.
//
//     file->write(0, "text"_sr);                   // programs see it
//     file->store(file->changes(), dice);          // sync: it is on the disk
//     file->loseCache(dice);                       // power failure: programs see what is on the disk
//
// The two contents differ by the unsynced changes: unstored_, in order. A page cache writes whole sectors, so each
// change has a copy of all sectors that it touches, as they are after the change. A sector on the disk has the content
// that it had after one of the changes, or the part that a later truncate has left. Sizes reach the disk in order: if a
// change of the size survives, all earlier changes of the size have survived too.

#include "flow/memory/reference.h"
#include "flow/sim/detail/sparse_bytes.h"
#include "flow/sim/faults.h"

#include <string>
#include <vector>

namespace flow {

class DiskFile : public ReferenceCounted<DiskFile> {
public:
    static constexpr int kSector = 512;

    // A power failure does not change these members.
    double modified = 0; // wallTime()
    int permissions = 0;
    // The open file that holds the lock, or null, and the life of the disk in which the file took the lock.
    void const* lockedBy = nullptr;
    int lockedIn = 0;

    std::int64_t size() const { return seen_.size(); }
    /// Returns the bytes from `offset` on: `length` bytes, or fewer if the file ends earlier.
    std::string read(std::int64_t offset, int length, FaultSource& dice);
    void write(std::int64_t offset, StringRef bytes);
    void truncate(std::int64_t size);

    std::uint64_t changes() const { return firstUnstored_ + unstored_.size(); }
    /// Returns the number of changes that are not on the disk yet.
    std::size_t unstored() const { return unstored_.size(); }
    /// Stores on the disk all changes that existed when changes() returned `changes`.
    void store(std::uint64_t changes, FaultSource& dice) { store(changes, false, dice); }
    /// Like store(), but any change that was not on the disk before may be lost, torn or out of order.
    void storeSome(std::uint64_t changes, FaultSource& dice) { store(changes, true, dice); }
    /// Simulates a power failure: the faults decide which unsynced changes are lost.
    void loseCache(FaultSource& dice) {
        storeSome(changes(), dice);
        seen_ = stored_;
    }

private:
    struct Change {
        bool isTruncate() const { return sectors.empty(); }
        std::int64_t offset;
        std::string sectors;
        std::int64_t size; // the size of the file after the change
        bool resizes;
    };

    void store(std::uint64_t changes, bool inDanger, FaultSource& dice);
    std::vector<bool> chooseLost(std::size_t count, FaultSource& dice) const;
    void storeSectors(Change const& change, bool inDanger, FaultSource& dice);

    SparseBytes seen_;
    SparseBytes stored_;
    std::vector<Change> unstored_;
    std::uint64_t firstUnstored_ = 0;
};

} // namespace flow
