// The life of a core: its memories, its stack, and the ways its kernel can end.
#include <sys/mman.h>

#include <exception>

#include "../include/pypto_host/types.h"
#include "cube.h"
#include "run.h"

namespace pypto_host {

namespace {

constexpr size_t kStackBytes = 1u << 20;
constexpr size_t kGuardBytes = 1u << 16;

}  // namespace

Core::Core(Run& owner, int number) : run(owner), index(number)
{
    records_.reserve(256);
    records_.push_back({Pipe::S, "start", 0, -1, 0, 0, 0});
}

Core::~Core()
{
    if (stack_ != nullptr) {
        munmap(stack_, stack_bytes_);
    }
}

void Core::Release()
{
    for (LocalMemory& memory : memories_) {
        memory = LocalMemory();
    }
    cube_.reset();
    if (stack_ != nullptr) {
        munmap(stack_, stack_bytes_);
        stack_ = nullptr;
    }
}

LocalMemory* Core::Local(Memory memory)
{
    if (!HasMemory(kind, memory)) {
        return nullptr;
    }
    LocalMemory& local = memories_[static_cast<int>(memory)];
    if (local.data.empty() && !run.timing) {
        const uint32_t bytes = MemoryBytes(memory);
        local.data.assign(bytes, 0xff);  // NaN in every float format: an undefined value that escapes is visible
        local.defined.assign(bytes, 0);
        local.shadow.Reset(bytes);
    }
    return &local;
}

CubeState& Core::Cube()
{
    if (cube_ == nullptr) {
        cube_ = std::make_unique<CubeState>();
    }
    return *cube_;
}

bool Core::Timing() const { return run.timing; }

void Core::HoldPipeEvents(bool held)
{
    if (kind != CoreKind::Cube || run.timing) {
        return;
    }
    for (int id = 0; id < 3; ++id) {
        FlagState& flag = flags_[static_cast<int>(AscendC::HardEvent::M_MTE1) * kFlagIds + id];
        flag.set = held;
        flag.set_event = 0;
    }
}

void Core::AllocateStack()
{
    stack_bytes_ = kStackBytes + kGuardBytes;
    void* memory = mmap(nullptr, stack_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        stack_ = nullptr;
        done_ = failed_ = true;
        Report("internal", 0, "no memory for the stack of a block");
        return;
    }
    stack_ = static_cast<uint8_t*>(memory);
    mprotect(stack_, kGuardBytes, PROT_NONE);  // endless recursion meets this
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_ + kGuardBytes;
    context_.uc_stack.ss_size = kStackBytes;
    context_.uc_link = &run.scheduler;
    const uint64_t self = reinterpret_cast<uint64_t>(this);
    makecontext(&context_, reinterpret_cast<void (*)()>(&Core::Main), 2, static_cast<unsigned>(self),
                static_cast<unsigned>(self >> 32));
}

void Core::Main(unsigned low, unsigned high)
{
    Core* core = reinterpret_cast<Core*>(static_cast<uint64_t>(low) | (static_cast<uint64_t>(high) << 32));
    try {
        core->run.kernel.invoke(core->run.slots.data());
        core->Finish();
    } catch (const std::exception& error) {
        core->Report("internal", core->line, error.what());
    } catch (...) {
        core->Report("internal", core->line, "an exception left the kernel");
    }
    core->done_ = true;
    core->Abort();
}

bool Core::Resume()
{
    if (stack_ == nullptr) {
        AllocateStack();
    }
    if (done_) {
        return false;
    }
    run.current = this;
    if (sigsetjmp(run.fault, 1) == 0) {
        swapcontext(&run.scheduler, &context_);
    } else {
        Report("crash", line,
               "scalar code of the kernel faulted after this line (division by zero, wild pointer or endless "
               "recursion)");
        failed_ = done_ = true;
    }
    run.current = nullptr;
    return !done_;
}

void Core::Abort()
{
    done_ = true;
    ucontext_t unused;
    swapcontext(&unused, &run.scheduler);
    __builtin_unreachable();
}

}  // namespace pypto_host
