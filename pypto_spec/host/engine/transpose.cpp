// Transpose of a block of 16 x 16 elements of 16 bits.
#include <cstring>

#include "run.h"
#include "work.h"

namespace pypto_host {

namespace {

constexpr size_t kSide = 16;
constexpr size_t kSize = 2;
constexpr uint32_t kBytes = kSide * kSide * kSize;

void Turn(const uint8_t* from, uint8_t* to)
{
    for (size_t row = 0; row < kSide; ++row) {
        for (size_t column = 0; column < kSide; ++column) {
            std::memcpy(to + (column * kSide + row) * kSize, from + (row * kSide + column) * kSize, kSize);
        }
    }
}

struct TransposeWork final : Work {
    Segments dst;
    Segments src;

    void Execute(Core& core, const Event& event) override
    {
        LocalMemory& ub = *core.Local(Memory::UB);
        Gathered in;
        core.Touch(ub.shadow, "UB", event, kRead, src.data(), src.size());
        Gather(ub, src, in);
        core.Touch(ub.shadow, "UB", event, kWrite, dst.data(), dst.size());
        uint8_t data[kBytes];
        uint8_t flags[kBytes];
        Turn(in.data, data);
        if (!in.defined) {
            Turn(in.flags.data(), flags);
        }
        Scatter(ub, dst, data, in.defined ? nullptr : flags);
    }
};

}  // namespace

void IssueTranspose(const LocalRef& dst, const LocalRef& src, int line)
{
    Core& core = CurrentCore();
    if (!core.EnterOn(CoreKind::Vector, "Transpose", line)) {
        return;
    }
    auto work = std::make_unique<TransposeWork>();
    work->dst = {{kBytes, dst.address}};
    work->src = {{kBytes, src.address}};
    bool fine = DtypeSize(dst.dtype) == static_cast<int>(kSize);
    if (!fine) {
        core.Report("unsupported-dtype", line, Format("Transpose takes 16-bit types, not %s", DtypeName(dst.dtype)));
    }
    fine = CheckLocal(core, "Transpose", line, "src", src, work->src, 32) && fine;
    fine = CheckLocal(core, "Transpose", line, "dst", dst, work->dst, 32) && fine;
    if (fine && Overlap(work->dst, work->src)) {
        core.Report("overlap", line, "Transpose: dst and src overlap");
        fine = false;
    }
    if (!fine) {
        core.Skip();
        return;
    }
    core.Issue(Pipe::V, "Transpose", line, std::move(work), kSide * kSide, kBytes, 2);
}

}  // namespace pypto_host
