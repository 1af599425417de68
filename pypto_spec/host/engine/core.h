// One core of a run: its on-chip memories, the state of its scalar stream, its pipes and flags.
#pragma once

#include <ucontext.h>

#include <csetjmp>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "clock.h"
#include "shadow.h"

namespace pypto_host {

class Core;
class Run;

struct Op;

// The effect of one instruction, applied when the scheduler completes it.
struct Work {
    virtual ~Work() = default;
    virtual void Execute(Core& core, const Event& event) = 0;
    // What only the hardware's own flags decide (unit flags of L0C): whether the instruction at the head of its queue
    // may start, what starting does to them, and what it waits for, in words for a deadlock.
    virtual bool Ready(const Core&) const { return true; }
    virtual void Start(Core&, Op&) {}
    virtual std::string Waits(const Core&) const { return ""; }
    // The byte of L0C at which the accumulator begins that this shares unit flags of, for timelines; -1 without any.
    virtual int Tile() const { return -1; }
};

enum class OpKind : uint8_t { Instruction, Set, Wait, Barrier };

struct Op {
    OpKind kind = OpKind::Instruction;
    Pipe pipe = Pipe::S;
    int flag = -1;
    uint32_t number = 0;
    bool fenced = false;  // the call begins with a barrier of its own pipe (Fixpipe)
    Clock dispatched;  // what the scalar stream knew complete when it dispatched this
    Clock started;
    std::unique_ptr<Work> work;
};

// One line a dispatched event; the place a cost table is applied to for a timeline.
struct Record {
    Pipe pipe;
    const char* name;
    int line;
    int flag;
    uint64_t elements;
    uint64_t bytes;
    uint32_t blocks;
};

// A line that a kernel printed or dumped.
struct ShownLine {
    int line;
    std::string text;
};

struct PipeState {
    std::deque<Op> queue;
    std::vector<Op> flying;  // started, effect not yet applied
    Clock known;             // complete before the next instruction of this pipe starts
    uint32_t last = 0;       // last event taken from the queue
};

struct FlagState {
    bool set = false;
    Clock carried;
    uint32_t set_event = 0;
    uint32_t wait_event = 0;  // the wait that consumed the previous set
};

// Bytes that a TPipe hands out of each memory, in the order of Memory. UB: 192 KiB less the 8 KiB scratch of the API
// (TOTAL_VEC_LOCAL_SIZE, 184 KiB); L1: less 128 B (KFC_L1_RESERVER_SIZE).
constexpr uint32_t kMemoryBytes[] = {0, 188416, 524160, 65536, 65536, 131072, 1024, 2048, 0};
inline uint32_t MemoryBytes(Memory memory) { return kMemoryBytes[static_cast<int>(memory)]; }

enum class CoreKind : uint8_t { Vector, Cube };
inline const char* CoreName(CoreKind kind) { return kind == CoreKind::Cube ? "cube core" : "vector core"; }
inline bool HasMemory(CoreKind kind, Memory memory)
{
    return kind == CoreKind::Vector ? memory == Memory::UB : memory >= Memory::L1 && memory <= Memory::FB;
}

constexpr size_t kShownBytes = 1 << 20;  // DUMP_UINTSIZE of CANN 8.1: 1 MiB a core
constexpr int kMostBuffers = 64;  // QBUF_MAX_LEN
constexpr int kEvents = 35;
constexpr int kFlagIds = 8;

struct LocalMemory {
    std::vector<uint8_t> data;
    std::vector<uint8_t> defined;  // one byte a byte, one bit a bit: set once written with defined data
    Shadow shadow;
    uint32_t used = 0;  // bytes handed out by InitBuffer
};

// Mask mode, vector mask, atomics: state of the scalar stream, copied into each instruction at dispatch.
struct ScalarState {
    bool counter = false;
    bool mask_chosen = false;  // set by SetVectorMask and not reset
    uint64_t mask_low = ~0ull;
    uint64_t mask_high = ~0ull;
    int mask_line = 0;
    int mode_line = 0;
    int atomic = 0;
    Dtype atomic_dtype = Dtype::None;
    int atomic_line = 0;
    bool has_deq = false;
    uint16_t deq = 0;
    int pipes_created = 0;
    int pipe_line = 0;
    bool destroyed = false;
    int buffers = 0;
    bool ended_by_barrier = true;  // nothing dispatched since the last PipeBarrier<PIPE_ALL>
};

struct CubeState;

class Core {
public:
    Core(Run& run, int index);
    ~Core();

    // -- called from the kernel, on the core's own stack
    bool Enter(int line);
    // As Enter, for a call that exists on one kind of core only.
    bool EnterOn(CoreKind wanted, const char* name, int line);
    void Issue(Pipe pipe, const char* name, int line, std::unique_ptr<Work> work, uint64_t elements, uint64_t bytes,
               uint32_t blocks, bool fenced = false);
    void SetFlag(int event, int64_t id, int line);
    void WaitFlag(int event, int64_t id, int line);
    void Barrier(Pipe pipe, int line);
    Event ScalarEvent(const char* name, int line, uint8_t kind, uint64_t bytes);

    // -- called by the run
    bool Resume();  // runs the kernel until it yields; false once it has ended
    void Finish();
    void Release();  // gives back memories and stack; the records stay
    bool Done() const { return done_; }

    // Keeps a line that the kernel shows, up to as much as a core of the device keeps.
    void Show(int line, std::string text);
    const std::vector<ShownLine>& Shown() const { return shown_; }

    void Report(const char* kind, int line, std::string message);
    void Report(const char* kind, std::vector<int> lines, std::string message);
    // Skipped instructions leave bytes undefined through no fault of the later ones.
    void Skip() { skipped_ = true; }
    bool Skipped() const { return skipped_; }
    [[noreturn]] void Abort();
    // Records an access and reports every race it is part of.
    void Touch(Shadow& shadow, const std::string& where, Event event, uint8_t kind, const Segment* segments,
               size_t count, uint64_t offset = 0);
    std::string Describe(uint32_t number) const;
    const Record& At(uint32_t number) const { return records_[number]; }
    const std::vector<Record>& Records() const { return records_; }
    LocalMemory* Local(Memory memory);  // null where this kind of core has none
    CubeState& Cube();
    const CubeState* CubeOrNull() const { return cube_.get(); }
    // The events that a TPipe of a cube core holds until it is destroyed (M_MTE1 0, 1 and 2).
    void HoldPipeEvents(bool held);
    bool Timing() const;  // only what is dispatched counts: no data, no order
    void AllocateStack();

    ScalarState state;
    CoreKind kind = CoreKind::Vector;
    Run& run;
    const int index;
    int line = 0;

private:
    static void Main(unsigned low, unsigned high);
    bool CheckFlag(int event, int64_t id, int line, const char* name);
    uint32_t Add(Pipe pipe, const char* name, int line, int flag, uint64_t elements, uint64_t bytes, uint32_t blocks);
    void Enqueue(Op op);
    void Drift();
    bool Step(bool ordered);
    bool CanTake(const PipeState& pipe) const;
    void Take(PipeState& pipe, bool complete);
    void Complete(PipeState& pipe, size_t which);
    void DrainAll(const char* what, int line);
    void Deadlock(int line, const std::string& what);
    std::string FlagName(int flag) const;

    PipeState pipes_[kPipes];
    FlagState flags_[kEvents * kFlagIds];
    LocalMemory memories_[9];
    std::unique_ptr<CubeState> cube_;
    std::vector<Record> records_;
    std::vector<ShownLine> shown_;
    size_t shown_bytes_ = 0;
    std::vector<Conflict> conflicts_;
    Clock scalar_;
    uint64_t waiting_ = 0;  // events in queues
    bool done_ = false;
    bool failed_ = false;
    bool skipped_ = false;
    uint8_t* stack_ = nullptr;
    size_t stack_bytes_ = 0;
    ucontext_t context_;
};

}  // namespace pypto_host
