// The kinds of flags between pipes.
#pragma once

#include "core.h"

namespace pypto_host {

struct EventKind {
    const char* name;
    Pipe source;
    Pipe target;
    bool aiv;
    bool aic;
};

// In the order of AscendC::HardEvent.
extern const EventKind kKinds[kEvents];

}  // namespace pypto_host
