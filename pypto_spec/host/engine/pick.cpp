// Compare, Select and Gather.
//
// Comparison results are bits, and a byte of them may hold lanes of a row's undefined tail beside defined ones; the
// flags of UB are kept per bit for that reason.
#include <algorithm>
#include <cstring>

#include "../include/pypto_host/types.h"
#include "numerics.h"
#include "run.h"
#include "work.h"

namespace pypto_host {

namespace {

using AscendC::CMPMODE;
using AscendC::SELMODE;

double Number(const uint8_t* at, Dtype type)
{
    switch (type) {
        case Dtype::F16: {
            uint16_t bits;
            std::memcpy(&bits, at, sizeof bits);
            return HalfToFloat(bits);
        }
        case Dtype::I32: {
            int32_t value;
            std::memcpy(&value, at, sizeof value);
            return value;
        }
        default: {
            float value;
            std::memcpy(&value, at, sizeof value);
            return value;
        }
    }
}

bool Holds(double a, double b, CMPMODE mode)
{
    switch (mode) {
        case CMPMODE::LT: return a < b;
        case CMPMODE::GT: return a > b;
        case CMPMODE::EQ: return a == b;
        case CMPMODE::LE: return a <= b;
        case CMPMODE::GE: return a >= b;
        default: return a != b;
    }
}

struct PickWork final : Work {
    PickCall call;
    uint64_t size = 4;
    Segments dst;
    Segments mask;
    Segments src[2];
    int sources = 1;

    void Execute(Core& core, const Event& event) override
    {
        LocalMemory& ub = *core.Local(Memory::UB);
        Gathered chosen;
        Gathered in[2];
        if (!mask.empty()) {
            core.Touch(ub.shadow, "UB", event, kRead, mask.data(), mask.size());
            Gather(ub, mask, chosen);
            chosen.flags.resize(TotalBytes(mask), kDefined);
        }
        if (call.op == PickOp::Gather) {
            Fetch(core, ub, event, chosen);
            return;
        }
        for (int i = 0; i < sources; ++i) {
            core.Touch(ub.shadow, "UB", event, kRead, src[i].data(), src[i].size());
            Gather(ub, src[i], in[i]);
            in[i].flags.resize(TotalBytes(src[i]), kDefined);
        }
        core.Touch(ub.shadow, "UB", event, kWrite, dst.data(), dst.size());
        std::vector<uint8_t> out(TotalBytes(dst), 0);
        std::vector<uint8_t> flags(out.size(), call.op == PickOp::Compare ? 0 : kDefined);
        const uint8_t* scalar = reinterpret_cast<const uint8_t*>(&call.scalar);
        for (uint64_t i = 0; i < call.count; ++i) {
            const uint8_t bit = static_cast<uint8_t>(1u << (i % 8));
            const uint8_t* second = call.has_scalar ? scalar : in[1].data + i * size;
            if (call.op == PickOp::Compare) {
                const bool defined = AllDefined(in[0].flags.data() + i * size, size) &&
                                     (call.has_scalar || AllDefined(in[1].flags.data() + i * size, size));
                const bool holds = Holds(Number(in[0].data + i * size, call.src[0].dtype),
                                         Number(second, call.src[0].dtype), static_cast<CMPMODE>(call.mode));
                out[i / 8] = static_cast<uint8_t>(out[i / 8] | (holds ? bit : 0));
                flags[i / 8] = static_cast<uint8_t>(flags[i / 8] | (defined ? bit : 0));
                continue;
            }
            const bool first = (chosen.data[i / 8] & bit) != 0;
            std::memcpy(out.data() + i * size, first ? in[0].data + i * size : second, size);
            const bool known = (chosen.flags[i / 8] & bit) != 0;
            const bool lane = (first || !call.has_scalar) ? AllDefined(in[first ? 0 : 1].flags.data() + i * size, size)
                                                          : true;
            // A lane picked by an undefined bit is undefined itself; it flows on like any other.
            std::fill_n(flags.data() + i * size, size, known && lane ? kDefined : uint8_t(0));
        }
        Scatter(ub, dst, out.data(), flags.data());
    }

    void Fetch(Core& core, LocalMemory& ub, const Event& event, const Gathered& offsets)
    {
        if (!AllDefined(offsets.flags.data(), offsets.flags.size()) && !core.Skipped()) {
            core.Report("undefined", call.line, "Gather takes addresses from undefined lanes of UB");
            core.Skip();
            return;
        }
        Segments from;
        for (uint64_t i = 0; i < call.count; ++i) {
            uint32_t offset;
            std::memcpy(&offset, offsets.data + i * sizeof offset, sizeof offset);
            const uint64_t at = call.src[0].address + call.base + offset;
            if ((call.base + offset) % size != 0 || at < call.src[0].base || at + size > call.src[0].limit) {
                core.Report((call.base + offset) % size != 0 ? "misaligned" : "out-of-bounds", call.line,
                            Format("Gather: offset %u of lane %llu leads to UB byte %llu, the buffer of src is [%u, %u)",
                                   offset, static_cast<unsigned long long>(i), static_cast<unsigned long long>(at),
                                   call.src[0].base, call.src[0].limit));
                core.Skip();
                return;
            }
            from.push_back({static_cast<uint32_t>(size), at});
        }
        if (Overlap(from, dst)) {
            core.Report("overlap", call.line, "Gather: dst and src overlap");
        }
        Gathered in;
        core.Touch(ub.shadow, "UB", event, kRead, from.data(), from.size());
        Gather(ub, from, in);
        core.Touch(ub.shadow, "UB", event, kWrite, dst.data(), dst.size());
        const std::vector<uint8_t> data(in.data, in.data + TotalBytes(from));
        Scatter(ub, dst, data.data(), in.defined ? nullptr : in.flags.data());
    }
};

bool Supported(const PickCall& call)
{
    const Dtype type = call.src[0].dtype;
    const bool floating = type == Dtype::F16 || type == Dtype::F32;
    switch (call.op) {
        case PickOp::Compare:
            return floating || (type == Dtype::I32 && static_cast<CMPMODE>(call.mode) == CMPMODE::EQ);
        case PickOp::Select: return floating;
        case PickOp::Gather: {
            const int size = DtypeSize(type);
            return size == 2 || size == 4;
        }
    }
    return false;
}

}  // namespace

void IssuePick(const PickCall& call)
{
    Core& core = CurrentCore();
    if (!core.EnterOn(CoreKind::Vector, call.name, call.line)) {
        return;
    }
    // The count form leaves normal mode and a full mask behind, like every other.
    core.state.counter = false;
    core.state.mask_chosen = false;
    core.state.mask_low = core.state.mask_high = ~0ull;
    auto work = std::make_unique<PickWork>();
    work->call = call;
    work->size = static_cast<uint64_t>(std::max(1, DtypeSize(call.src[0].dtype)));
    work->sources = call.op == PickOp::Gather || call.has_scalar ? 1 : 2;
    bool fine = Supported(call);
    if (!fine) {
        core.Report("unsupported-dtype", call.line, Format("%s does not exist for %s (in this mode) on this target",
                                                           call.name, DtypeName(call.src[0].dtype)));
    }
    const uint64_t bytes = call.count * work->size;
    if (call.op == PickOp::Compare && bytes % 256 != 0) {
        core.Report("truncated", call.line, Format("%s of %llu bytes: only multiples of 256 B are compared", call.name,
                                                   static_cast<unsigned long long>(bytes)));
        fine = false;
    }
    if (call.op == PickOp::Select && (static_cast<SELMODE>(call.mode) == SELMODE::VSEL_CMPMASK_SPR ||
                                      (static_cast<SELMODE>(call.mode) == SELMODE::VSEL_TENSOR_SCALAR_MODE) !=
                                          call.has_scalar)) {
        core.Report("unsupported", call.line, "Select: the mode must name what src1 is, and the mask-register mode is "
                                              "not modelled");
        fine = false;
    }
    if (!fine || call.count == 0) {
        if (!fine) {
            core.Skip();
        }
        return;
    }
    const auto whole = [&](const LocalRef& tensor, uint64_t length) {
        return Segments{{static_cast<uint32_t>(length), tensor.address}};
    };
    const uint64_t bits = (call.count + 7) / 8;
    work->dst = whole(call.dst, call.op == PickOp::Compare ? bits : bytes);
    fine = CheckLocal(core, call.name, call.line, "dst", call.dst, work->dst, 32);
    if (call.op != PickOp::Compare) {
        work->mask = whole(call.mask, call.op == PickOp::Select ? bits : call.count * sizeof(uint32_t));
        fine = CheckLocal(core, call.name, call.line, call.op == PickOp::Select ? "selMask" : "srcOffset", call.mask,
                          work->mask, 32) && fine;
        if (fine && Overlap(work->dst, work->mask)) {
            core.Report("overlap", call.line, Format("%s: dst overlaps the %s", call.name,
                                                     call.op == PickOp::Select ? "mask" : "offsets"));
            fine = false;
        }
    }
    if (call.op == PickOp::Gather) {
        fine = CheckLocal(core, call.name, call.line, "src", call.src[0], {}, 32) && fine;
    } else {
        for (int i = 0; i < work->sources; ++i) {
            work->src[i] = whole(call.src[i], bytes);
            fine = CheckLocal(core, call.name, call.line, i == 0 ? "src0" : "src1", call.src[i], work->src[i], 32) &&
                   fine;
            if (fine && !(call.op == PickOp::Select && SameSegments(work->dst, work->src[i])) &&
                Overlap(work->dst, work->src[i])) {
                core.Report("overlap", call.line, Format("%s: dst and src%d overlap", call.name, i));
                fine = false;
            }
        }
    }
    if (!fine) {
        core.Skip();
        return;
    }
    core.Issue(Pipe::V, call.name, call.line, std::move(work), call.count, bytes,
               static_cast<uint32_t>((bytes + 255) / 256));
}

}  // namespace pypto_host
