#include "shadow.h"

namespace pypto_host {

void Shadow::Reset(uint64_t bytes)
{
    std::free(cells_);
    count_ = (bytes + 31) / 32;
    // calloc: untouched pages of a large tensor cost nothing.
    cells_ = static_cast<Cell*>(std::calloc(count_ == 0 ? 1 : count_, sizeof(Cell)));
    spilled_.clear();
}

static bool IsMad(uint8_t kind, uint8_t how) { return kind >= kMad && kind < kDrain && (kind & how) != 0; }

static bool OrderedByHardware(uint8_t earlier, uint8_t later)
{
    return (IsMad(earlier, kMadLarge) && IsMad(later, kMadLarge)) || (IsMad(earlier, kMadUnit) && later == kDrain) ||
           (earlier == kDrain && IsMad(later, kMadUnit));
}

static bool Ordered(const Access& access, const Event& event)
{
    return access.core == event.core &&
           (event.known->Knows(access.pipe, access.event) || OrderedByHardware(access.kind, event.kind));
}

static bool Clash(uint8_t earlier, uint8_t later)
{
    if (IsRead(earlier) && IsRead(later)) {
        return false;
    }
    return !(IsAtomic(earlier) && earlier == later);
}

void Shadow::TouchCell(uint64_t index, const Event& event, uint32_t bytes, std::vector<Conflict>& conflicts)
{
    Cell& cell = cells_[index];
    if (cell.count == 0) {
        cell.first[0] = {bytes, event.number, event.core, event.pipe, event.kind};
        cell.count = 1;
        return;
    }
    const bool write = !IsRead(event.kind);
    std::vector<Access>* more = cell.more != 0 ? &spilled_[cell.more - 1] : nullptr;
    uint32_t kept = 0;
    uint32_t latest = ~0u;  // kept access of an earlier instruction that a later one may stand for
    bool merged = false;
    const auto at = [&](uint32_t i) -> Access& { return i < kInline ? cell.first[i] : (*more)[i - kInline]; };
    for (uint32_t i = 0; i < cell.count; ++i) {
        Access access = at(i);
        const uint32_t common = access.bytes & bytes;
        const bool same = access.event == event.number && access.core == event.core;
        bool ordered = true;
        if (common != 0 && !same) {
            ordered = Ordered(access, event);
            if (!ordered && Clash(access.kind, event.kind)) {
                const uint64_t low = index * 32 + static_cast<uint64_t>(__builtin_ctz(common));
                const uint64_t high = index * 32 + 32 - static_cast<uint64_t>(__builtin_clz(common));
                conflicts.push_back({access, low, high});
                ordered = true;  // reported; forget it so that it is not reported again by every later access
            }
        }
        if (write && ordered && (!same || IsRead(access.kind) || access.kind == event.kind)) {
            access.bytes &= ~common;  // anything ordered after this write is ordered after that access too
        }
        if ((IsRead(event.kind) || IsAtomic(event.kind)) && access.kind == event.kind && access.core == event.core &&
            access.pipe == event.pipe && (access.bytes & ~bytes) == 0) {
            // A later read (or atomic) of the same pipe stands for an earlier one: what is not known to come after the
            // earlier is not known to come after the later either. But not for a write of the later one's own
            // instruction, so that the latest read of another instruction stays beside it.
            if (access.event < event.number) {
                if (latest < kept && at(latest).event < access.event && (at(latest).bytes & ~access.bytes) == 0) {
                    at(latest) = access;
                    continue;
                }
                latest = kept;
            }
            merged = merged || (access.event >= event.number && (bytes & ~access.bytes) == 0);
        }
        if (access.bytes != 0) {
            at(kept++) = access;
        }
    }
    cell.count = kept;
    if (merged) {
        return;
    }
    const Access added = {bytes, event.number, event.core, event.pipe, event.kind};
    if (kept < kInline) {
        cell.first[kept] = added;
    } else {
        if (more == nullptr) {
            spilled_.emplace_back();
            cell.more = static_cast<uint32_t>(spilled_.size());
            more = &spilled_.back();
        }
        more->resize(kept - kInline);
        more->push_back(added);
    }
    cell.count = kept + 1;
}

void Shadow::Touch(const Event& event, uint64_t address, uint64_t length, std::vector<Conflict>& conflicts)
{
    const uint64_t end = address + length;
    uint64_t index = address / 32;
    while (address < end) {
        const uint64_t next = (index + 1) * 32;
        const uint64_t stop = next < end ? next : end;
        const uint32_t first = static_cast<uint32_t>(address - index * 32);
        const uint32_t size = static_cast<uint32_t>(stop - address);
        const uint32_t bytes = size == 32 ? ~0u : ((1u << size) - 1u) << first;
        TouchCell(index, event, bytes, conflicts);
        address = stop;
        ++index;
    }
}

bool Shadow::Written(uint64_t address, uint64_t length) const
{
    for (uint64_t index = address / 32; index <= (address + length - 1) / 32; ++index) {
        const Cell& cell = cells_[index];
        for (uint32_t i = 0; i < cell.count; ++i) {
            const Access& access = i < kInline ? cell.first[i] : spilled_[cell.more - 1][i - kInline];
            if (!IsRead(access.kind)) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace pypto_host
