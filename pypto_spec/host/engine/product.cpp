#include "product.h"

#include <cstring>

// A second version for wider registers where the machine has them. Neither fuses a product into a sum, and no sum is
// taken in another order, so that both give the same bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PYPTO_HOST_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define PYPTO_HOST_CLONES
#endif

namespace pypto_host {

namespace {

constexpr int64_t kWide = 16;  // columns at once
constexpr int64_t kHigh = 4;   // rows at once

}  // namespace

// The sums of 4 x 16 results stay in registers along the whole of k.
#define PYPTO_HOST_PRODUCT(NAME, T)                                                                           \
    PYPTO_HOST_CLONES void NAME(const T* a, const T* b, T* c, int64_t m, int64_t n, int64_t k)                \
    {                                                                                                         \
        typedef T Lanes __attribute__((vector_size(kWide * sizeof(T))));                                      \
        for (int64_t row = 0; row < m; row += kHigh) {                                                        \
            const int64_t high = m - row < kHigh ? m - row : kHigh;                                           \
            const T* line[kHigh];                                                                             \
            for (int64_t i = 0; i < kHigh; ++i) {                                                             \
                line[i] = a + (row + (i < high ? i : 0)) * k;                                                 \
            }                                                                                                 \
            for (int64_t column = 0; column < n; column += kWide) {                                           \
                Lanes sum[kHigh];                                                                             \
                for (int64_t i = 0; i < kHigh; ++i) {                                                         \
                    std::memcpy(&sum[i], c + (row + (i < high ? i : 0)) * n + column, sizeof(Lanes));         \
                }                                                                                             \
                for (int64_t depth = 0; depth < k; ++depth) {                                                 \
                    Lanes right;                                                                              \
                    std::memcpy(&right, b + depth * n + column, sizeof(Lanes));                               \
                    sum[0] += right * line[0][depth];                                                         \
                    sum[1] += right * line[1][depth];                                                         \
                    sum[2] += right * line[2][depth];                                                         \
                    sum[3] += right * line[3][depth];                                                         \
                }                                                                                             \
                for (int64_t i = 0; i < high; ++i) {                                                          \
                    std::memcpy(c + (row + i) * n + column, &sum[i], sizeof(Lanes));                          \
                }                                                                                             \
            }                                                                                                 \
        }                                                                                                     \
    }

PYPTO_HOST_PRODUCT(MultiplyFloat, float)
PYPTO_HOST_PRODUCT(MultiplyInteger, int32_t)
#undef PYPTO_HOST_PRODUCT

}  // namespace pypto_host
