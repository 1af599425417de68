#include "core.h"

#include "cube.h"
#include "events.h"
#include "run.h"

namespace pypto_host {

namespace {

constexpr size_t kMostFlying = 4;
constexpr uint64_t kMostWaiting = 4096;

}  // namespace

void Core::Report(const char* kind, std::vector<int> lines, std::string message)
{
    run.findings.Add(kind, std::move(lines), index, std::move(message));
}

void Core::Report(const char* kind, int at, std::string message)
{
    Report(kind, std::vector<int>{at}, Format("line %d: ", at) + message);
}

std::string Core::Describe(uint32_t number) const
{
    const Record& record = records_[number];
    return Format("line %d (%s on %s)", record.line, record.name, PipeName(record.pipe));
}

void Core::Show(int at, std::string text)
{
    state.ended_by_barrier = false;
    if (shown_bytes_ > kShownBytes) {
        return;
    }
    shown_bytes_ += text.size();
    shown_.push_back({at, shown_bytes_ > kShownBytes ? "... and more than a core can keep" : std::move(text)});
}

bool Core::Enter(int at)
{
    line = at;
    if (!run.CountEvent()) {
        Report("endless", at, "the kernel dispatches more instructions than the cap of this run allows");
        Abort();
    }
    return !run.Dropped(at);
}

bool Core::EnterOn(CoreKind wanted, const char* name, int at)
{
    if (!Enter(at)) {
        return false;
    }
    if (kind != wanted) {
        Report("wrong-core", at, Format("%s does not exist on a %s; this kernel is declared for one", name,
                                        CoreName(kind)));
        Skip();
        return false;
    }
    return true;
}

uint32_t Core::Add(Pipe pipe, const char* name, int at, int flag, uint64_t elements, uint64_t bytes, uint32_t blocks)
{
    records_.push_back({pipe, name, at, flag, elements, bytes, blocks});
    return static_cast<uint32_t>(records_.size() - 1);
}

void Core::Issue(Pipe pipe, const char* name, int at, std::unique_ptr<Work> work, uint64_t elements, uint64_t bytes,
                 uint32_t blocks, bool fenced)
{
    state.ended_by_barrier = false;
    Op op;
    op.kind = OpKind::Instruction;
    op.pipe = pipe;
    op.number = Add(pipe, name, at, work == nullptr ? -1 : work->Tile(), elements, bytes, blocks);
    if (run.timing) {
        return;
    }
    op.dispatched = pipes_[0].known;
    op.fenced = fenced;
    op.work = std::move(work);
    Enqueue(std::move(op));
}

void Core::Enqueue(Op op)
{
    pipes_[static_cast<int>(op.pipe)].queue.push_back(std::move(op));
    ++waiting_;
    Drift();
}

// Lets the pipes get on with their queues, as far as the schedule of this run likes.
void Core::Drift()
{
    if (run.laziness == 0) {
        while (waiting_ != 0 && Step(true)) {
        }
        return;
    }
    const uint64_t odds = run.laziness == 1 ? 1 : run.laziness == 2 ? 4 : 64;
    if (waiting_ > kMostWaiting || run.Random(odds) == 0) {
        uint64_t steps = 1 + run.Random(waiting_ > kMostWaiting ? kMostWaiting : 6);
        while (steps-- != 0 && Step(false)) {
        }
        if (run.cores.size() > 1 && run.Random(8) == 0) {
            swapcontext(&context_, &run.scheduler);  // let another block dispatch for a while
        }
    }
}

bool Core::CanTake(const PipeState& pipe) const
{
    if (pipe.queue.empty()) {
        return false;
    }
    const Op& op = pipe.queue.front();
    switch (op.kind) {
        case OpKind::Instruction:
            return (op.fenced ? pipe.flying.empty() : pipe.flying.size() < kMostFlying) && op.work->Ready(*this);
        case OpKind::Wait: return flags_[op.flag].set;
        default: return pipe.flying.empty();
    }
}

bool Core::Step(bool ordered)
{
    int candidates[2 * kPipes];
    int count = 0;
    int best = -1;
    for (int i = 0; i < kPipes; ++i) {
        const bool takes = CanTake(pipes_[i]);
        if (ordered) {
            if (takes && (best < 0 || pipes_[i].queue.front().number < pipes_[best].queue.front().number)) {
                best = i;
            }
            continue;
        }
        if (takes) {
            candidates[count++] = i;
        }
        if (!pipes_[i].flying.empty()) {
            candidates[count++] = i + kPipes;
        }
    }
    if (ordered) {
        if (best < 0) {
            return false;
        }
        Take(pipes_[best], true);
        return true;
    }
    if (count == 0) {
        return false;
    }
    const int chosen = candidates[run.Random(static_cast<uint64_t>(count))];
    if (chosen >= kPipes) {
        PipeState& pipe = pipes_[chosen - kPipes];
        // Mmads on one tile need no barrier where the hardware keeps their order: M completes in order, and what lacks
        // a barrier is found by happens-before.
        Complete(pipe, chosen - kPipes == static_cast<int>(Pipe::M) ? 0 : run.Random(pipe.flying.size()));
    } else {
        Take(pipes_[chosen], false);
    }
    return true;
}

void Core::Take(PipeState& pipe, bool complete)
{
    Op op = std::move(pipe.queue.front());
    pipe.queue.pop_front();
    --waiting_;
    pipe.known.Join(op.dispatched);
    const int self = static_cast<int>(op.pipe);
    switch (op.kind) {
        case OpKind::Instruction:
            if (op.fenced) {
                pipe.known.at[self] = pipe.last;
            }
            op.started = pipe.known;
            op.work->Start(*this, op);
            pipe.known = op.started;
            pipe.last = op.number;
            pipe.flying.push_back(std::move(op));
            if (complete) {
                Complete(pipe, pipe.flying.size() - 1);
            }
            return;
        case OpKind::Barrier:
            pipe.known.at[self] = pipe.last = op.number;
            return;
        case OpKind::Set: {
            FlagState& flag = flags_[op.flag];
            const Pipe target = kKinds[op.flag / kFlagIds].target;
            const bool consumed = flag.wait_event == 0 || target == op.pipe || pipe.known.Knows(target, flag.wait_event);
            if (flag.set || !consumed) {
                Report("double-set", {At(flag.set_event).line, At(op.number).line},
                       Format("line %d sets %s again; the set of line %d %s", At(op.number).line,
                              FlagName(op.flag).c_str(), At(flag.set_event).line,
                              flag.set ? "has not been waited for"
                                       : "is waited for, but nothing orders that wait before this set"));
            }
            pipe.last = op.number;
            flag.carried = pipe.known;
            flag.carried.at[self] = op.number;
            flag.set = true;
            flag.set_event = op.number;
            return;
        }
        case OpKind::Wait: {
            FlagState& flag = flags_[op.flag];
            pipe.known.Join(flag.carried);
            pipe.last = op.number;
            flag.set = false;
            flag.wait_event = op.number;
            return;
        }
    }
}

void Core::Complete(PipeState& pipe, size_t which)
{
    Op op = std::move(pipe.flying[which]);
    pipe.flying.erase(pipe.flying.begin() + static_cast<std::ptrdiff_t>(which));
    const Event event = {op.number, static_cast<uint16_t>(index), op.pipe, kRead, &op.started};
    op.work->Execute(*this, event);
}

// Scalar accesses happen in order on the scalar stream, at dispatch.
Event Core::ScalarEvent(const char* name, int at, uint8_t kind, uint64_t bytes)
{
    state.ended_by_barrier = false;
    const uint32_t number = Add(Pipe::S, name, at, -1, 1, bytes, 1);
    pipes_[0].last = number;
    // In order among themselves; other pipes learn of them through a flag only, not by being dispatched later.
    scalar_ = pipes_[0].known;
    scalar_.at[0] = number;
    return {number, static_cast<uint16_t>(index), Pipe::S, kind, &scalar_};
}

void Core::DrainAll(const char* what, int at)
{
    while (true) {
        bool busy = false;
        for (const PipeState& pipe : pipes_) {
            busy = busy || !pipe.queue.empty() || !pipe.flying.empty();
        }
        if (!busy) {
            return;
        }
        if (!Step(run.laziness == 0)) {
            Deadlock(at, what);
        }
    }
}

void Core::Deadlock(int at, const std::string& what)
{
    std::vector<int> lines;
    std::string text = what + ":";
    for (const PipeState& pipe : pipes_) {
        if (pipe.queue.empty()) {
            continue;
        }
        const Op& op = pipe.queue.front();
        const std::string awaited = op.kind == OpKind::Wait          ? FlagName(op.flag)
                                    : op.kind == OpKind::Instruction ? op.work->Waits(*this)
                                                                     : "";
        if (!awaited.empty()) {
            lines.push_back(At(op.number).line);
            text += Format(" pipe %s waits at line %d for %s;", PipeName(op.pipe), lines.back(), awaited.c_str());
        }
    }
    if (at != 0) {
        lines.push_back(at);
    }
    text += " nothing left can set it";
    Report("deadlock", std::move(lines), text);
    failed_ = true;
    if (run.current == this && !done_) {
        Abort();
    }
}

void Core::Touch(Shadow& shadow, const std::string& where, Event event, uint8_t kind, const Segment* segments,
                 size_t count, uint64_t offset)
{
    event.kind = kind;
    conflicts_.clear();
    for (size_t i = 0; i < count; ++i) {
        shadow.Touch(event, segments[i].address + offset, segments[i].length, conflicts_);
    }
    for (const Conflict& conflict : conflicts_) {
        const Core& other = run.CoreOf(conflict.earlier.core);
        const bool other_first = conflict.earlier.core != event.core ? conflict.earlier.core < event.core
                                                                    : conflict.earlier.event < event.number;
        const uint8_t first_kind = other_first ? conflict.earlier.kind : kind;
        const uint8_t second_kind = other_first ? kind : conflict.earlier.kind;
        const char* hazard = IsRead(first_kind) ? "WAR" : IsRead(second_kind) ? "RAW" : "WAW";
        const Core& first = other_first ? other : *this;
        const Core& second = other_first ? *this : other;
        const uint32_t first_event = other_first ? conflict.earlier.event : event.number;
        const uint32_t second_event = other_first ? event.number : conflict.earlier.event;
        run.findings.AddRace(hazard, where, first.At(first_event).line, second.At(second_event).line,
                             first.Describe(first_event), second.Describe(second_event), first.index, second.index,
                             conflict.low - offset, conflict.high - offset);
    }
}

void Core::Finish()
{
    if (!state.ended_by_barrier) {
        Report("missing-end-barrier", line, "the kernel ends without PipeBarrier<PIPE_ALL>() as its last statement");
    }
    if (state.pipes_created != 0 && !state.destroyed) {
        Report("missing-destroy", state.pipe_line, "the TPipe created here is never destroyed (pipe.Destroy())");
    }
    if (state.counter) {
        Report("state-left", state.mode_line, "counter mask mode is still on at kernel end (SetMaskNorm missing)");
    }
    if (state.mask_chosen) {
        Report("state-left", state.mask_line, "the vector mask set here is still in place at kernel end (ResetMask missing)");
    }
    if (state.atomic != 0) {
        Report("state-left", state.atomic_line, "atomic writes are still on at kernel end (SetAtomicNone missing)");
    }
    DrainAll("the kernel ends", 0);
    if (cube_ != nullptr) {
        ReportLeftUnits(*this);
    }
    for (int flag = 0; flag < kEvents * kFlagIds; ++flag) {
        if (flags_[flag].set && flags_[flag].set_event != 0) {
            const int at = At(flags_[flag].set_event).line;
            Report("leftover-flag", at, Format("%s is still set at kernel end", FlagName(flag).c_str()));
        }
    }
}

}  // namespace pypto_host
