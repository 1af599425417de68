// One Fixpipe on its way through the FIX pipe.
#pragma once

#include "cube.h"

namespace pypto_host {

struct DrainWork final : Work {
    FixpipeCall call;
    Dtype source = Dtype::None;
    Dtype target = Dtype::None;
    int argument = -1;
    int atomic = 0;
    Segments boxes;   // whole boxes of L0C, a column of them each
    Segments rows;    // of GM or L1
    Segments scales;  // of L1

    void Execute(Core& core, const Event& event) override;
    bool Ready(const Core& core) const override;
    void Start(Core& core, Op& op) override;
    std::string Waits(const Core& core) const override;
    int Tile() const override { return call.unit_flag == 0 ? -1 : static_cast<int>(boxes[0].address); }

private:
    bool CheckTile(Core& core) const;
    void Mark(Core& core, const Event& event) const;
    std::vector<uint64_t> Scales(Core& core) const;
};

// A conversion on the way out, by quantPre and the type of the accumulator. `convert` takes `count` accumulators with
// one scale each and an optional ReLU.
using ConvertFunction = void (*)(const void* from, void* to, const uint64_t* scales, int64_t count, bool relu);
struct Conversion {
    Dtype source, target;
    uint8_t quant;
    const char* name;
    bool scaled;
    bool by_column;
    bool to_local;  // exists to L1 as well
    ConvertFunction convert;
};
const Conversion* FindConversion(Dtype source, Dtype target, uint8_t quant);
const char* QuantName(uint8_t quant);

}  // namespace pypto_host
