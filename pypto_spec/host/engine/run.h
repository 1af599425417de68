// One run of a kernel: arguments, blocks, schedule, findings.
#pragma once

#include <csetjmp>
#include <memory>
#include <string>
#include <vector>

#include "core.h"
#include "findings.h"

namespace pypto_host {

// As laid out by the Python side (ctypes.Structure); `scalar` holds the raw bits of a by-value argument.
struct Argument {
    uint64_t address;
    uint64_t bytes;
    uint64_t scalar;
    int32_t is_gm;
    int32_t dtype;
    int32_t readonly;
    int32_t reserved;
};

struct Options {
    int64_t blocks;
    uint64_t seed;
    const int32_t* drop;
    int64_t drop_count;
    int64_t most_events;  // dispatched instructions, flags and barriers of the whole run
    int64_t most_steps;   // basic blocks of scalar code of the whole run
    int64_t timing;       // not 0: records what is dispatched, moves no data and looks for no race
    const int32_t* only;  // the blocks that run, in ascending order, where `only_count` is not 0; else all do
    int64_t only_count;
};

// Arguments that alias each other share one region, so that races through either name are seen.
struct Region {
    uint64_t address;
    uint64_t bytes;
    std::unique_ptr<Shadow> shadow;
};

struct Place {
    int argument = -1;
    int64_t offset = 0;
};

class Run {
public:
    Run(const KernelEntry& kernel, const Argument* arguments, size_t count, const Options& options);
    void Execute();

    uint64_t Token(size_t argument) const;
    Place Find(uint64_t address) const;
    Region& RegionOf(int argument) { return regions_[static_cast<size_t>(region_of_[static_cast<size_t>(argument)])]; }
    uint64_t OffsetOf(int argument) const { return offset_of_[static_cast<size_t>(argument)]; }
    const Argument& At(int argument) const { return arguments_[static_cast<size_t>(argument)]; }
    bool Dropped(int line) const;
    bool CountEvent() { return ++events_ <= options_.most_events; }
    uint64_t Random(uint64_t below);
    const Core& CoreOf(int block) const;

    const KernelEntry& kernel;
    std::vector<uint64_t> slots;
    Findings findings;
    Core* current = nullptr;
    std::vector<std::unique_ptr<Core>> cores;
    ucontext_t scheduler;
    sigjmp_buf fault;
    int64_t steps_left;
    uint64_t seed;
    bool timing;
    int laziness = 0;  // 0: as soon as possible, ... 3: as late as possible
    int64_t blocks;

private:
    std::vector<Argument> arguments_;
    std::vector<Region> regions_;
    std::vector<int> region_of_;
    std::vector<uint64_t> offset_of_;
    std::vector<bool> dropped_;
    Options options_;
    uint64_t random_;
    int64_t events_ = 0;
};

Run* CurrentRun();
Core& CurrentCore();

// Signals of arithmetic and memory faults inside a kernel become findings; everything else keeps its handler.
class FaultGuard {
public:
    FaultGuard();
    ~FaultGuard();
};

}  // namespace pypto_host
