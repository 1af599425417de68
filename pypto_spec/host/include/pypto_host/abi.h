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

// ---- the cube core ------------------------------------------------------------------------------------------
// GM to L1 with row-major matrices cut into column blocks of 32 B. Strides as in AscendC::Nd2NzParams.
struct Nd2NzCall {
    int line = 0;
    LocalRef dst;
    GlobalRef src;
    int64_t matrices = 0;
    int64_t rows = 0;
    int64_t columns = 0;             // elements
    int64_t src_matrix_stride = 0;   // elements
    int64_t src_row_stride = 0;      // elements
    int64_t dst_column_stride = 0;   // 32 B, from one column block to the next
    int64_t dst_row_stride = 0;      // 32 B
    int64_t dst_matrix_stride = 0;   // elements
};

// L1 to L0A or L0B. Fractals: pieces of 512 B. Squares: pieces that are transposed, of one or two fractals. Window:
// a part of a matrix (LoadData3DParamsV2).
enum class LoadForm : uint8_t { Fractals, Squares, Window };

struct LoadCall {
    LoadForm form = LoadForm::Fractals;
    int line = 0;
    LocalRef dst;
    LocalRef src;
    bool transpose = false;
    int64_t start = 0;       // pieces
    int64_t repeat = 0;
    int64_t src_stride = 0;  // pieces, start to start
    int64_t dst_gap = 0;     // fractals, end to start
    int64_t dst_fractal_gap = 0;
    int64_t address_mode = 0;
    int64_t height = 0;      // l1H
    int64_t width = 0;       // l1W
    int64_t channels = 0;
    int64_t k_start = 0;
    int64_t m_start = 0;
    int64_t k_extension = 0;
    int64_t m_extension = 0;
    bool plain = true;       // strides, filters and dilations of 1, no padding, no small k
};

struct MmadCall {
    int line = 0;
    LocalRef dst;
    LocalRef left;
    LocalRef right;
    LocalRef bias;
    bool has_bias = false;
    int64_t m = 0;
    int64_t n = 0;
    int64_t k = 0;
    int64_t unit_flag = 0;
    bool wide_k = false;      // kDirectionAlign
    bool from_bias = false;   // cmatrixSource
    bool zero = true;         // cmatrixInitVal
    bool unsupported = false;  // a field that does nothing on this target
};

struct FixpipeCall {
    int line = 0;
    LocalRef src;
    GlobalRef global;
    LocalRef local;
    bool to_global = true;
    bool nz = false;
    LocalRef scales;
    bool has_scales = false;
    int64_t n = 0;
    int64_t m = 0;
    int64_t src_stride = 0;  // 16 elements of the accumulator
    int64_t dst_stride = 0;  // nd: elements, nz: 32 B
    bool relu = false;
    uint8_t quant = 0;       // QuantMode_t
    uint64_t scale = 0;
    int64_t matrices = 1;
    int64_t unit_flag = 0;
    bool channel_split = false;
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
void IssueNd2Nz(const Nd2NzCall& call);
void IssueLoad(const LoadCall& call);
void IssueMmad(const MmadCall& call);
void IssueFixpipe(const FixpipeCall& call);
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
