// The arithmetic of Mmad on dense operands.
#pragma once

#include <cstdint>

namespace pypto_host {

// c[m][n] += a[m][k] * b[k][n], in the order of k, each product and each sum rounded to fp32. `n` is a multiple of 16.
void MultiplyFloat(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k);

// The same in int32; the values of a and b are those of int8, so that no sum of 4095 products leaves the range.
void MultiplyInteger(const int32_t* a, const int32_t* b, int32_t* c, int64_t m, int64_t n, int64_t k);

}  // namespace pypto_host
