// The state of the cube core's memories, and the copy to the bias table.
#include "cube.h"

#include <cstring>

#include "../include/pypto_host/half.h"
#include "findings.h"
#include "run.h"

namespace pypto_host {

CubeState::CubeState()
    : l1(MemoryBytes(Memory::L1) / kBlockBytes), l0a(MemoryBytes(Memory::L0A) / kFractalBytes),
      l0b(MemoryBytes(Memory::L0B) / kFractalBytes), l0c(MemoryBytes(Memory::L0C) / kBoxBytes),
      units(MemoryBytes(Memory::L0C) / kFractalBytes), bias(MemoryBytes(Memory::BT) / 64, Dtype::None)
{
}

void CubeState::Forget(uint64_t address, uint64_t bytes, Dtype dtype)
{
    for (uint64_t block = address / kBlockBytes; block < (address + bytes + kBlockBytes - 1) / kBlockBytes; ++block) {
        l1[block] = {0, 0, 0, 0, dtype};
    }
}

Dtype CubeState::OtherDtype(uint64_t address, uint64_t bytes, Dtype wanted) const
{
    for (uint64_t block = address / kBlockBytes; block < (address + bytes + kBlockBytes - 1) / kBlockBytes; ++block) {
        if (l1[block].dtype != wanted && l1[block].dtype != Dtype::None) {
            return l1[block].dtype;
        }
    }
    return Dtype::None;
}

namespace {

// L1 to the bias table. Lengths and gaps of the table are in 64 B, those of L1 in 64 B and 32 B.
struct BiasWork final : Work {
    Segments from;
    Segments to;
    Dtype source = Dtype::None;
    Dtype target = Dtype::None;
    int line = 0;

    void Execute(Core& core, const Event& event) override
    {
        LocalMemory& l1 = *core.Local(Memory::L1);
        LocalMemory& table = *core.Local(Memory::BT);
        core.Touch(l1.shadow, "L1", event, kRead, from.data(), from.size());
        core.Touch(table.shadow, "BT", event, kWrite, to.data(), to.size());
        for (size_t i = 0; i < from.size(); ++i) {
            // Behind the end of a row that was loaded may stand what another tile left there.
            const Dtype other = core.Cube().OtherDtype(from[i].address, kBlockBytes, source);
            if (other != Dtype::None) {
                core.Report("wrong-dtype", line, Format("DataCopy to BT reads L1 byte %llu as %s, it holds %s",
                                                        static_cast<unsigned long long>(from[i].address),
                                                        DtypeName(source), DtypeName(other)));
            }
            for (uint64_t byte = 0; byte < to[i].length; byte += 64) {
                core.Cube().bias[(to[i].address + byte) / 64] = target;
            }
            const uint8_t* data = l1.data.data() + from[i].address;
            const uint8_t* flags = l1.defined.data() + from[i].address;
            if (source == target) {
                Scatter(table, {to[i]}, data, flags);
                continue;
            }
            for (uint64_t element = 0; element < from[i].length / 2; ++element) {
                half narrow;
                std::memcpy(&narrow, data + 2 * element, 2);
                const float wide = static_cast<float>(narrow);
                std::memcpy(table.data.data() + to[i].address + 4 * element, &wide, 4);
                std::memset(table.defined.data() + to[i].address + 4 * element,
                            Defined(flags + 2 * element, 2) ? kDefined : 0, 4);
            }
        }
    }
};

}  // namespace

void IssueBias(Core& core, const CopyCall& call)
{
    constexpr int64_t kUnit = 64;
    const Dtype target = call.local.dtype;
    const Dtype source = call.local_src.dtype;
    bool fine = true;
    if (call.form != CopyForm::Blocks) {
        core.Report("unsupported", call.line, "DataCopy to BT by a count; use DataCopyParams with lengths of 64 B");
        fine = false;
    }
    const bool widens = source == Dtype::F16 && target == Dtype::F32;
    if ((target != Dtype::F32 && target != Dtype::I32) || (source != target && !widens)) {
        core.Report("unsupported-dtype", call.line, Format("DataCopy from L1 to BT of %s to %s does not exist",
                                                           DtypeName(source), DtypeName(target)));
        fine = false;
    }
    fine = CheckRange(core, call.name, call.line, "repeat", "blockCount", call.blocks, 0, 4095) && fine;
    fine = CheckRange(core, call.name, call.line, "stride", "blockLen", call.length, 0, 65535) && fine;
    fine = CheckRange(core, call.name, call.line, "stride", "srcGap", call.src_gap, 0, 65535) && fine;
    fine = CheckRange(core, call.name, call.line, "stride", "dstGap", call.dst_gap, 0, 65535) && fine;
    if (!fine || call.blocks == 0 || call.length == 0) {
        if (!fine) {
            core.Skip();
        }
        return;
    }
    auto work = std::make_unique<BiasWork>();
    const int64_t read = call.length * kUnit;
    const int64_t written = widens ? 2 * read : read;
    for (int64_t i = 0; i < call.blocks; ++i) {
        work->from.push_back({static_cast<uint32_t>(read), static_cast<uint64_t>(call.local_src.address) +
                                                               static_cast<uint64_t>(i * (read + call.src_gap * 32))});
        work->to.push_back({static_cast<uint32_t>(written),
                            static_cast<uint64_t>(call.local.address) +
                                static_cast<uint64_t>(i * (written + call.dst_gap * kUnit))});
    }
    fine = CheckLocal(core, call.name, call.line, "src", call.local_src, work->from, 32, Memory::L1);
    fine = CheckLocal(core, call.name, call.line, "dst", call.local, work->to, 64, Memory::BT) && fine;
    if (!fine) {
        core.Skip();
        return;
    }
    work->source = source;
    work->target = target;
    work->line = call.line;
    const uint64_t bytes = static_cast<uint64_t>(call.blocks * read);
    core.Issue(Pipe::MTE1, "DataCopy.bias", call.line, std::move(work),
               bytes / static_cast<uint64_t>(DtypeSize(source)), bytes, static_cast<uint32_t>(call.blocks));
}

}  // namespace pypto_host
