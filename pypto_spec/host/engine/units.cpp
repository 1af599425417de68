// Unit flags of L0C: one bit for each 512 B, by which Mmad and Fixpipe wait for each other without a flag.
#include "cube.h"
#include "findings.h"
#include "run.h"

namespace pypto_host {

namespace {

template <class Visit>
void EachUnit(const Segments& bytes, Visit visit)
{
    for (const Segment& segment : bytes) {
        const uint64_t last = (segment.address + segment.length - 1) / kFractalBytes;
        for (uint64_t unit = segment.address / kFractalBytes; unit <= last; ++unit) {
            visit(unit);
        }
    }
}

}  // namespace

bool UnitsReady(const Core& core, const Segments& bytes, bool drains)
{
    const CubeState* cube = core.CubeOrNull();
    const UnitState wanted = drains ? UnitState::Full : UnitState::Empty;
    bool ready = true;
    EachUnit(bytes, [&](uint64_t unit) {
        ready = ready && (cube == nullptr ? !drains : cube->units[unit].state == wanted);
    });
    return ready;
}

void StartUnits(Core& core, const Segments& bytes, bool drains, bool changes, Op& op)
{
    std::vector<Unit>& units = core.Cube().units;
    // What came before the other side's instruction came before this one; the accesses of L0C themselves are ordered
    // by their kind (shadow.cpp), since a clock cannot say that one instruction of a pipe is complete and those
    // before it are not.
    const Clock before = op.started;
    EachUnit(bytes, [&](uint64_t unit) { op.started.Join(units[unit].known); });
    EachUnit(bytes, [&](uint64_t unit) {
        if (changes) {
            units[unit].state = drains ? UnitState::Draining : UnitState::Filling;
            units[unit].event = op.number;
            units[unit].known = before;
        }
    });
}

void FinishUnits(Core& core, const Segments& bytes, bool drains)
{
    std::vector<Unit>& units = core.Cube().units;
    EachUnit(bytes, [&](uint64_t unit) { units[unit].state = drains ? UnitState::Empty : UnitState::Full; });
}

std::string UnitsAwaited(const Core& core, const Segments& bytes, bool drains)
{
    const CubeState* cube = core.CubeOrNull();
    std::string text;
    EachUnit(bytes, [&](uint64_t unit) {
        const bool full = cube != nullptr && cube->units[unit].state != UnitState::Empty;
        if (!text.empty() || full == drains) {
            return;
        }
        const unsigned long long low = unit * static_cast<uint64_t>(kFractalBytes);
        text = drains ? Format("the unit flag of L0C bytes [%llu, %llu), which a Mmad with unitFlag 3 sets", low,
                               low + kFractalBytes)
                      : Format("a Fixpipe with unitFlag 3 to reset the unit flag of L0C bytes [%llu, %llu), set by line %d",
                               low, low + kFractalBytes, core.At(cube->units[unit].event).line);
    });
    return text;
}

void ReportLeftUnits(Core& core)
{
    const std::vector<Unit>& units = core.Cube().units;
    for (size_t i = 0; i < units.size(); ++i) {
        if (units[i].state != UnitState::Empty) {
            size_t last = i;
            while (last + 1 < units.size() && units[last + 1].state != UnitState::Empty &&
                   units[last + 1].event == units[i].event) {
                ++last;
            }
            core.Report("unit-flag", core.At(units[i].event).line,
                        Format("the unit flags of L0C bytes [%zu, %zu) are still set at kernel end; a Fixpipe with "
                               "unitFlag 3 over all that this Mmad wrote resets them",
                               i * kFractalBytes, (last + 1) * kFractalBytes));
            i = last;
        }
    }
}

}  // namespace pypto_host
