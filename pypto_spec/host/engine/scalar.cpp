// Calls that act on the scalar stream itself: flags, barriers, mask and atomic state, buffers, scalar accesses.
#include <cstring>

#include "../include/pypto_host/types.h"
#include "run.h"
#include "work.h"

namespace pypto_host {

namespace {

bool ScalarPlace(Core& core, const char* name, const LocalRef& tensor, uint64_t index, int line, Segment& out)
{
    const uint64_t size = static_cast<uint64_t>(DtypeSize(tensor.dtype));
    out = {static_cast<uint32_t>(size), tensor.address + index * size};
    if (size == 0 || out.address % size != 0) {
        core.Report(tensor.memory == Memory::None ? "wrong-memory" : "misaligned", line,
                    Format("%s at %s byte %llu", name, MemoryName(tensor.memory),
                           static_cast<unsigned long long>(out.address)));
        return false;
    }
    return CheckLocal(core, name, line, "the tensor", tensor, {out}, 1);
}

}  // namespace

bool Enter(int line) { return CurrentCore().Enter(line); }

void SetFlagOn(int event, int64_t id, int line)
{
    Core& core = CurrentCore();
    if (core.Enter(line)) {
        core.SetFlag(event, id, line);
    }
}

void WaitFlagOn(int event, int64_t id, int line)
{
    Core& core = CurrentCore();
    if (core.Enter(line)) {
        core.WaitFlag(event, id, line);
    }
}

void BarrierOn(Pipe pipe, int line)
{
    Core& core = CurrentCore();
    if (core.Enter(line)) {
        core.Barrier(pipe, line);
    }
}

void SetMaskMode(bool counter, int line)
{
    Core& core = CurrentCore();
    if (core.Enter(line)) {
        core.state.counter = counter;
        core.state.mode_line = line;
    }
}

void SetMaskBits(Dtype dtype, uint64_t high, uint64_t low, int line)
{
    Core& core = CurrentCore();
    if (!core.Enter(line)) {
        return;
    }
    if ((high | low) == 0) {
        core.Report("mask", line, "SetVectorMask selects no lane");
    }
    core.state.mask_low = low;
    core.state.mask_high = high;
    core.state.mask_chosen = dtype != Dtype::None && (high & low) != ~0ull;
    core.state.mask_line = line;
}

void SetMaskLength(Dtype dtype, int64_t length, bool counter, int line)
{
    Core& core = CurrentCore();
    if (!core.Enter(line)) {
        return;
    }
    const int64_t most = counter ? 1 << 20 : 256 / (DtypeSize(dtype) < 2 ? 2 : DtypeSize(dtype));
    if (length < 1 || length > most) {
        core.Report("mask", line, Format("SetVectorMask of length %lld, 1 to %lld are possible",
                                         static_cast<long long>(length), static_cast<long long>(most)));
        return;
    }
    core.state.mask_line = line;
    core.state.mask_chosen = counter || length != most;
    const uint64_t amount = static_cast<uint64_t>(length);
    if (counter) {
        core.state.mask_low = amount;
        core.state.mask_high = 0;
    } else if (length == most) {
        core.state.mask_low = core.state.mask_high = ~0ull;
    } else {
        core.state.mask_low = amount >= 64 ? ~0ull : (1ull << amount) - 1;
        core.state.mask_high = amount <= 64 ? 0 : (1ull << (amount - 64)) - 1;
    }
}

void SetAtomic(int operation, Dtype dtype, int line)
{
    Core& core = CurrentCore();
    if (!core.Enter(line)) {
        return;
    }
    switch (dtype) {
        case Dtype::None: case Dtype::F16: case Dtype::BF16: case Dtype::F32: case Dtype::I8: case Dtype::I16:
        case Dtype::I32: break;
        default:
            core.Report("unsupported-dtype", line, Format("atomic writes of %s do not exist", DtypeName(dtype)));
            return;
    }
    core.state.atomic = operation;
    core.state.atomic_dtype = dtype;
    core.state.atomic_line = line;
}

void SetDeqScaleBits(uint16_t half_bits, int line)
{
    Core& core = CurrentCore();
    if (core.Enter(line)) {
        core.state.has_deq = true;
        core.state.deq = half_bits;
    }
}

void PipeCreated(int line)
{
    Core& core = CurrentCore();
    if (!core.Enter(line)) {
        return;
    }
    core.state.pipe_line = line;
    core.HoldPipeEvents(true);
    if (++core.state.pipes_created > 1) {
        core.Report("buffers", line, "a kernel has one TPipe");
    }
}

void PipeDestroyed(int line)
{
    Core& core = CurrentCore();
    if (!core.Enter(line)) {
        return;
    }
    if (core.state.destroyed) {
        core.Report("buffers", line, "the TPipe is destroyed twice");
    }
    core.state.destroyed = true;
    core.HoldPipeEvents(false);
}

uint32_t AllocateBuffer(Memory memory, uint64_t size, int line)
{
    Core& core = CurrentCore();
    if (!core.Enter(line)) {
        return 0;
    }
    LocalMemory* local = core.Local(memory);
    if (local == nullptr) {
        core.Report("wrong-memory", line, Format("InitBuffer in %s: a %s has %s", MemoryName(memory), CoreName(core.kind),
                                                 core.kind == CoreKind::Cube ? "L1, L0A, L0B, L0C, BT and FB only"
                                                                             : "UB only"));
        return 0;
    }
    if (core.state.destroyed) {
        core.Report("buffers", line, "InitBuffer after pipe.Destroy()");
    }
    if (++core.state.buffers > kMostBuffers) {
        core.Report("buffers", line, Format("more than %d buffers in a kernel", kMostBuffers));
    }
    const uint32_t most = MemoryBytes(memory);
    if (size == 0 || local->used + size > most) {
        core.Report("out-of-bounds", line,
                    Format("InitBuffer of %llu bytes, %u of %u bytes of %s are left",
                           static_cast<unsigned long long>(size), most - local->used, most, MemoryName(memory)));
        return local->used;
    }
    const uint32_t base = local->used;
    local->used += static_cast<uint32_t>(size);
    return base;
}

LocalRef CutBuffer(Memory memory, uint8_t position, Dtype dtype, uint32_t base, uint64_t size, bool ready,
                   uint64_t elements, uint64_t offset, int line)
{
    Core& core = CurrentCore();
    LocalRef ref;
    ref.memory = memory;
    ref.position = position;
    ref.dtype = dtype;
    ref.base = base;
    const uint64_t end = base + size;
    ref.limit = static_cast<uint32_t>(end < MemoryBytes(memory) ? end : MemoryBytes(memory));
    ref.address = static_cast<uint32_t>(base + offset);
    ref.overflow = (base + offset) >> 32 != 0 ? base + offset : 0;
    ref.elements = static_cast<uint32_t>(elements);
    if (!core.Enter(line)) {
        return ref;
    }
    if (!ready) {
        core.Report("buffers", line, "a tensor is taken from a TBuf without InitBuffer");
        return ref;
    }
    if (offset % 32 != 0) {
        core.Report("misaligned", line, Format("GetWithOffset at byte %llu, not a multiple of 32 B",
                                               static_cast<unsigned long long>(offset)));
    }
    const uint64_t bytes = elements * static_cast<uint64_t>(DtypeSize(dtype));
    if (offset + bytes > size) {
        core.Report("out-of-bounds", line,
                    Format("GetWithOffset takes bytes [%llu, %llu) of a buffer of %llu bytes",
                           static_cast<unsigned long long>(offset), static_cast<unsigned long long>(offset + bytes),
                           static_cast<unsigned long long>(size)));
    }
    return ref;
}

uint64_t ScalarReadLocal(const LocalRef& tensor, uint64_t index, int line)
{
    Core& core = CurrentCore();
    Segment place;
    if (!core.Enter(line) || !ScalarPlace(core, "GetValue", tensor, index, line, place)) {
        return 0;
    }
    if (core.Timing()) {
        core.Report("unsupported", line, "GetValue of a tensor on chip: a run for its timing alone has no data");
        return 0;
    }
    LocalMemory& ub = *core.Local(tensor.memory);
    const Event event = core.ScalarEvent("GetValue", line, kRead, place.length);
    core.Touch(ub.shadow, "UB", event, kRead, &place, 1);
    Gathered in;
    Gather(ub, {place}, in);
    if (!in.defined && !core.Skipped()) {
        core.Report("undefined", line, Format("GetValue reads undefined UB byte %llu into a scalar",
                                              static_cast<unsigned long long>(place.address)));
    }
    uint64_t bits = 0;
    std::memcpy(&bits, in.data, place.length);
    return bits;
}

void ScalarWriteLocal(const LocalRef& tensor, uint64_t index, uint64_t bits, int line)
{
    Core& core = CurrentCore();
    Segment place;
    if (!core.Enter(line) || !ScalarPlace(core, "SetValue", tensor, index, line, place)) {
        return;
    }
    const Event event = core.ScalarEvent("SetValue", line, kWrite, place.length);
    if (core.Timing()) {
        return;
    }
    LocalMemory& ub = *core.Local(tensor.memory);
    core.Touch(ub.shadow, "UB", event, kWrite, &place, 1);
    Scatter(ub, {place}, reinterpret_cast<const uint8_t*>(&bits), nullptr);
}

// Scalar reads of GM go through a data cache that nothing keeps coherent (hardware rules, 7): what the launch itself
// has written cannot be read this way.
uint64_t ScalarReadGlobal(const GlobalRef& tensor, uint64_t index, int line)
{
    Core& core = CurrentCore();
    if (!core.Enter(line)) {
        return 0;
    }
    const uint64_t size = static_cast<uint64_t>(DtypeSize(tensor.dtype));
    const Place place = core.run.Find(tensor.address + index * size);
    if (place.argument < 0 || place.offset < 0 ||
        static_cast<uint64_t>(place.offset) + size > core.run.At(place.argument).bytes) {
        core.Report("out-of-bounds", line, Format("GetValue reads element %llu outside the tensor's argument",
                                                  static_cast<unsigned long long>(index)));
        return 0;
    }
    const Argument& argument = core.run.At(place.argument);
    if (static_cast<int>(tensor.dtype) != argument.dtype) {
        core.Report("wrong-dtype", line, Format("GetValue reads GM argument %d as %s, it is declared %s",
                                                place.argument, DtypeName(tensor.dtype),
                                                DtypeName(static_cast<Dtype>(argument.dtype))));
        return 0;
    }
    uint64_t bits = 0;
    if (core.Timing()) {
        core.ScalarEvent("GetValue", line, kRead, size);
        if (argument.address == 0) {
            core.Report("unsupported", line, Format("GetValue of GM argument %d: a run for its timing alone was given "
                                                    "no data for it", place.argument));
            return 0;
        }
        std::memcpy(&bits, reinterpret_cast<const uint8_t*>(argument.address) + place.offset, size);
        return bits;
    }
    const Segment bytes = {static_cast<uint32_t>(size), static_cast<uint64_t>(place.offset)};
    Region& region = core.run.RegionOf(place.argument);
    const uint64_t offset = core.run.OffsetOf(place.argument);
    if (region.shadow->Written(bytes.address + offset, size)) {
        core.Report("stale", line, Format("GetValue reads bytes of GM argument %d that this launch writes; the scalar "
                                          "cache may hold the old value", place.argument));
    }
    const Event event = core.ScalarEvent("GetValue", line, kRead, size);
    core.Touch(*region.shadow, Format("GM argument %d", place.argument), event, kRead, &bytes, 1, offset);
    std::memcpy(&bits, reinterpret_cast<const uint8_t*>(argument.address) + place.offset, size);
    return bits;
}

void ScalarWriteGlobal(const GlobalRef&, uint64_t, uint64_t, int line)
{
    Core& core = CurrentCore();
    if (core.Enter(line)) {
        core.Report("unsupported", line, "scalar writes to GM are not modelled (and not rendered)");
    }
}

void DeclareTaskType(int type, int line)
{
    Core& core = CurrentCore();
    if (!core.Enter(line)) {
        return;
    }
    switch (type) {
        case KERNEL_TYPE_AIV_ONLY: case KERNEL_TYPE_MIX_AIV_1_0: core.kind = CoreKind::Vector; break;
        case KERNEL_TYPE_AIC_ONLY: case KERNEL_TYPE_MIX_AIC_1_0: core.kind = CoreKind::Cube; break;
        default: core.Report("unsupported", line, "a kernel that runs on both kinds of core is not modelled"); break;
    }
}

int64_t BlockIndex() { return CurrentCore().index; }
int64_t BlockCount() { return CurrentRun()->blocks; }
bool OnVectorCore() { return CurrentCore().kind == CoreKind::Vector; }
bool OnCubeCore() { return CurrentCore().kind == CoreKind::Cube; }

}  // namespace pypto_host
