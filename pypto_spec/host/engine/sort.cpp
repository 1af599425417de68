// Sort32 and MrgSort.
//
// A record is 8 B: the element in the low bytes, its index in the high four; between a half and its index two bytes are
// undefined. What is sorted by undefined elements is undefined as a whole, without a finding: it flows on like any
// other lane, so that rows beyond a tile's valid ones may be sorted along. NaN has no place in an order; here it comes
// last, which is neither torch's rule nor one to rely on.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "numerics.h"
#include "run.h"
#include "work.h"

namespace pypto_host {

namespace {

constexpr uint64_t kRecord = 8;
constexpr uint64_t kSorted = 32;
constexpr int kLists = 4;

float Key(const uint8_t* at, uint64_t size)
{
    float value;
    if (size == 2) {
        uint16_t bits;
        std::memcpy(&bits, at, sizeof bits);
        value = HalfToFloat(bits);
    } else {
        std::memcpy(&value, at, sizeof value);
    }
    return value;
}

// Whether `a` stands before `b` wherever it came from: a strict weak order, NaN below everything.
bool Before(float a, float b)
{
    return std::isnan(b) ? !std::isnan(a) : a > b;
}

struct SortWork final : Work {
    SortOp op = SortOp::Blocks;
    uint64_t size = 4;
    uint64_t repeat = 1;
    int lists = 1;
    uint64_t lengths[kLists] = {};
    Segments dst;
    Segments src[kLists];
    Segments index;

    void Execute(Core& core, const Event& event) override
    {
        LocalMemory& ub = *core.Local(Memory::UB);
        Gathered in[kLists];
        Gathered numbers;
        for (int i = 0; i < lists; ++i) {
            Fetch(core, ub, event, src[i], in[i]);
        }
        if (op == SortOp::Blocks) {
            Fetch(core, ub, event, index, numbers);
        }
        core.Touch(ub.shadow, "UB", event, kWrite, dst.data(), dst.size());
        std::vector<uint8_t> out(TotalBytes(dst), 0);
        std::vector<uint8_t> flags(out.size(), 0);
        const uint64_t each = out.size() / repeat;
        for (uint64_t r = 0; r < repeat; ++r) {
            if (op == SortOp::Blocks) {
                SortBlock(in[0], numbers, r, out.data() + r * each, flags.data() + r * each);
            } else {
                MergeLists(in, r, out.data() + r * each, flags.data() + r * each);
            }
        }
        Scatter(ub, dst, out.data(), flags.data());
    }

    static void Fetch(Core& core, LocalMemory& ub, const Event& event, const Segments& segments, Gathered& into)
    {
        core.Touch(ub.shadow, "UB", event, kRead, segments.data(), segments.size());
        Gather(ub, segments, into);
        into.flags.resize(TotalBytes(segments), kDefined);
    }

    void SortBlock(const Gathered& elements, const Gathered& numbers, uint64_t r, uint8_t* out, uint8_t* flags) const
    {
        const uint8_t* from = elements.data + r * kSorted * size;
        const uint8_t* with = numbers.data + r * kSorted * 4;
        uint64_t order[kSorted];
        std::iota(order, order + kSorted, uint64_t(0));
        std::stable_sort(order, order + kSorted, [&](uint64_t a, uint64_t b) {
            return Before(Key(from + a * size, size), Key(from + b * size, size));
        });
        const bool defined = AllDefined(elements.flags.data() + r * kSorted * size, kSorted * size);
        for (uint64_t i = 0; i < kSorted; ++i) {
            std::memcpy(out + i * kRecord, from + order[i] * size, size);
            std::memcpy(out + i * kRecord + 4, with + order[i] * 4, 4);
            if (defined) {
                std::fill_n(flags + i * kRecord, size, kDefined);
                std::memcpy(flags + i * kRecord + 4, numbers.flags.data() + (r * kSorted + order[i]) * 4, 4);
            }
        }
    }

    void MergeLists(const Gathered (&in)[kLists], uint64_t r, uint8_t* out, uint8_t* flags) const
    {
        uint64_t next[kLists] = {};
        bool defined = true;
        for (;;) {
            int best = -1;
            float top = 0;
            for (int i = 0; i < lists; ++i) {
                if (next[i] == lengths[i]) {
                    continue;
                }
                const float head = Key(in[i].data + (r * lengths[i] + next[i]) * kRecord, size);
                if (best < 0 || Before(head, top)) {
                    best = i;
                    top = head;
                }
            }
            if (best < 0) {
                break;
            }
            const uint64_t at = (r * lengths[best] + next[best]++) * kRecord;
            std::memcpy(out, in[best].data + at, kRecord);
            std::memcpy(flags, in[best].flags.data() + at, kRecord);
            defined = defined && AllDefined(flags, size);
            out += kRecord;
            flags += kRecord;
        }
        if (!defined) {
            const uint64_t bytes = std::accumulate(lengths, lengths + lists, uint64_t(0)) * kRecord;
            std::fill_n(flags - bytes, bytes, uint8_t(0));
        }
    }
};

Segments Run(const LocalRef& tensor, uint64_t bytes)
{
    return bytes == 0 ? Segments{} : Segments{{static_cast<uint32_t>(bytes), tensor.address}};
}

bool CheckedRepeat(Core& core, const SortCall& call)
{
    if (call.repeat >= 0 && call.repeat <= 255) {
        return true;
    }
    core.Report("repeat", call.line,
                Format("%s: repeat %lld is outside 0 to 255", call.name, static_cast<long long>(call.repeat)));
    return false;
}

bool Blocks(Core& core, const SortCall& call, SortWork& work)
{
    const uint64_t count = work.repeat * kSorted;
    work.dst = Run(call.dst, count * kRecord);
    work.src[0] = Run(call.src[0], count * work.size);
    work.index = Run(call.index, count * 4);
    const uint32_t grid = static_cast<uint32_t>(kSorted * work.size);
    bool fine = CheckLocal(core, call.name, call.line, "dst", call.dst, work.dst, kSorted * kRecord);
    fine = CheckLocal(core, call.name, call.line, "src0", call.src[0], work.src[0], grid) && fine;
    fine = CheckLocal(core, call.name, call.line, "src1", call.index, work.index, kSorted * 4) && fine;
    if (fine && (Overlap(work.dst, work.src[0]) || Overlap(work.dst, work.index))) {
        core.Report("overlap", call.line, "Sort32: dst overlaps a source");
        fine = false;
    }
    return fine;
}

bool Merge(Core& core, const SortCall& call, SortWork& work)
{
    if (call.lists != 3 && call.lists != 7 && call.lists != 15) {
        core.Report("lists", call.line, Format("MrgSort: validBit is 3, 7 or 15, not %lld",
                                               static_cast<long long>(call.lists)));
        return false;
    }
    if (call.suspends) {
        core.Report("unsupported", call.line, "MrgSort: stopping where a list is exhausted is not modelled");
        return false;
    }
    work.lists = call.lists == 3 ? 2 : call.lists == 7 ? 3 : 4;
    uint64_t total = 0;
    bool follow = work.lists == kLists;
    for (int i = 0; i < work.lists; ++i) {
        if (call.lengths[i] < 0 || call.lengths[i] > 4095) {
            core.Report("lists", call.line, Format("MrgSort: list %d of %lld records; 0 to 4095 are possible", i,
                                                   static_cast<long long>(call.lengths[i])));
            return false;
        }
        work.lengths[i] = static_cast<uint64_t>(call.lengths[i]);
        follow = follow && work.lengths[i] == work.lengths[0] &&
                 call.src[i].address == call.src[0].address + i * work.lengths[0] * kRecord;
        total += work.lengths[i];
    }
    if (work.repeat > 1 && !follow) {
        core.Report("repeat", call.line, "MrgSort repeats over four lists of one length, one behind the other, only");
        return false;
    }
    work.dst = Run(call.dst, work.repeat * total * kRecord);
    bool fine = CheckLocal(core, call.name, call.line, "dst", call.dst, work.dst, 32);
    for (int i = 0; i < work.lists; ++i) {
        const uint64_t bytes = work.lengths[i] * kRecord;
        for (uint64_t r = 0; r < work.repeat && bytes != 0; ++r) {
            work.src[i].push_back({static_cast<uint32_t>(bytes), call.src[i].address + r * total * kRecord});
        }
        fine = CheckLocal(core, call.name, call.line, Format("src%d", i + 1).c_str(), call.src[i], work.src[i],
                          static_cast<uint32_t>(kRecord)) && fine;
        if (fine && Overlap(work.dst, work.src[i])) {
            core.Report("overlap", call.line, Format("MrgSort: dst and src%d overlap", i + 1));
            fine = false;
        }
    }
    return fine;
}

}  // namespace

void IssueSort(const SortCall& call)
{
    Core& core = CurrentCore();
    if (!core.EnterOn(CoreKind::Vector, call.name, call.line)) {
        return;
    }
    const Dtype type = call.dst.dtype;
    bool fine = type == Dtype::F16 || type == Dtype::F32;
    if (!fine) {
        core.Report("unsupported-dtype", call.line, Format("%s takes half and float, not %s", call.name,
                                                           DtypeName(type)));
    }
    fine = CheckedRepeat(core, call) && fine;
    if (fine && call.repeat == 0) {
        return;
    }
    auto work = std::make_unique<SortWork>();
    work->op = call.op;
    if (fine) {
        work->size = static_cast<uint64_t>(DtypeSize(type));
        work->repeat = static_cast<uint64_t>(call.repeat);
        fine = call.op == SortOp::Blocks ? Blocks(core, call, *work) : Merge(core, call, *work);
    }
    if (!fine) {
        core.Skip();
        return;
    }
    const uint64_t bytes = TotalBytes(work->dst);
    core.Issue(Pipe::V, call.name, call.line, std::move(work), bytes / kRecord, bytes,
               static_cast<uint32_t>((bytes + 255) / 256));
}

}  // namespace pypto_host
