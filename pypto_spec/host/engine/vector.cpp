// Elementwise vector instructions: checks at dispatch, effect at completion.
#include <algorithm>

#include "elementwise.h"
#include "numerics.h"
#include "run.h"
#include "work.h"

namespace pypto_host {

namespace {

struct VectorWork final : Work {
    LoopFunction loop = nullptr;
    CastFunction cast = nullptr;
    float scale = 0;
    uint8_t round = 0;
    bool round_shift = false;
    uint64_t scalar = 0;
    uint64_t count = 0;
    int sources = 0;
    int dst_size = 0;
    int src_size[2] = {0, 0};
    Segments dst;
    Segments src[2];
    bool bitwise = false;

    void Execute(Core& core, const Event& event) override
    {
        LocalMemory& ub = *core.Local(Memory::UB);
        Gathered in[2];
        for (int i = 0; i < sources; ++i) {
            core.Touch(ub.shadow, "UB", event, kRead, src[i].data(), src[i].size());
            Gather(ub, src[i], in[i]);
        }
        core.Touch(ub.shadow, "UB", event, kWrite, dst.data(), dst.size());
        std::vector<uint8_t> flags;
        for (int i = 0; i < sources; ++i) {
            if (!in[i].defined) {
                flags.resize(count * static_cast<uint64_t>(dst_size), kDefined);
                const uint64_t size = static_cast<uint64_t>(src_size[i]);
                if (bitwise) {  // a bit depends on the same bits alone: packed predicates end within a byte
                    for (uint64_t byte = 0; byte < flags.size(); ++byte) {
                        flags[byte] = static_cast<uint8_t>(flags[byte] & in[i].flags[byte]);
                    }
                    continue;
                }
                for (uint64_t lane = 0; lane < count; ++lane) {
                    const uint8_t* from = in[i].flags.data() + lane * size;
                    if (!AllDefined(from, size)) {
                        std::fill_n(flags.data() + lane * static_cast<uint64_t>(dst_size), dst_size, 0);
                    }
                }
            }
        }
        // A single run that is not a shifted overlap (refused at dispatch) can be computed in place.
        const bool direct = dst.size() == 1;
        std::vector<uint8_t> out;
        void* to = nullptr;
        if (direct) {
            to = ub.data.data() + dst[0].address;
        } else {
            out.resize(count * static_cast<uint64_t>(dst_size));
            to = out.data();
        }
        if (cast != nullptr) {
            cast({to, in[0].data, count, round, scale});
        } else {
            loop({to, in[0].data, in[1].data, scalar, count, round_shift});
        }
        if (direct) {
            if (flags.empty()) {
                std::fill_n(ub.defined.data() + dst[0].address, dst[0].length, kDefined);
            } else {
                std::copy(flags.begin(), flags.end(), ub.defined.data() + dst[0].address);
            }
        } else {
            Scatter(ub, dst, out.data(), flags.empty() ? nullptr : flags.data());
        }
    }
};

}  // namespace

void IssueVector(const VectorCall& call)
{
    Core& core = CurrentCore();
    if (!core.EnterOn(CoreKind::Vector, call.name, call.line)) {
        return;
    }
    const Dtype dst_type = call.dst.tensor.dtype;
    const Dtype src_type = call.sources > 0 ? call.src[0].tensor.dtype : dst_type;
    auto work = std::make_unique<VectorWork>();
    bool fine = true;
    if (call.op == VectorOp::Cast) {
        const CastRule rule = FindCast(dst_type, src_type);
        if (rule.function == nullptr) {
            core.Report("unsupported-dtype", call.line, Format("Cast from %s to %s does not exist on this target",
                                                              DtypeName(src_type), DtypeName(dst_type)));
            fine = false;
        } else if (((rule.rounds >> call.round) & 1) == 0) {
            core.Report("unsupported-round", call.line, Format("Cast from %s to %s does not take round mode %d",
                                                               DtypeName(src_type), DtypeName(dst_type), call.round));
            fine = false;
        } else if (rule.needs_scale && !core.state.has_deq) {
            core.Report("state", call.line, "Cast from int32 to fp16 needs SetDeqScale before it");
            fine = false;
        }
        work->cast = rule.function;
        work->round = call.round;
        work->scale = HalfToFloat(core.state.deq);
    } else {
        work->loop = FindLoop(call.op, dst_type, src_type);
        if (work->loop == nullptr) {
            core.Report("unsupported-dtype", call.line,
                        Format("%s does not exist for %s on this target", call.name, DtypeName(dst_type)));
            fine = false;
        }
    }
    const int dst_size = std::max(1, DtypeSize(dst_type));
    const int src_size = std::max(1, DtypeSize(src_type));
    Lanes lanes;
    fine = ResolveLanes(core, call.name, call.line, call.mask, std::max(dst_size, src_size), lanes) && fine;
    const bool packed = call.mask.form == MaskForm::Count;
    static const char* const kRoles[] = {"src0", "src1"};
    if (fine && !packed) {
        // Widths of the stride fields: Copy 16 and 12 bits, two sources 8 and 8, one source or none 16 and 8.
        const int64_t block = call.sources == 2 ? 255 : 65535;
        const int64_t repeat = call.op == VectorOp::Copy ? 4095 : 255;
        fine = CheckStrides(core, call.name, call.line, call.dst, "dst", true, block, repeat);
        for (int i = 0; i < call.sources && fine; ++i) {
            fine = CheckStrides(core, call.name, call.line, call.src[i], kRoles[i], false, block, repeat);
        }
    }
    if (!fine) {
        core.Skip();
        return;
    }
    work->scalar = call.scalar;
    work->round_shift = call.round_shift;
    work->bitwise = call.op == VectorOp::And || call.op == VectorOp::Or || call.op == VectorOp::Not;
    work->count = lanes.total;
    work->dst_size = dst_size;
    work->sources = call.sources;
    BuildSegments(call.dst, dst_size, lanes, packed, work->dst);
    fine = CheckLocal(core, call.name, call.line, "dst", call.dst.tensor, work->dst, 32);
    for (int i = 0; i < call.sources; ++i) {
        work->src_size[i] = src_size;
        BuildSegments(call.src[i], src_size, lanes, packed, work->src[i]);
        fine = CheckLocal(core, call.name, call.line, kRoles[i], call.src[i].tensor, work->src[i], 32) && fine;
        if (fine && !(SameSegments(work->dst, work->src[i]) && dst_size == src_size) &&
            Overlap(work->dst, work->src[i])) {
            core.Report("overlap", call.line,
                        Format("%s: dst and %s overlap without being the same lanes", call.name, kRoles[i]));
            fine = false;
        }
    }
    if (fine && dst_size != 0 && work->dst.size() > 1) {
        Segments sorted = work->dst;
        std::sort(sorted.begin(), sorted.end(), [](const Segment& a, const Segment& b) { return a.address < b.address; });
        for (size_t i = 1; i < sorted.size(); ++i) {
            if (sorted[i - 1].address + sorted[i - 1].length > sorted[i].address && call.op != VectorOp::Duplicate) {
                core.Report("overlap", call.line, Format("%s: repeats of dst overlap each other", call.name));
                fine = false;
                break;
            }
        }
    }
    if (!fine) {
        core.Skip();
        return;
    }
    if (lanes.total == 0) {
        return;  // a repeat or count of 0 does nothing on this target
    }
    if (call.op == VectorOp::Axpy) {  // dst is a source as well
        work->sources = 2;
        work->src[1] = work->dst;
        work->src_size[1] = dst_size;
    }
    const uint64_t bytes = lanes.total * static_cast<uint64_t>(std::max(dst_size, src_size));
    core.Issue(Pipe::V, call.name, call.line, std::move(work), lanes.total, bytes,
               static_cast<uint32_t>(lanes.repeats));
}

}  // namespace pypto_host
