// What a Mmad computes: operands gathered from their fractals, multiplied, and spread over the boxes of L0C.
//
// Each sum starts at zero, at its bias or at the old value, and takes the products in the order of k. In fp32 each
// product and each sum is rounded; products of fp16 and bf16 are exact. int8 sums are exact and saturate at the end.
#include <cstring>

#include "mmad.h"
#include "numerics.h"
#include "product.h"
#include "run.h"

namespace pypto_host {

namespace {

float Value(const half& value) { return static_cast<float>(value); }
float Value(const bfloat16_t& value) { return static_cast<float>(value); }
float Value(float value) { return value; }
int32_t Value(int8_t value) { return value; }

// A fractal of stored elements S, its first `lanes` by `depths` elements.
template <class S, class T>
void Spread(const uint8_t* data, int64_t lanes, int64_t depths, T* to, int64_t lane_step, int64_t depth_step)
{
    constexpr int64_t kDepths = kBlockBytes / static_cast<int64_t>(sizeof(S));
    for (int64_t lane = 0; lane < lanes; ++lane) {
        for (int64_t depth = 0; depth < depths; ++depth) {
            S element;
            std::memcpy(&element, data + (lane * kDepths + depth) * static_cast<int64_t>(sizeof(S)), sizeof(S));
            to[lane * lane_step + depth * depth_step] = static_cast<T>(Value(element));
        }
    }
}

template <class T>
void SpreadAs(Dtype dtype, const uint8_t* data, int64_t lanes, int64_t depths, T* to, int64_t lane_step,
              int64_t depth_step)
{
    switch (dtype) {
        case Dtype::F16: Spread<half>(data, lanes, depths, to, lane_step, depth_step); break;
        case Dtype::BF16: Spread<bfloat16_t>(data, lanes, depths, to, lane_step, depth_step); break;
        case Dtype::F32: Spread<float>(data, lanes, depths, to, lane_step, depth_step); break;
        default: Spread<int8_t>(data, lanes, depths, to, lane_step, depth_step); break;
    }
}

}  // namespace

template <class T>
void MadWork::Gather(Core& core, bool right, std::vector<T>& dense, std::vector<uint8_t>& broken) const
{
    const LocalMemory& memory = *core.Local(right ? Memory::L0B : Memory::L0A);
    const int64_t size = DtypeSize(dtype);
    const int64_t wide = BlockElements(dtype);
    const int64_t lanes = right ? n : m;
    const int64_t padded = columns * kLanes;
    dense.assign(static_cast<size_t>(right ? k * padded : m * k), T(0));
    broken.assign(static_cast<size_t>(lanes), 0);
    if (row_form && !right) {
        const uint64_t at = lefts[0].address;
        for (int64_t depth = 0; depth < k; depth += wide) {
            const int64_t count = std::min(wide, k - depth);
            SpreadAs(dtype, memory.data.data() + at + static_cast<uint64_t>(depth * size), 1, count,
                     dense.data() + depth, 0, 1);
        }
        broken[0] = !AllDefined(memory.defined.data() + at, static_cast<uint64_t>(k * size));
        return;
    }
    for (int64_t depth = 0; depth < depths; ++depth) {
        const int64_t deep = std::min(wide, k - depth * wide);
        for (int64_t group = 0; group < (right ? columns : rows); ++group) {
            const uint64_t at = FractalAt(right, group, depth);
            const int64_t count = std::min(kLanes, lanes - group * kLanes);
            T* to = right ? dense.data() + depth * wide * padded + group * kLanes
                          : dense.data() + group * kLanes * k + depth * wide;
            SpreadAs(dtype, memory.data.data() + at, count, deep, to, right ? 1 : k, right ? padded : 1);
            const uint8_t* flags = memory.defined.data() + at;
            if (AllDefined(flags, kFractalBytes)) {
                continue;
            }
            for (int64_t lane = 0; lane < count; ++lane) {
                if (!AllDefined(flags + lane * kBlockBytes, static_cast<uint64_t>(deep * size))) {
                    broken[static_cast<size_t>(group * kLanes + lane)] = 1;
                }
            }
        }
    }
}

template <class T>
void MadWork::Begin(Core& core, std::vector<T>& dense, std::vector<uint8_t>& broken) const
{
    const int64_t padded = columns * kLanes;
    dense.assign(static_cast<size_t>(m * padded), T(0));
    broken.assign(dense.size(), 0);
    if (zero) {
        return;
    }
    if (has_bias) {
        const LocalMemory& table = *core.Local(Memory::BT);
        const uint64_t at = biases[0].address;
        for (int64_t column = 0; column < n; ++column) {
            T value;
            std::memcpy(&value, table.data.data() + at + static_cast<uint64_t>(4 * column), sizeof(T));
            const bool lost = !Defined(table.defined.data() + at + static_cast<uint64_t>(4 * column), 4);
            for (int64_t row = 0; row < m; ++row) {
                dense[static_cast<size_t>(row * padded + column)] = value;
                broken[static_cast<size_t>(row * padded + column)] = lost;
            }
        }
        return;
    }
    const LocalMemory& sums_memory = *core.Local(Memory::L0C);
    for (int64_t column = 0; column < columns; ++column) {
        for (int64_t row = 0; row < m; ++row) {
            const uint64_t at = sums[0].address + static_cast<uint64_t>(column * rows * kBoxBytes + row * kRowBytes);
            std::memcpy(dense.data() + row * padded + column * kLanes, sums_memory.data.data() + at, kRowBytes);
            if (!AllDefined(sums_memory.defined.data() + at, kRowBytes)) {
                for (int64_t lane = 0; lane < kLanes; ++lane) {
                    broken[static_cast<size_t>(row * padded + column * kLanes + lane)] =
                        !Defined(sums_memory.defined.data() + at + 4 * lane, 4);
                }
            }
        }
    }
}

template <class T>
void MadWork::Finish(Core& core, const std::vector<T>& dense, const std::vector<uint8_t>& broken,
                     const std::vector<uint8_t>& left, const std::vector<uint8_t>& right) const
{
    LocalMemory& memory = *core.Local(Memory::L0C);
    const int64_t padded = columns * kLanes;
    // Rows beyond m and columns beyond n of the last boxes hold what the hardware makes of the padding.
    std::memset(memory.defined.data() + sums[0].address, 0, sums[0].length);
    for (int64_t column = 0; column < columns; ++column) {
        const int64_t lanes = std::min(kLanes, n - column * kLanes);
        for (int64_t row = 0; row < m; ++row) {
            const uint64_t at = sums[0].address + static_cast<uint64_t>(column * rows * kBoxBytes + row * kRowBytes);
            const size_t first = static_cast<size_t>(row * padded + column * kLanes);
            std::memcpy(memory.data.data() + at, dense.data() + first, static_cast<size_t>(4 * lanes));
            uint8_t* flags = memory.defined.data() + at;
            for (int64_t lane = 0; lane < lanes; ++lane) {
                const bool lost = left[static_cast<size_t>(row)] != 0 ||
                                  right[static_cast<size_t>(column * kLanes + lane)] != 0 ||
                                  broken[first + static_cast<size_t>(lane)] != 0;
                std::memset(flags + 4 * lane, lost ? 0 : kDefined, 4);
            }
        }
    }
}

void MadWork::Floats(Core& core) const
{
    std::vector<float> a, b, c;
    std::vector<uint8_t> left, right, broken;
    Gather(core, false, a, left);
    Gather(core, true, b, right);
    Begin(core, c, broken);
    MultiplyFloat(a.data(), b.data(), c.data(), m, columns * kLanes, k);
    Finish(core, c, broken, left, right);
}

void MadWork::Integers(Core& core) const
{
    std::vector<int32_t> a, b, c, added;
    std::vector<uint8_t> left, right, broken;
    Gather(core, false, a, left);
    Gather(core, true, b, right);
    Begin(core, c, broken);
    added.assign(c.size(), 0);
    MultiplyInteger(a.data(), b.data(), added.data(), m, columns * kLanes, k);
    for (size_t i = 0; i < c.size(); ++i) {
        int32_t sum;
        if (__builtin_add_overflow(c[i], added[i], &sum)) {
            sum = added[i] < 0 ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int32_t>::max();
        }
        c[i] = sum;
    }
    Finish(core, c, broken, left, right);
}

}  // namespace pypto_host
