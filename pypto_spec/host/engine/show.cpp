// What a kernel shows: printed lines and dumps, kept for each block in the order of its scalar stream.
#include <cstring>

#include "numerics.h"
#include "run.h"
#include "work.h"

namespace pypto_host {

namespace {

template <class T>
std::string Element(const uint8_t* from)
{
    T value;
    std::memcpy(&value, from, sizeof(T));
    if constexpr (std::is_same_v<T, int64_t> || (std::is_integral_v<T> && std::is_signed_v<T>)) {
        return Format("%lld", static_cast<long long>(value));
    } else if constexpr (std::is_integral_v<T>) {
        return Format("%llu", static_cast<unsigned long long>(value));
    } else {
        return Format("%.7g", static_cast<double>(static_cast<float>(value)));
    }
}

std::string ElementText(Dtype dtype, const uint8_t* from)
{
    switch (dtype) {
        case Dtype::F16: return Element<half>(from);
        case Dtype::BF16: return Element<bfloat16_t>(from);
        case Dtype::F32: return Element<float>(from);
        case Dtype::I8: return Element<int8_t>(from);
        case Dtype::U8: return Element<uint8_t>(from);
        case Dtype::I16: return Element<int16_t>(from);
        case Dtype::U16: return Element<uint16_t>(from);
        case Dtype::I32: return Element<int32_t>(from);
        case Dtype::U32: return Element<uint32_t>(from);
        case Dtype::I64: return Element<int64_t>(from);
        case Dtype::U64: return Element<uint64_t>(from);
        default: return "?";
    }
}

// The elements in brackets; `?` for one of which a byte is undefined.
std::string List(Dtype dtype, const uint8_t* data, const uint8_t* defined, uint32_t count)
{
    const uint32_t size = static_cast<uint32_t>(DtypeSize(dtype));
    std::string out = "[";
    for (uint32_t i = 0; i < count; ++i) {
        out += i == 0 ? "" : ", ";
        out += defined == nullptr || AllDefined(defined + i * size, size) ? ElementText(dtype, data + i * size) : "?";
    }
    return out + "]";
}

bool CheckSize(Core& core, Dtype dtype, uint32_t count, int line)
{
    const uint64_t bytes = static_cast<uint64_t>(count) * static_cast<uint64_t>(DtypeSize(dtype));
    if (count == 0 || bytes % 32 != 0) {
        core.Report("truncated", line, Format("DumpTensor of %llu bytes: the device shows multiples of 32 B only",
                                              static_cast<unsigned long long>(bytes)));
        return false;
    }
    return true;
}

}  // namespace

void ShowText(const char* text, const ShownValue* values, int count, int line)
{
    Core& core = CurrentCore();
    if (!core.Enter(line)) {
        return;
    }
    std::string out;
    int next = 0;
    for (const char* at = text; *at != '\0'; ++at) {
        if (*at != '%' || at[1] == '\0') {
            out += *at;
            continue;
        }
        ++at;
        const bool whole = *at == 'd';
        if ((!whole && *at != 'f') || next == count || values[next].whole != whole) {
            core.Report("unsupported", line, Format("printf: %%%c has no value of its kind", *at));
            return;
        }
        out += whole ? Format("%lld", static_cast<long long>(values[next].integer)) : Format("%f", values[next].number);
        ++next;
    }
    if (next != count) {
        core.Report("unsupported", line, Format("printf: %d values for %d places in the text", count, next));
        return;
    }
    if (!out.empty() && out.back() == '\n') {
        out.pop_back();
    }
    core.Show(line, std::move(out));
}

void DumpLocal(const LocalRef& tensor, uint32_t desc, uint32_t count, int line)
{
    Core& core = CurrentCore();
    if (!core.Enter(line) || !CheckSize(core, tensor.dtype, count, line)) {
        return;
    }
    const Segment bytes = {count * static_cast<uint32_t>(DtypeSize(tensor.dtype)), tensor.address};
    if (!CheckLocal(core, "DumpTensor", line, "the tensor", tensor, {bytes}, 32)) {
        return;
    }
    const Event event = core.ScalarEvent("DumpTensor", line, kRead, bytes.length);
    if (core.Timing()) {
        return;
    }
    LocalMemory& ub = *core.Local(tensor.memory);
    core.Touch(ub.shadow, "UB", event, kRead, &bytes, 1);
    core.Show(line, Format("DumpTensor %u, UB byte %u, %u %s: ", desc, tensor.address, count, DtypeName(tensor.dtype)) +
                        List(tensor.dtype, ub.data.data() + bytes.address, ub.defined.data() + bytes.address, count));
}

void DumpGlobal(const GlobalRef& tensor, uint32_t desc, uint32_t count, int line)
{
    Core& core = CurrentCore();
    if (!core.Enter(line) || !CheckSize(core, tensor.dtype, count, line)) {
        return;
    }
    const uint32_t length = count * static_cast<uint32_t>(DtypeSize(tensor.dtype));
    const Place place = core.run.Find(tensor.address);
    if (place.argument < 0 || place.offset < 0 ||
        static_cast<uint64_t>(place.offset) + length > core.run.At(place.argument).bytes) {
        core.Report("out-of-bounds", line, Format("DumpTensor of %u bytes reaches outside the tensor's argument", length));
        return;
    }
    const Argument& argument = core.run.At(place.argument);
    const Segment bytes = {length, static_cast<uint64_t>(place.offset)};
    const Event event = core.ScalarEvent("DumpTensor", line, kRead, length);
    if (core.Timing()) {
        return;
    }
    core.Touch(*core.run.RegionOf(place.argument).shadow, Format("GM argument %d", place.argument), event, kRead, &bytes,
               1, core.run.OffsetOf(place.argument));
    core.Show(line, Format("DumpTensor %u, GM argument %d byte %lld, %u %s: ", desc, place.argument,
                           static_cast<long long>(place.offset), count, DtypeName(tensor.dtype)) +
                        List(tensor.dtype, reinterpret_cast<const uint8_t*>(argument.address) + place.offset, nullptr,
                             count));
}

}  // namespace pypto_host
