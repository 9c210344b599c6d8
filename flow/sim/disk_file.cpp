#include "flow/sim/detail/disk_file.h"

#include <numeric>

namespace flow {

std::string DiskFile::read(std::int64_t offset, int length, FaultSource& dice) {
    std::int64_t left = std::max<std::int64_t>(size() - offset, 0);
    std::string bytes(static_cast<std::size_t>(std::min<std::int64_t>(length, left)), '\0');
    if (!bytes.empty() && dice.injects(FaultKind::diskBitFlip)) {
        std::int64_t where =
            offset + dice.random(FaultKind::diskBitFlip).randomInt64(0, static_cast<std::int64_t>(bytes.size()));
        int bit = dice.random(FaultKind::diskBitFlip).randomInt(0, 8);
        seen_.flipBit(where, bit);
        if (where < stored_.size())
            stored_.flipBit(where, bit);
    }
    seen_.read(offset, reinterpret_cast<std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
    return bytes;
}

void DiskFile::write(std::int64_t offset, StringRef bytes) {
    if (bytes.empty())
        return;
    std::int64_t end = offset + bytes.size();
    bool grows = end > size();
    seen_.write(offset, bytes);
    if (grows)
        seen_.resize(end);
    std::int64_t first = offset / kSector * kSector;
    std::int64_t sectors = (end - first + kSector - 1) / kSector;
    std::string image(static_cast<std::size_t>(sectors * kSector), '\0');
    seen_.read(first, reinterpret_cast<std::uint8_t*>(image.data()), static_cast<int>(image.size()));
    unstored_.push_back({first, std::move(image), size(), grows});
}

void DiskFile::truncate(std::int64_t newSize) {
    if (newSize == size())
        return;
    seen_.resize(newSize);
    unstored_.push_back({0, {}, newSize, true});
}

void DiskFile::store(std::uint64_t changes, bool inDanger, FaultSource& dice) {
    if (changes <= firstUnstored_)
        return;
    auto count = static_cast<std::size_t>(changes - firstUnstored_);
    std::vector<bool> lost = inDanger ? chooseLost(count, dice) : std::vector<bool>(count);
    std::size_t resized = 0; // all changes of the size before this index reach the disk
    for (std::size_t i = 0; i < count; ++i)
        if (unstored_[i].resizes && !lost[i])
            resized = i + 1;
    std::int64_t newSize = resized == 0 ? stored_.size() : unstored_[resized - 1].size;
    for (std::size_t i = 0; i < count; ++i)
        if (unstored_[i].isTruncate()) {
            if (i < resized)
                stored_.resize(unstored_[i].size);
        } else if (!lost[i]) {
            storeSectors(unstored_[i], inDanger, dice);
        }
    stored_.resize(newSize);
    unstored_.erase(unstored_.begin(), unstored_.begin() + static_cast<std::ptrdiff_t>(count));
    firstUnstored_ = changes;
}

std::vector<bool> DiskFile::chooseLost(std::size_t count, FaultSource& dice) const {
    std::vector<bool> lost(count);
    if (count > 1 && dice.injects(FaultKind::diskReorderedWrite)) {
        std::vector<std::size_t> order(count);
        std::iota(order.begin(), order.end(), std::size_t{0});
        dice.random(FaultKind::diskReorderedWrite).randomShuffle(order);
        for (int i = dice.random(FaultKind::diskReorderedWrite).randomInt(1, static_cast<int>(count));
             i < static_cast<int>(count); ++i)
            lost[order[static_cast<std::size_t>(i)]] = true;
    }
    for (std::size_t i = 0; i < count; ++i)
        if (!lost[i] && dice.injects(FaultKind::diskLostWrite))
            lost[i] = true;
    return lost;
}

void DiskFile::storeSectors(Change const& change, bool inDanger, FaultSource& dice) {
    std::int64_t own = change.offset / kSector;
    std::int64_t target = own;
    std::int64_t places = (std::max(stored_.size(), change.size) + kSector - 1) / kSector;
    if (places > 1 && dice.injects(FaultKind::diskMisdirectedWrite)) {
        target = dice.random(FaultKind::diskMisdirectedWrite).randomInt64(0, places - 1);
        target += target >= own;
    }
    auto count = static_cast<int>(change.sectors.size() / kSector);
    bool torn = inDanger && count > 1 && dice.injects(FaultKind::diskTornWrite);
    if (!torn)
        return stored_.write(target * kSector, change.sectors);
    DeterministicRandom& random = dice.random(FaultKind::diskTornWrite);
    int missing = random.randomInt(0, count);
    for (int i = 0; i < count; ++i)
        if (i != missing && random.coinflip())
            stored_.write((target + i) * kSector, StringRef(change.sectors).substr(i * kSector, kSector));
}

} // namespace flow
