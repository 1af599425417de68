// Data movement between GM and UB and inside UB.
#include <algorithm>
#include <cstring>

#include "cube.h"
#include "run.h"
#include "work.h"

namespace pypto_host {

namespace {

// What lands in one row of UB around the copied bytes.
struct Padding {
    uint64_t left = 0;    // bytes before
    uint64_t right = 0;   // bytes after, padding and filler
    bool defined = true;
    bool first_element = false;  // filler repeats the row's first element
    uint64_t value = 0;
    uint32_t size = 1;
};

struct CopyWork final : Work {
    CopyPath path = CopyPath::GmToLocal;
    const char* name = "";
    int line = 0;
    int argument = -1;
    int atomic = 0;
    Dtype dtype = Dtype::None;
    Memory memory = Memory::UB;
    Segments global;   // offsets in the argument, one a row
    Segments local;    // bytes on chip that carry data, one a row
    Segments rows;     // bytes on chip written, with padding; LocalToLocal: destination
    Padding padding;

    void Execute(Core& core, const Event& event) override
    {
        switch (path) {
            case CopyPath::GmToLocal: Load(core, event); break;
            case CopyPath::LocalToGm: Store(core, event); break;
            case CopyPath::LocalToLocal: Move(core, event); break;
        }
    }

    std::string Where() const { return Format("GM argument %d", argument); }

    void Load(Core& core, const Event& event)
    {
        LocalMemory& chip = *core.Local(memory);
        Region& region = core.run.RegionOf(argument);
        core.Touch(*region.shadow, Where(), event, kRead, global.data(), global.size(), core.run.OffsetOf(argument));
        core.Touch(chip.shadow, MemoryName(memory), event, kWrite, rows.data(), rows.size());
        const uint8_t* from = reinterpret_cast<const uint8_t*>(core.run.At(argument).address);
        for (size_t i = 0; i < global.size(); ++i) {
            uint8_t* row = chip.data.data() + rows[i].address;
            uint8_t* defined = chip.defined.data() + rows[i].address;
            std::memset(defined, padding.defined ? kDefined : 0, rows[i].length);
            std::memset(defined + padding.left, kDefined, global[i].length);
            std::memcpy(row + padding.left, from + global[i].address, global[i].length);
            if (memory == Memory::L1) {
                core.Cube().Forget(rows[i].address, rows[i].length, dtype);
            }
            uint64_t filler = padding.value;
            if (padding.first_element) {
                std::memcpy(&filler, row + padding.left, padding.size);
            }
            for (uint64_t at = 0; at < padding.left; at += padding.size) {
                std::memcpy(row + at, &filler, padding.size);
            }
            for (uint64_t at = padding.left + global[i].length; at < rows[i].length; at += padding.size) {
                std::memcpy(row + at, &filler, padding.size);
            }
        }
    }

    void Store(Core& core, const Event& event)
    {
        LocalMemory& chip = *core.Local(memory);
        Region& region = core.run.RegionOf(argument);
        core.Touch(chip.shadow, MemoryName(memory), event, kRead, local.data(), local.size());
        core.Touch(*region.shadow, Where(), event, WriteKind(atomic, dtype), global.data(), global.size(), core.run.OffsetOf(argument));
        uint8_t* to = reinterpret_cast<uint8_t*>(core.run.At(argument).address);
        uint64_t undefined = 0;
        uint64_t first = 0;
        for (size_t i = 0; i < global.size(); ++i) {
            const uint8_t* from = chip.data.data() + local[i].address;
            const uint8_t* flags = chip.defined.data() + local[i].address;
            if (!AllDefined(flags, local[i].length)) {
                for (uint64_t byte = 0; byte < local[i].length; ++byte) {
                    if (flags[byte] != kDefined && undefined++ == 0) {
                        first = local[i].address + byte;
                    }
                }
            }
            if (atomic == 0) {
                std::memcpy(to + global[i].address, from, global[i].length);
            } else {
                Accumulate(atomic, dtype, to + global[i].address, from, global[i].length);
            }
        }
        if (undefined != 0 && !core.Skipped()) {
            core.Report("undefined", line,
                        Format("%s writes %llu undefined bytes to %s, the first from %s byte %llu", name,
                               static_cast<unsigned long long>(undefined), Where().c_str(), MemoryName(memory),
                               static_cast<unsigned long long>(first)));
        }
    }

    void Move(Core& core, const Event& event)
    {
        LocalMemory& ub = *core.Local(Memory::UB);
        Gathered in;
        core.Touch(ub.shadow, "UB", event, kRead, local.data(), local.size());
        Gather(ub, local, in);
        core.Touch(ub.shadow, "UB", event, kWrite, rows.data(), rows.size());
        const std::vector<uint8_t> data(in.data, in.data + TotalBytes(local));
        Scatter(ub, rows, data.data(), in.defined ? nullptr : in.flags.data());
    }
};

}  // namespace

void IssueCopy(const CopyCall& call)
{
    Core& core = CurrentCore();
    if (!core.Enter(call.line)) {
        return;
    }
    if (call.path == CopyPath::LocalToLocal && call.local.memory == Memory::BT) {
        IssueBias(core, call);
        return;
    }
    const Memory memory = core.kind == CoreKind::Cube ? Memory::L1 : Memory::UB;
    if (memory == Memory::L1 && (call.form == CopyForm::Pad || call.path == CopyPath::LocalToLocal)) {
        core.Report("unsupported", call.line, Format("%s of this form does not exist on a cube core", call.name));
        core.Skip();
        return;
    }
    const bool loads = call.path == CopyPath::GmToLocal;
    const bool stores = call.path == CopyPath::LocalToGm;
    const int64_t size = std::max(1, DtypeSize(call.local.dtype));
    bool fine = true;
    int64_t blocks = call.blocks;
    int64_t length = call.length;
    int64_t src_gap = call.src_gap;
    int64_t dst_gap = call.dst_gap;
    auto work = std::make_unique<CopyWork>();
    switch (call.form) {
        case CopyForm::Count:
            length *= size;
            if (length % 32 != 0) {
                core.Report("truncated", call.line,
                            Format("%s of %lld bytes: the device rounds the length down to %lld (a multiple of 32 B)",
                                   call.name, static_cast<long long>(length), static_cast<long long>(length / 32 * 32)));
                fine = false;
            }
            break;
        case CopyForm::Blocks:
            fine = CheckRange(core, call.name, call.line, "stride", "blockCount", blocks, 0, 4095) && fine;
            fine = CheckRange(core, call.name, call.line, "stride", "blockLen", length, 0, 65535) && fine;
            fine = CheckRange(core, call.name, call.line, "stride", "srcGap", src_gap, 0, 65535) && fine;
            fine = CheckRange(core, call.name, call.line, "stride", "dstGap", dst_gap, 0, 65535) && fine;
            length *= 32;
            src_gap *= 32;
            dst_gap *= 32;
            break;
        case CopyForm::Pad:
            fine = CheckRange(core, call.name, call.line, "stride", "blockCount", blocks, 0, 4095) && fine;
            fine = CheckRange(core, call.name, call.line, "stride", "blockLen", length, 0, 2097151) && fine;
            fine = CheckRange(core, call.name, call.line, "stride", "srcStride", src_gap, 0, 4294967295ll) && fine;
            fine = CheckRange(core, call.name, call.line, "stride", "dstStride", dst_gap, 0, 4294967295ll) && fine;
            fine = CheckRange(core, call.name, call.line, "stride", "leftPadding", call.left, 0, 32 / size) && fine;
            fine = CheckRange(core, call.name, call.line, "stride", "rightPadding", call.right, 0, 32 / size) && fine;
            if (length % size != 0) {
                core.Report("truncated", call.line, Format("%s: blockLen %lld is not a whole number of elements",
                                                           call.name, static_cast<long long>(length)));
                fine = false;
            }
            (loads ? dst_gap : src_gap) *= 32;
            break;
    }
    if (!fine) {
        core.Skip();
        return;
    }
    const int64_t left = call.left * size;
    const int64_t raw = left + length + call.right * size;
    const int64_t row = call.form == CopyForm::Pad ? (raw + 31) / 32 * 32 : length;
    const int64_t gm_gap = loads ? src_gap : dst_gap;
    const int64_t ub_gap = loads ? dst_gap : src_gap;
    if (length == 0) {
        blocks = 0;
    }
        const int64_t base = static_cast<int64_t>(call.local.address);
    for (int64_t i = 0; i < blocks; ++i) {
        if (call.path == CopyPath::LocalToLocal) {
            work->rows.push_back({static_cast<uint32_t>(length), static_cast<uint64_t>(base + i * (length + dst_gap))});
            work->local.push_back({static_cast<uint32_t>(length),
                                   static_cast<uint64_t>(call.local_src.address) +
                                       static_cast<uint64_t>(i * (length + src_gap))});
            continue;
        }
        work->global.push_back({static_cast<uint32_t>(length), static_cast<uint64_t>(kFarOffset + i * (length + gm_gap))});
        const uint64_t at = static_cast<uint64_t>(base + i * (row + ub_gap));
        work->rows.push_back({static_cast<uint32_t>(row), at});
        work->local.push_back({static_cast<uint32_t>(length), at});
    }
    work->path = call.path;
    work->memory = memory;
    work->name = call.name;
    work->line = call.line;
    work->dtype = call.local.dtype;
    fine = CheckLocal(core, call.name, call.line, loads ? "dst" : stores ? "src" : "dst", call.local, work->rows, 32, memory);
    if (call.path == CopyPath::LocalToLocal) {
        fine = CheckLocal(core, call.name, call.line, "src", call.local_src, work->local, 32) && fine;
        if (fine && Overlap(work->rows, work->local)) {
            core.Report("overlap", call.line, Format("%s: dst and src overlap", call.name));
            fine = false;
        }
    } else {
        fine = CheckGlobal(core, call.name, call.line, call.global, stores, kFarOffset, work->global, work->argument) && fine;
    }
    if (stores && core.state.atomic != 0) {
        work->atomic = core.state.atomic;
        if (core.state.atomic_dtype != call.local.dtype) {
            core.Report("wrong-dtype", call.line,
                        Format("%s of %s while atomics are set for %s at line %d", call.name,
                               DtypeName(call.local.dtype), DtypeName(core.state.atomic_dtype),
                               core.state.atomic_line));
            fine = false;
        }
    }
    if (!fine) {
        core.Skip();
        return;
    }
    if (blocks == 0) {
        return;
    }
    work->padding.size = static_cast<uint32_t>(size);
    work->padding.left = static_cast<uint64_t>(left);
    work->padding.value = call.pad_bits;
    const bool padded = call.left != 0 || call.right != 0;
    work->padding.first_element = !padded;
    work->padding.defined = !padded || call.pads;
    const uint64_t bytes = static_cast<uint64_t>(blocks * length);
    core.Issue(loads ? Pipe::MTE2 : stores ? Pipe::MTE3 : Pipe::V, call.name, call.line, std::move(work),
               bytes / static_cast<uint64_t>(size), bytes, static_cast<uint32_t>(blocks));
}

}  // namespace pypto_host
