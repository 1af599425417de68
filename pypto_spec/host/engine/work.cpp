#include "work.h"

#include <algorithm>
#include <cstring>

#include "findings.h"

namespace pypto_host {

bool ResolveLanes(Core& core, const char* name, int line, const Mask& mask, int widest, Lanes& lanes)
{
    ScalarState& state = core.state;
    lanes.per_repeat = static_cast<uint32_t>(256 / (widest < 2 ? 2 : widest));
    if (mask.form == MaskForm::Count) {
        if (mask.amount < 0) {
            core.Report("mask", line, Format("%s: count %lld is negative", name, static_cast<long long>(mask.amount)));
            return false;
        }
        // The count form switches to counter mode inside and leaves normal mode and a full mask behind.
        state.counter = false;
        state.mask_chosen = false;
        state.mask_low = state.mask_high = ~0ull;
        lanes.whole = true;
        lanes.total = static_cast<uint64_t>(mask.amount);
        lanes.repeats = (lanes.total + lanes.per_repeat - 1) / lanes.per_repeat;
        return true;
    }
    if (mask.repeat < 0 || mask.repeat > 255) {
        core.Report("repeat", line, Format("%s: repeat %lld is outside 0 to 255", name,
                                           static_cast<long long>(mask.repeat)));
        return false;
    }
    if (state.counter) {
        if (mask.sets_mask) {
            core.Report("mask", line,
                        Format("%s sets its own mask while counter mode is on; pass isSetMask=false", name));
            return false;
        }
        lanes.whole = true;
        lanes.total = state.mask_low;
        lanes.repeats = (lanes.total + lanes.per_repeat - 1) / lanes.per_repeat;
        if (lanes.total == 0 || lanes.total > (1u << 20)) {
            core.Report("mask", line, Format("%s: counter mode with a length of %llu", name,
                                             static_cast<unsigned long long>(lanes.total)));
            return false;
        }
        return true;
    }
    uint64_t low = state.mask_low;
    uint64_t high = state.mask_high;
    if (mask.sets_mask) {
        if (mask.form == MaskForm::First) {
            if (mask.amount < 1 || mask.amount > lanes.per_repeat) {
                core.Report("mask", line, Format("%s: mask %lld is outside 1 to %u lanes of this type", name,
                                                 static_cast<long long>(mask.amount), lanes.per_repeat));
                return false;
            }
            const uint64_t amount = static_cast<uint64_t>(mask.amount);
            low = amount >= 64 ? ~0ull : (1ull << amount) - 1;
            high = amount <= 64 ? 0 : amount >= 128 ? ~0ull : (1ull << (amount - 64)) - 1;
        } else {
            low = mask.low;
            high = mask.high;
            const bool outside = (lanes.per_repeat <= 64 && high != 0) ||
                                 (lanes.per_repeat < 64 && (low >> lanes.per_repeat) != 0);
            if ((low | high) == 0 || outside) {
                core.Report("mask", line, Format("%s: bit mask {0x%llx, 0x%llx} %s", name,
                                                 static_cast<unsigned long long>(low),
                                                 static_cast<unsigned long long>(high),
                                                 outside ? "selects lanes this type does not have" : "selects no lane"));
                return false;
            }
        }
        state.mask_low = low;  // stays in the mask register
        state.mask_high = high;
        state.mask_chosen = false;
    }
    if (lanes.per_repeat <= 64) {
        high = 0;
    }
    if (lanes.per_repeat < 64) {
        low &= (1ull << lanes.per_repeat) - 1;
    }
    lanes.low = low;
    lanes.high = high;
    lanes.repeats = static_cast<uint64_t>(mask.repeat);
    const uint64_t active = static_cast<uint64_t>(__builtin_popcountll(low) + __builtin_popcountll(high));
    if (active == 0) {
        core.Report("mask", line, Format("%s: the vector mask selects no lane", name));
        return false;
    }
    lanes.total = active * lanes.repeats;
    lanes.whole = active == lanes.per_repeat;
    return true;
}

static void Push(Segments& segments, uint64_t address, uint32_t length)
{
    if (!segments.empty() && segments.back().address + segments.back().length == address) {
        segments.back().length += length;
        return;
    }
    segments.push_back({length, address});
}

void BuildSegments(const Operand& operand, int size, const Lanes& lanes, bool packed, Segments& segments)
{
    const uint64_t bytes = static_cast<uint64_t>(size);
    const uint64_t row = lanes.per_repeat * bytes;
    if (lanes.whole && (packed || (operand.block_stride == 1 && operand.repeat_stride * 32 ==
                                   static_cast<int64_t>(row)))) {
        if (lanes.total != 0) {
            segments.push_back({static_cast<uint32_t>(lanes.total * bytes), operand.tensor.address});
        }
        return;
    }
    const uint32_t in_block = static_cast<uint32_t>(32 / bytes);
    for (uint64_t r = 0; r < lanes.repeats; ++r) {
        const uint64_t start = operand.tensor.address + r * static_cast<uint64_t>(operand.repeat_stride) * 32;
        uint32_t lane = 0;
        uint32_t stop = lanes.per_repeat;
        if (lanes.whole && (r + 1) * lanes.per_repeat > lanes.total) {
            stop = static_cast<uint32_t>(lanes.total - r * lanes.per_repeat);
        }
        while (lane < stop) {
            if (!lanes.whole) {
                const uint64_t word = (lane < 64 ? lanes.low >> lane : lanes.high >> (lane - 64)) & 1;
                if (word == 0) {
                    ++lane;
                    continue;
                }
            }
            const uint32_t block = lane / in_block;
            uint32_t end = std::min(stop, (block + 1) * in_block);
            if (!lanes.whole) {
                uint32_t run = lane + 1;
                while (run < end && ((run < 64 ? lanes.low >> run : lanes.high >> (run - 64)) & 1) != 0) {
                    ++run;
                }
                end = run;
            }
            Push(segments, start + block * static_cast<uint64_t>(operand.block_stride) * 32 + (lane % in_block) * bytes,
                 static_cast<uint32_t>((end - lane) * bytes));
            lane = end;
        }
    }
}

bool CheckLocal(Core& core, const char* name, int line, const char* role, const LocalRef& tensor,
                const Segments& segments, uint32_t alignment, Memory wanted)
{
    const char* where = MemoryName(wanted);
    if (tensor.memory != wanted) {
        core.Report("wrong-memory", line, Format("%s: %s is in %s, only %s is possible here", name, role,
                                                 MemoryName(tensor.memory), where));
        return false;
    }
    if (tensor.overflow != 0 || tensor.address % alignment != 0) {
        core.Report(tensor.overflow != 0 ? "out-of-bounds" : "misaligned", line,
                    Format("%s: %s starts at %s byte %llu%s", name, role, where,
                           static_cast<unsigned long long>(tensor.overflow != 0 ? tensor.overflow : tensor.address),
                           tensor.overflow != 0 ? ", beyond every buffer"
                                                : Format(", not a multiple of %u B", alignment).c_str()));
        return false;
    }
    uint64_t low = ~0ull;
    uint64_t high = 0;
    for (const Segment& segment : segments) {
        low = std::min(low, segment.address);
        high = std::max(high, segment.address + segment.length);
    }
    if (!segments.empty() && (low < tensor.base || high > tensor.limit)) {
        core.Report("out-of-bounds", line,
                    Format("%s: %s touches %s bytes [%llu, %llu), its buffer is [%u, %u)", name, role, where,
                           static_cast<unsigned long long>(low), static_cast<unsigned long long>(high), tensor.base,
                           tensor.limit));
        return false;
    }
    return true;
}

bool CheckStrides(Core& core, const char* name, int line, const Operand& operand, const char* role, bool is_dst,
                  int64_t most_block, int64_t most_repeat)
{
    if (is_dst && operand.block_stride == 0) {
        core.Report("stride", line, Format("%s: block stride 0 of the destination is undefined", name));
        return false;
    }
    if (operand.block_stride < 0 || operand.block_stride > most_block || operand.repeat_stride < 0 ||
        operand.repeat_stride > most_repeat) {
        core.Report("stride", line,
                    Format("%s: %s has block stride %lld (at most %lld) and repeat stride %lld (at most %lld)", name,
                           role, static_cast<long long>(operand.block_stride), static_cast<long long>(most_block),
                           static_cast<long long>(operand.repeat_stride), static_cast<long long>(most_repeat)));
        return false;
    }
    return true;
}

bool SameSegments(const Segments& a, const Segments& b)
{
    if (a.size() != b.size()) {
        return false;
    }
    for (size_t i = 0; i < a.size(); ++i) {
        if (a[i].address != b[i].address || a[i].length != b[i].length) {
            return false;
        }
    }
    return true;
}

bool Overlap(const Segments& a, const Segments& b)
{
    const auto extent = [](const Segments& segments) {
        std::pair<uint64_t, uint64_t> range(~0ull, 0);
        for (const Segment& segment : segments) {
            range.first = std::min(range.first, segment.address);
            range.second = std::max(range.second, segment.address + segment.length);
        }
        return range;
    };
    const auto first = extent(a);
    const auto second = extent(b);
    if (first.second <= second.first || second.second <= first.first) {
        return false;
    }
    Segments left = a;
    Segments right = b;
    const auto by_address = [](const Segment& x, const Segment& y) { return x.address < y.address; };
    std::sort(left.begin(), left.end(), by_address);
    std::sort(right.begin(), right.end(), by_address);
    size_t i = 0;
    size_t j = 0;
    while (i < left.size() && j < right.size()) {
        if (left[i].address + left[i].length <= right[j].address) {
            ++i;
        } else if (right[j].address + right[j].length <= left[i].address) {
            ++j;
        } else {
            return true;
        }
    }
    return false;
}

bool Distinct(const Segments& segments)
{
    Segments sorted = segments;
    std::sort(sorted.begin(), sorted.end(), [](const Segment& x, const Segment& y) { return x.address < y.address; });
    for (size_t i = 1; i < sorted.size(); ++i) {
        if (sorted[i - 1].address + sorted[i - 1].length > sorted[i].address) {
            return false;
        }
    }
    return true;
}

bool AllDefined(const uint8_t* flags, uint64_t bytes)
{
    while (bytes >= 8) {
        uint64_t word;
        std::memcpy(&word, flags, sizeof word);
        if (word != ~0ull) {
            return false;
        }
        flags += 8;
        bytes -= 8;
    }
    return std::all_of(flags, flags + bytes, [](uint8_t flag) { return flag == kDefined; });
}

void Gather(const LocalMemory& memory, const Segments& segments, Gathered& out)
{
    out.defined = true;
    for (const Segment& segment : segments) {
        if (!AllDefined(memory.defined.data() + segment.address, segment.length)) {
            out.defined = false;
            break;
        }
    }
    const uint64_t total = TotalBytes(segments);
    if (segments.size() == 1) {
        out.data = memory.data.data() + segments[0].address;
    } else {
        out.copy.resize(total);
        uint8_t* to = out.copy.data();
        for (const Segment& segment : segments) {
            std::memcpy(to, memory.data.data() + segment.address, segment.length);
            to += segment.length;
        }
        out.data = out.copy.data();
    }
    if (!out.defined) {
        out.flags.resize(total);
        uint8_t* to = out.flags.data();
        for (const Segment& segment : segments) {
            std::memcpy(to, memory.defined.data() + segment.address, segment.length);
            to += segment.length;
        }
    }
}

void Scatter(LocalMemory& memory, const Segments& segments, const uint8_t* data, const uint8_t* flags)
{
    for (const Segment& segment : segments) {
        std::memcpy(memory.data.data() + segment.address, data, segment.length);
        data += segment.length;
        if (flags == nullptr) {
            std::memset(memory.defined.data() + segment.address, kDefined, segment.length);
        } else {
            std::memcpy(memory.defined.data() + segment.address, flags, segment.length);
            flags += segment.length;
        }
    }
}

}  // namespace pypto_host
