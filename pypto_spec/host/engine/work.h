// Pieces shared by the instruction families: lanes, operands as byte segments, checks.
#pragma once

#include <string>
#include <vector>

#include "core.h"

namespace pypto_host {

using Segments = std::vector<Segment>;

// The active lanes of a vector instruction, the same for every operand.
struct Lanes {
    bool whole = false;     // every lane of every repeat, `total` lanes in all (counter or count form)
    uint32_t per_repeat = 0;
    uint64_t repeats = 0;
    uint64_t total = 0;     // active lanes
    uint64_t low = 0;
    uint64_t high = 0;
};

// Reads the mask argument against the state of the scalar stream; false (after a finding) when it is not legal.
bool ResolveLanes(Core& core, const char* name, int line, const Mask& mask, int widest, Lanes& lanes);

// The bytes of one operand in lane order. `packed`: count form, contiguous whatever the strides say.
void BuildSegments(const Operand& operand, int size, const Lanes& lanes, bool packed, Segments& segments);

// Bounds, memory, alignment; false after a finding.
bool CheckLocal(Core& core, const char* name, int line, const char* role, const LocalRef& tensor,
                const Segments& segments, uint32_t alignment, Memory wanted = Memory::UB);
// The GM side of a call: which argument, its dtype, its bounds. `segments` come as offsets from the tensor plus `first`,
// which keeps them positive until here, and leave as offsets in the argument.
bool CheckGlobal(Core& core, const char* name, int line, const GlobalRef& tensor, bool writes, int64_t first,
                 Segments& segments, int& argument);
bool CheckRange(Core& core, const char* name, int line, const char* kind, const char* what, int64_t value, int64_t least,
                int64_t most);
constexpr int64_t kFarOffset = 1ll << 40;
bool CheckStrides(Core& core, const char* name, int line, const Operand& operand, const char* role, bool is_dst,
                  int64_t most_block, int64_t most_repeat);

bool SameSegments(const Segments& a, const Segments& b);
bool Overlap(const Segments& a, const Segments& b);
bool Distinct(const Segments& segments);  // no byte twice

inline uint64_t TotalBytes(const Segments& segments)
{
    uint64_t total = 0;
    for (const Segment& segment : segments) {
        total += segment.length;
    }
    return total;
}

constexpr uint8_t kDefined = 0xff;
bool AllDefined(const uint8_t* flags, uint64_t bytes);

// The data of an operand, packed; and whether every byte of it is defined.
struct Gathered {
    const uint8_t* data = nullptr;
    bool defined = true;
    std::vector<uint8_t> copy;
    std::vector<uint8_t> flags;  // filled only when something is undefined
};
void Gather(const LocalMemory& memory, const Segments& segments, Gathered& out);
// Atomic writes to GM: `bytes` bytes of `dtype`, operation 1 add, 2 max, 3 min.
void Accumulate(int operation, Dtype dtype, uint8_t* to, const uint8_t* from, uint64_t bytes);
inline uint8_t WriteKind(int atomic, Dtype dtype)
{
    return atomic == 0 ? kWrite : static_cast<uint8_t>(kAtomic + atomic + 4 * static_cast<int>(dtype));
}
void Scatter(LocalMemory& memory, const Segments& segments, const uint8_t* data, const uint8_t* flags);

}  // namespace pypto_host
