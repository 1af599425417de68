// The GM side of a call, and what atomic writes do there.
#include <algorithm>
#include <cstring>

#include "numerics.h"
#include "run.h"
#include "work.h"

namespace pypto_host {

bool CheckRange(Core& core, const char* name, int line, const char* kind, const char* what, int64_t value, int64_t least,
                int64_t most)
{
    if (value >= least && value <= most) {
        return true;
    }
    core.Report(kind, line, Format("%s: %s %lld is outside %lld to %lld", name, what, static_cast<long long>(value),
                                   static_cast<long long>(least), static_cast<long long>(most)));
    return false;
}

bool CheckGlobal(Core& core, const char* name, int line, const GlobalRef& tensor, bool writes, int64_t first,
                 Segments& segments, int& found)
{
    const Place place = core.run.Find(tensor.address);
    if (place.argument < 0) {
        core.Report("out-of-bounds", line, Format("%s: the global tensor lies in no argument of the kernel", name));
        return false;
    }
    const Argument& argument = core.run.At(place.argument);
    found = place.argument;
    const int size = DtypeSize(tensor.dtype);
    if (static_cast<int>(tensor.dtype) != argument.dtype) {
        core.Report("wrong-dtype", line,
                    Format("%s %s GM argument %d as %s, it is declared %s", name, writes ? "writes" : "reads",
                           place.argument, DtypeName(tensor.dtype),
                           DtypeName(static_cast<Dtype>(argument.dtype))));
        return false;
    }
    if (writes && argument.readonly != 0) {
        core.Report("readonly", line, Format("%s writes GM argument %d, which is an input", name, place.argument));
        return false;
    }
    if (place.offset % std::max(1, size) != 0) {
        core.Report("misaligned", line, Format("%s: GM argument %d is accessed at byte %lld, not a whole element", name,
                                               place.argument, static_cast<long long>(place.offset)));
        return false;
    }
    int64_t low = 0;
    int64_t high = 0;
    for (size_t i = 0; i < segments.size(); ++i) {
        const int64_t start = static_cast<int64_t>(segments[i].address) - first + place.offset;
        const int64_t end = start + segments[i].length;
        low = i == 0 ? start : std::min(low, start);
        high = i == 0 ? end : std::max(high, end);
        segments[i].address = static_cast<uint64_t>(start);
    }
    if (!segments.empty() && (low < 0 || high > static_cast<int64_t>(argument.bytes))) {
        core.Report("out-of-bounds", line,
                    Format("%s %s bytes [%lld, %lld) of GM argument %d, which has %llu bytes", name,
                           writes ? "writes" : "reads", static_cast<long long>(low), static_cast<long long>(high),
                           place.argument, static_cast<unsigned long long>(argument.bytes)));
        return false;
    }
    return true;
}

namespace {

template <class T>
void AccumulateAs(int operation, uint8_t* to, const uint8_t* from, uint64_t bytes)
{
    using V = typename Wide<T>::type;
    for (uint64_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
        T a;
        T b;
        std::memcpy(&a, to + at, sizeof(T));
        std::memcpy(&b, from + at, sizeof(T));
        const V x = static_cast<V>(a);
        const V y = static_cast<V>(b);
        T out;
        if (operation == 1) {
            if constexpr (std::is_integral_v<T>) {
                out = static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
            } else {
                out = static_cast<T>(x + y);
            }
        } else {
            out = operation == 2 ? static_cast<T>(x > y ? x : y) : static_cast<T>(x < y ? x : y);
        }
        std::memcpy(to + at, &out, sizeof(T));
    }
}

}  // namespace

void Accumulate(int operation, Dtype dtype, uint8_t* to, const uint8_t* from, uint64_t bytes)
{
    switch (dtype) {
        case Dtype::F16: AccumulateAs<half>(operation, to, from, bytes); break;
        case Dtype::BF16: AccumulateAs<bfloat16_t>(operation, to, from, bytes); break;
        case Dtype::F32: AccumulateAs<float>(operation, to, from, bytes); break;
        case Dtype::I8: AccumulateAs<int8_t>(operation, to, from, bytes); break;
        case Dtype::I16: AccumulateAs<int16_t>(operation, to, from, bytes); break;
        case Dtype::I32: AccumulateAs<int32_t>(operation, to, from, bytes); break;
        default: break;
    }
}

}  // namespace pypto_host
