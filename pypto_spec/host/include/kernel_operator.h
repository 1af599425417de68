// The Ascend C subset of rendered kernels, with a functional meaning on the CPU (the host model).
//
// Signatures, names and units are those of the device's own headers, so that one kernel file compiles for both; the
// rules they follow are listed in docs (host model). Every call takes the caller's line as a last default argument.
#pragma once

#include "pypto_host/copy.h"
#include "pypto_host/cube.h"
#include "pypto_host/cube_params.h"
#include "pypto_host/params.h"
#include "pypto_host/pick.h"
#include "pypto_host/pipe.h"
#include "pypto_host/reduce.h"
#include "pypto_host/show.h"
#include "pypto_host/sort.h"
#include "pypto_host/sync.h"
#include "pypto_host/tensors.h"
#include "pypto_host/types.h"
#include "pypto_host/vector.h"
