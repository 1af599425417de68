// The plain types that cross from a compiled kernel into the engine.
//
// A kernel is compiled against thin templates that only pack their arguments into these structs; everything with a
// meaning lives in the engine, which is compiled once. That keeps a batch of fifty kernels within a few seconds.
#pragma once

#include <cstdint>

namespace pypto_host {

enum class Dtype : uint8_t { F16, BF16, F32, I8, U8, I16, U16, I32, U32, I64, U64, None };

enum class Memory : uint8_t { GM, UB, L1, L0A, L0B, L0C, BT, FB, None };

enum class Pipe : uint8_t { S, V, M, MTE1, MTE2, MTE3, FIX, All };
constexpr int kPipes = 7;

// A tensor in an on-chip memory. Addresses and bounds are bytes from the start of that memory.
struct LocalRef {
    uint32_t address = 0;
    uint32_t elements = 0;
    uint32_t base = 0;   // first byte of the buffer it was cut from
    uint32_t limit = 0;  // first byte after that buffer
    uint64_t overflow = 0;  // non-zero: the address did not fit (element offset of a wild index)
    Memory memory = Memory::None;
    Dtype dtype = Dtype::None;
    uint8_t position = 0;  // AscendC::TPosition
};

// A tensor in global memory; `address` is the engine's own token for an argument, never a usable pointer.
struct GlobalRef {
    uint64_t address = 0;
    uint64_t elements = 0;
    Dtype dtype = Dtype::None;
};

enum class VectorOp : uint8_t {
    Add, Sub, Mul, Div, Max, Min, And, Or,                       // two tensors
    Adds, Muls, Maxs, Mins, LeakyRelu, ShiftLeft, ShiftRight,    // tensor and scalar
    Axpy,                                                        // dst += src * scalar
    Abs, Exp, Ln, Sqrt, Rsqrt, Reciprocal, Relu, Not, Copy, Cast,  // one tensor
    Duplicate,                                                   // scalar only
};

// How the active lanes were given: `Count` contiguous elements, the first `amount` lanes of each repeat, or bits.
enum class MaskForm : uint8_t { Count, First, Bits };

struct Mask {
    MaskForm form = MaskForm::Count;
    bool sets_mask = true;  // template argument isSetMask
    int64_t amount = 0;
    uint64_t low = 0;
    uint64_t high = 0;
    int64_t repeat = 1;
};

// Strides in blocks of 32 B, start to start: between the blocks of a repeat and between repeats.
struct Operand {
    LocalRef tensor;
    int64_t block_stride = 1;
    int64_t repeat_stride = 8;
};

struct VectorCall {
    VectorOp op = VectorOp::Add;
    const char* name = "";
    int line = 0;
    int sources = 0;
    Operand dst;
    Operand src[2];
    Mask mask;
    uint64_t scalar = 0;  // raw bits of a value of type `scalar_type`
    Dtype scalar_type = Dtype::None;
    uint8_t round = 0;    // AscendC::RoundMode
    bool round_shift = false;
};

enum class ReduceOp : uint8_t { Sum, Max, Min };
enum class ReduceScope : uint8_t { Repeat, Block, Pair };

struct ReduceCall {
    ReduceOp op = ReduceOp::Sum;
    ReduceScope scope = ReduceScope::Repeat;
    const char* name = "";
    int line = 0;
    LocalRef dst;
    LocalRef src;
    Mask mask;
    int64_t dst_repeat_stride = 1;
    int64_t src_block_stride = 1;
    int64_t src_repeat_stride = 8;
    uint8_t order = 0;  // AscendC::ReduceOrder
};

struct BrcbCall {
    int line = 0;
    LocalRef dst;
    LocalRef src;
    int64_t repeat = 1;
    int64_t dst_block_stride = 1;
    int64_t dst_repeat_stride = 8;
};

// Compare (two tensors or tensor and scalar), Select (the same) and Gather: instructions whose operands do not all
// advance by lanes of one size. `count` in elements, offsets of Gather in bytes.
enum class PickOp : uint8_t { Compare, Select, Gather };

struct PickCall {
    PickOp op = PickOp::Compare;
    const char* name = "";
    int line = 0;
    LocalRef dst;
    LocalRef mask;  // Select: bits; Gather: byte offsets
    LocalRef src[2];
    bool has_scalar = false;
    uint64_t scalar = 0;
    uint8_t mode = 0;  // AscendC::CMPMODE or SELMODE
    uint64_t base = 0;
    uint64_t count = 0;
};

// Sort32 (one source, `index` beside it) and MrgSort (2 to 4 sources of `lengths` records, `lists` a bit for each).
enum class SortOp : uint8_t { Blocks, Merge };

struct SortCall {
    SortOp op = SortOp::Blocks;
    const char* name = "";
    int line = 0;
    LocalRef dst;
    LocalRef src[4];
    LocalRef index;
    int64_t lengths[4] = {};
    int64_t lists = 0;
    bool suspends = false;
    int64_t repeat = 1;
};

enum class CopyPath : uint8_t { GmToLocal, LocalToGm, LocalToLocal };
enum class CopyForm : uint8_t { Count, Blocks, Pad };

// One DMA call. Count: `length` elements. Blocks: lengths and gaps in 32 B. Pad: length in bytes, gaps in bytes on the
// GM side and 32 B blocks on the local side. A gap runs from the end of a block to the start of the next.
struct CopyCall {
    CopyPath path = CopyPath::GmToLocal;
    CopyForm form = CopyForm::Count;
    const char* name = "DataCopy";
    int line = 0;
    LocalRef local;
    LocalRef local_src;  // LocalToLocal only
    GlobalRef global;
    int64_t blocks = 1;
    int64_t length = 0;
    int64_t src_gap = 0;
    int64_t dst_gap = 0;
    bool pads = false;
    int64_t left = 0;   // elements
    int64_t right = 0;  // elements
    uint64_t pad_bits = 0;
};

// One value of a printed text.
struct ShownValue {
    bool whole = false;
    int64_t integer = 0;
    double number = 0;
};

// What the generated registry tells the runner about one kernel.
struct KernelEntry {
    const char* name;
    const char* key;        // content hash of the kernel's text
    const char* signature;  // one letter a parameter: see registry.h
    void (*invoke)(const uint64_t* slots);
};

// ---- entry points of the engine; `line` is the kernel's own line -----------------------------------------------
bool Enter(int line);  // false when the line is dropped in this run
void IssueVector(const VectorCall& call);
void IssueReduce(const ReduceCall& call);
void IssueBrcb(const BrcbCall& call);
void IssuePick(const PickCall& call);
void IssueTranspose(const LocalRef& dst, const LocalRef& src, int line);
void IssueSort(const SortCall& call);
void IssueCopy(const CopyCall& call);
uint64_t ScalarReadLocal(const LocalRef& tensor, uint64_t index, int line);
void ScalarWriteLocal(const LocalRef& tensor, uint64_t index, uint64_t bits, int line);
uint64_t ScalarReadGlobal(const GlobalRef& tensor, uint64_t index, int line);
void ScalarWriteGlobal(const GlobalRef& tensor, uint64_t index, uint64_t bits, int line);
void SetFlagOn(int event, int64_t id, int line);
void WaitFlagOn(int event, int64_t id, int line);
void BarrierOn(Pipe pipe, int line);
void SetMaskMode(bool counter, int line);
void SetMaskBits(Dtype dtype, uint64_t high, uint64_t low, int line);
void SetMaskLength(Dtype dtype, int64_t length, bool counter, int line);
void SetAtomic(int operation, Dtype dtype, int line);  // 0 none, 1 add, 2 max, 3 min
void SetDeqScaleBits(uint16_t half_bits, int line);
void PipeCreated(int line);
void PipeDestroyed(int line);
// Address and byte size of a new buffer; `size` is rounded up to 32 B.
uint32_t AllocateBuffer(Memory memory, uint64_t size, int line);
LocalRef CutBuffer(Memory memory, uint8_t position, Dtype dtype, uint32_t base, uint64_t size, bool ready,
                   uint64_t elements, uint64_t offset, int line);
void ShowText(const char* text, const ShownValue* values, int count, int line);
void DumpLocal(const LocalRef& tensor, uint32_t desc, uint32_t count, int line);
void DumpGlobal(const GlobalRef& tensor, uint32_t desc, uint32_t count, int line);
void DeclareTaskType(int type, int line);
int64_t BlockIndex();
int64_t BlockCount();
bool OnVectorCore();
bool OnCubeCore();

}  // namespace pypto_host
