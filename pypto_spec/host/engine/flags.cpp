// Flags and barriers, as the scalar stream dispatches them.
#include "../include/pypto_host/types.h"
#include "events.h"
#include "run.h"

namespace pypto_host {

using P = Pipe;
// In the order of AscendC::HardEvent; `aiv`, `aic`: legal on a vector or a cube core of this target.
const EventKind kKinds[kEvents] = {
    {"MTE2_MTE1", P::MTE2, P::MTE1, false, true},         {"MTE1_MTE2", P::MTE1, P::MTE2, false, true},
    {"MTE1_M", P::MTE1, P::M, false, true},               {"M_MTE1", P::M, P::MTE1, false, true},
    {"MTE2_V", P::MTE2, P::V, true, false},               {"V_MTE2", P::V, P::MTE2, true, false},
    {"MTE3_V", P::MTE3, P::V, true, false},               {"V_MTE3", P::V, P::MTE3, true, false},
    {"M_V", P::M, P::V, false, false},                    {"V_M", P::V, P::M, false, false},
    {"V_V", P::V, P::V, true, false},                     {"MTE3_MTE1", P::MTE3, P::MTE1, false, true},
    {"MTE1_MTE3", P::MTE1, P::MTE3, false, true},         {"MTE1_V", P::MTE1, P::V, false, false},
    {"MTE2_M", P::MTE2, P::M, false, true},               {"M_MTE2", P::M, P::MTE2, false, true},
    {"V_MTE1", P::V, P::MTE1, false, false},              {"M_FIX", P::M, P::FIX, false, true},
    {"FIX_M", P::FIX, P::M, false, true},                 {"MTE3_MTE2", P::MTE3, P::MTE2, true, true},
    {"MTE2_MTE3", P::MTE2, P::MTE3, true, true},          {"S_V", P::S, P::V, true, false},
    {"V_S", P::V, P::S, true, false},                     {"S_MTE2", P::S, P::MTE2, true, true},
    {"MTE2_S", P::MTE2, P::S, true, true},                {"S_MTE3", P::S, P::MTE3, true, true},
    {"MTE3_S", P::MTE3, P::S, true, true},                {"MTE2_FIX", P::MTE2, P::FIX, false, true},
    {"FIX_MTE2", P::FIX, P::MTE2, false, true},           {"FIX_S", P::FIX, P::S, false, true},
    {"M_S", P::M, P::S, false, true},                     {"FIX_MTE3", P::FIX, P::MTE3, false, true},
    {"MTE1_FIX", P::MTE1, P::FIX, false, true},           {"FIX_MTE1", P::FIX, P::MTE1, false, true},
    {"FIX_FIX", P::FIX, P::FIX, false, true},
};
static_assert(static_cast<int>(AscendC::HardEvent::MAX) == kEvents);

std::string Core::FlagName(int flag) const
{
    return Format("flag %s id %d", kKinds[flag / kFlagIds].name, flag % kFlagIds);
}

bool Core::CheckFlag(int event, int64_t id, int at, const char* name)
{
    if (event < 0 || event >= kEvents || !(kind == CoreKind::Cube ? kKinds[event].aic : kKinds[event].aiv)) {
        Report("flag-kind", at, Format("%s<%s> does not exist on a %s", name,
                                       event < kEvents ? kKinds[event].name : "?", CoreName(kind)));
        return false;
    }
    if (id < 0 || id > 5) {
        Report("flag-id", at, Format("%s<%s>(%lld): ids 0 to 5 may be used", name, kKinds[event].name,
                                     static_cast<long long>(id)));
        return false;
    }
    if (state.pipes_created != 0 && !state.destroyed) {
        Report("flag-before-destroy", at,
               Format("%s<%s> before pipe.Destroy(): the TPipe may hold this event", name, kKinds[event].name));
    }
    return true;
}

void Core::SetFlag(int event, int64_t id, int at)
{
    if (!CheckFlag(event, id, at, "SetFlag")) {
        return;
    }
    state.ended_by_barrier = false;
    Op op;
    op.kind = OpKind::Set;
    op.pipe = kKinds[event].source;
    op.flag = event * kFlagIds + static_cast<int>(id);
    op.number = Add(op.pipe, "SetFlag", at, op.flag, 0, 0, 0);
    if (run.timing) {
        return;
    }
    op.dispatched = pipes_[0].known;
    if (op.pipe == Pipe::S) {  // the scalar stream itself: nothing to queue
        ++waiting_;
        pipes_[0].queue.push_back(std::move(op));
        Take(pipes_[0], true);
        Drift();
        return;
    }
    Enqueue(std::move(op));
}

void Core::WaitFlag(int event, int64_t id, int at)
{
    if (!CheckFlag(event, id, at, "WaitFlag")) {
        return;
    }
    state.ended_by_barrier = false;
    Op op;
    op.kind = OpKind::Wait;
    op.pipe = kKinds[event].target;
    op.flag = event * kFlagIds + static_cast<int>(id);
    op.number = Add(op.pipe, "WaitFlag", at, op.flag, 0, 0, 0);
    if (run.timing) {
        return;
    }
    op.dispatched = pipes_[0].known;
    if (op.pipe == Pipe::S) {  // dispatch itself waits
        const int flag = op.flag;
        while (!flags_[flag].set) {
            if (!Step(run.laziness == 0)) {
                Deadlock(at, Format("line %d waits for %s", at, FlagName(flag).c_str()));
            }
        }
        ++waiting_;
        pipes_[0].queue.push_back(std::move(op));
        Take(pipes_[0], true);
        return;
    }
    Enqueue(std::move(op));
}

void Core::Barrier(Pipe pipe, int at)
{
    const bool absent = kind == CoreKind::Cube ? pipe == Pipe::V : pipe == Pipe::M || pipe == Pipe::MTE1 || pipe == Pipe::FIX;
    if (absent) {
        Report("wrong-core", at, Format("PipeBarrier<PIPE_%s>: a %s has no such pipe", PipeName(pipe), CoreName(kind)));
        return;
    }
    if (pipe == Pipe::All) {
        const uint32_t number = Add(Pipe::All, "PipeBarrier", at, -1, 0, 0, 0);
        DrainAll("PipeBarrier<PIPE_ALL>", at);
        Clock all;
        for (int i = 0; i < kPipes; ++i) {
            all.Join(pipes_[i].known);
        }
        for (int i = 0; i < kPipes; ++i) {
            all.at[i] = number;
        }
        for (PipeState& each : pipes_) {
            each.known = all;
        }
        state.ended_by_barrier = true;
        return;
    }
    state.ended_by_barrier = false;
    Op op;
    op.kind = OpKind::Barrier;
    op.pipe = pipe;
    op.number = Add(pipe, "PipeBarrier", at, -1, 0, 0, 0);
    if (run.timing) {
        return;
    }
    op.dispatched = pipes_[0].known;
    Enqueue(std::move(op));
}

}  // namespace pypto_host
