// Reductions inside a repeat, and Brcb.
#include <algorithm>

#include "../include/pypto_host/types.h"
#include "numerics.h"
#include "run.h"
#include "work.h"

namespace pypto_host {

namespace {

using AscendC::ReduceOrder;

float LoadFloat(const uint8_t* at, Dtype type)
{
    if (type == Dtype::F16) {
        uint16_t bits;
        std::memcpy(&bits, at, sizeof bits);
        return HalfToFloat(bits);
    }
    float value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

void StoreFloat(uint8_t* at, float value, Dtype type)
{
    if (type == Dtype::F16) {
        const uint16_t bits = FloatToHalf(value);
        std::memcpy(at, &bits, sizeof bits);
    } else {
        std::memcpy(at, &value, sizeof value);
    }
}

// A lane's value and place, combined pairwise so that the rounding of a sum is that of the hardware's tree.
struct Lane {
    float value;
    uint32_t place;
    bool active;
};

Lane Combine(const Lane& a, const Lane& b, ReduceOp op)
{
    if (!a.active || !b.active) {
        return a.active ? a : b;
    }
    if (op == ReduceOp::Sum) {
        return {a.value + b.value, a.place, true};  // fp16 too: accumulated in fp32, rounded once at the end
    }
    if (a.value != a.value) {
        return a;
    }
    if (b.value != b.value) {
        return b;
    }
    const bool second = op == ReduceOp::Max ? b.value > a.value : b.value < a.value;
    return second ? b : a;  // the smallest place among equals
}

Lane Tree(Lane* lanes, size_t count, ReduceOp op)
{
    while (count > 1) {
        const size_t pairs = (count + 1) / 2;
        for (size_t i = 0; i < pairs; ++i) {
            lanes[i] = 2 * i + 1 < count ? Combine(lanes[2 * i], lanes[2 * i + 1], op) : lanes[2 * i];
        }
        count = pairs;
    }
    return lanes[0];
}

// Where each result goes: `size` bytes at `offset` from the start of dst, for group `group` of repeat `repeat`.
struct ReduceWork final : Work {
    ReduceOp op = ReduceOp::Sum;
    ReduceScope scope = ReduceScope::Repeat;
    ReduceOrder order = ReduceOrder::ORDER_ONLY_VALUE;
    Dtype type = Dtype::F32;
    const char* name = "";
    int line = 0;
    Lanes lanes;
    Segments src;
    Segments dst;
    uint32_t result_bytes = 4;
    uint32_t group = 0;  // lanes folded into one result

    bool Active(uint32_t lane, uint64_t repeat) const
    {
        if (lanes.whole) {
            return repeat * lanes.per_repeat + lane < lanes.total;
        }
        return ((lane < 64 ? lanes.low >> lane : lanes.high >> (lane - 64)) & 1) != 0;
    }

    void Execute(Core& core, const Event& event) override
    {
        LocalMemory& ub = *core.Local(Memory::UB);
        Gathered in;
        core.Touch(ub.shadow, "UB", event, kRead, src.data(), src.size());
        Gather(ub, src, in);
        core.Touch(ub.shadow, "UB", event, kWrite, dst.data(), dst.size());
        if (!in.defined && !core.Skipped()) {
            core.Report("undefined", line, Format("%s reduces undefined lanes of UB", name));
        }
        const uint32_t size = type == Dtype::F16 ? 2 : 4;
        std::vector<uint8_t> out(TotalBytes(dst));
        uint8_t* to = out.data();
        const uint8_t* from = in.data;
        Lane row[128];
        for (uint64_t r = 0; r < lanes.repeats; ++r) {
            for (uint32_t lane = 0; lane < lanes.per_repeat; ++lane) {
                row[lane] = {0, lane, Active(lane, r)};
                if (row[lane].active) {
                    row[lane].value = LoadFloat(from, type);
                    from += size;
                }
            }
            for (uint32_t first = 0; first < lanes.per_repeat; first += group) {
                const bool any = std::any_of(row + first, row + first + group, [](const Lane& l) { return l.active; });
                if (!any) {
                    continue;
                }
                const Lane result = Tree(row + first, group, op);
                Put(to, result, size);
                to += result_bytes;
            }
        }
        Scatter(ub, dst, out.data(), nullptr);
    }

    void Put(uint8_t* to, const Lane& result, uint32_t size) const
    {
        switch (order) {
            case ReduceOrder::ORDER_VALUE_INDEX:
                StoreFloat(to, result.value, type);
                std::memcpy(to + size, &result.place, size);
                break;
            case ReduceOrder::ORDER_INDEX_VALUE:
                std::memcpy(to, &result.place, size);
                StoreFloat(to + size, result.value, type);
                break;
            case ReduceOrder::ORDER_ONLY_INDEX: std::memcpy(to, &result.place, 4); break;
            default: StoreFloat(to, result.value, type); break;
        }
    }
};

struct BrcbWork final : Work {
    int size = 4;
    int line = 0;
    Segments src;
    Segments dst;

    void Execute(Core& core, const Event& event) override
    {
        LocalMemory& ub = *core.Local(Memory::UB);
        Gathered in;
        core.Touch(ub.shadow, "UB", event, kRead, src.data(), src.size());
        Gather(ub, src, in);
        core.Touch(ub.shadow, "UB", event, kWrite, dst.data(), dst.size());
        const size_t elements = TotalBytes(src) / static_cast<size_t>(size);
        std::vector<uint8_t> out(elements * 32);
        std::vector<uint8_t> flags(in.defined ? 0 : elements * 32);
        for (size_t i = 0; i < elements; ++i) {
            for (int byte = 0; byte < 32; byte += size) {
                const size_t at = i * 32 + static_cast<size_t>(byte);
                std::memcpy(out.data() + at, in.data + i * static_cast<size_t>(size), static_cast<size_t>(size));
                if (!in.defined) {
                    std::memcpy(flags.data() + at, in.flags.data() + i * static_cast<size_t>(size),
                                static_cast<size_t>(size));
                }
            }
        }
        Scatter(ub, dst, out.data(), in.defined ? nullptr : flags.data());
    }
};

}  // namespace

void IssueReduce(const ReduceCall& call)
{
    Core& core = CurrentCore();
    if (!core.EnterOn(CoreKind::Vector, call.name, call.line)) {
        return;
    }
    auto work = std::make_unique<ReduceWork>();
    const Dtype type = call.src.dtype;
    bool fine = type == Dtype::F16 || type == Dtype::F32;
    if (!fine) {
        core.Report("unsupported-dtype", call.line,
                    Format("%s does not exist for %s on this target", call.name, DtypeName(type)));
    }
    const int size = std::max(1, DtypeSize(type));
    Lanes lanes;
    fine = ResolveLanes(core, call.name, call.line, call.mask, size, lanes) && fine;
    const Operand source = {call.src, call.src_block_stride, call.src_repeat_stride};
    fine = fine && CheckStrides(core, call.name, call.line, source, "src", false, 65535, 65535);
    if (fine && (call.dst_repeat_stride < 0 || call.dst_repeat_stride > 65535)) {
        core.Report("stride", call.line, Format("%s: dst repeat stride %lld", call.name,
                                                static_cast<long long>(call.dst_repeat_stride)));
        fine = false;
    }
    if (!fine) {
        core.Skip();
        return;
    }
    work->op = call.op;
    work->scope = call.scope;
    work->order = static_cast<ReduceOrder>(call.order);
    work->type = type;
    work->name = call.name;
    work->line = call.line;
    work->lanes = lanes;
    BuildSegments(source, size, lanes, false, work->src);
    const uint32_t element = static_cast<uint32_t>(size);
    const uint32_t in_block = 32 / element;
    uint32_t alignment = element;
    uint64_t unit = element;  // of dst_repeat_stride, in bytes
    switch (call.scope) {
        case ReduceScope::Repeat:
            work->group = lanes.per_repeat;
            if (work->order == ReduceOrder::ORDER_VALUE_INDEX || work->order == ReduceOrder::ORDER_INDEX_VALUE) {
                work->result_bytes = 2 * element;
            } else {
                work->result_bytes = work->order == ReduceOrder::ORDER_ONLY_INDEX ? 4 : element;
            }
            alignment = work->result_bytes;
            unit = work->result_bytes;
            break;
        case ReduceScope::Block:
            work->group = in_block;
            work->result_bytes = element;
            alignment = 8 * element;
            unit = alignment;
            break;
        case ReduceScope::Pair:
            work->group = 2;
            work->result_bytes = element;
            alignment = 32;
            unit = 128;
            break;
    }
    for (uint64_t r = 0; r < lanes.repeats; ++r) {
        uint64_t at = call.dst.address + r * static_cast<uint64_t>(call.dst_repeat_stride) * unit;
        for (uint32_t first = 0; first < lanes.per_repeat; first += work->group) {
            bool any = false;
            for (uint32_t lane = first; lane < first + work->group; ++lane) {
                any = any || work->Active(lane, r);
            }
            if (any) {
                work->dst.push_back({work->result_bytes, at});
            }
            at += work->result_bytes;
        }
    }
    fine = CheckLocal(core, call.name, call.line, "src", call.src, work->src, 32);
    fine = CheckLocal(core, call.name, call.line, "dst", call.dst, work->dst, alignment) && fine;
    if (fine && Overlap(work->dst, work->src)) {
        core.Report("overlap", call.line, Format("%s: dst and src overlap", call.name));
        fine = false;
    }
    if (fine && call.dst_repeat_stride == 0 && lanes.repeats > 1) {
        core.Report("overlap", call.line, Format("%s: dst repeat stride 0 writes every result to one place", call.name));
        fine = false;
    }
    if (!fine) {
        core.Skip();
        return;
    }
    if (lanes.total == 0) {
        return;
    }
    core.Issue(Pipe::V, call.name, call.line, std::move(work), lanes.total, lanes.total * element,
               static_cast<uint32_t>(lanes.repeats));
}

void IssueBrcb(const BrcbCall& call)
{
    Core& core = CurrentCore();
    if (!core.EnterOn(CoreKind::Vector, "Brcb", call.line)) {
        return;
    }
    const int size = DtypeSize(call.dst.dtype);
    bool fine = size == 2 || size == 4;
    if (!fine) {
        core.Report("unsupported-dtype", call.line, "Brcb takes 16- and 32-bit types");
    }
    if (call.repeat < 0 || call.repeat > 255) {
        core.Report("repeat", call.line, Format("Brcb: repeat %lld is outside 0 to 255",
                                                static_cast<long long>(call.repeat)));
        fine = false;
    }
    const Operand to = {call.dst, call.dst_block_stride, call.dst_repeat_stride};
    fine = CheckStrides(core, "Brcb", call.line, to, "dst", true, 65535, 65535) && fine;
    if (!fine) {
        core.Skip();
        return;
    }
    auto work = std::make_unique<BrcbWork>();
    work->size = size;
    work->line = call.line;
    const uint64_t repeats = static_cast<uint64_t>(call.repeat);
    if (repeats != 0) {
        work->src.push_back({static_cast<uint32_t>(repeats * 8 * static_cast<uint64_t>(size)), call.src.address});
    }
    for (uint64_t r = 0; r < repeats; ++r) {
        for (uint64_t block = 0; block < 8; ++block) {
            work->dst.push_back({32, call.dst.address + (r * static_cast<uint64_t>(call.dst_repeat_stride) +
                                                         block * static_cast<uint64_t>(call.dst_block_stride)) * 32});
        }
    }
    fine = CheckLocal(core, "Brcb", call.line, "src", call.src, work->src, 32);
    fine = CheckLocal(core, "Brcb", call.line, "dst", call.dst, work->dst, 32) && fine;
    if (fine && Overlap(work->dst, work->src)) {
        core.Report("overlap", call.line, "Brcb: dst and src overlap");
        fine = false;
    }
    if (!fine) {
        core.Skip();
        return;
    }
    if (repeats != 0) {
        core.Issue(Pipe::V, "Brcb", call.line, std::move(work), repeats * 8, repeats * 256,
                   static_cast<uint32_t>(repeats));
    }
}

}  // namespace pypto_host
