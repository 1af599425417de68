#include "product.h"

#include <cstring>
#include <vector>

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

// The sums of 4 x 16 results stay in registers along the whole of k, and the 16 columns of b lie together.
#define PYPTO_HOST_PRODUCT(NAME, T)                                                                           \
    PYPTO_HOST_CLONES void NAME(const T* a, const T* b, T* c, int64_t m, int64_t n, int64_t k)                \
    {                                                                                                         \
        constexpr int64_t kHalf = kWide / 2;                                                                  \
        typedef T Lanes __attribute__((vector_size(kHalf * sizeof(T))));                                      \
        std::vector<T> panel(static_cast<size_t>(k * kWide));                                                 \
        for (int64_t column = 0; column < n; column += kWide) {                                               \
            for (int64_t depth = 0; depth < k; ++depth) {                                                     \
                std::memcpy(panel.data() + depth * kWide, b + depth * n + column, kWide * sizeof(T));         \
            }                                                                                                 \
            for (int64_t row = 0; row < m; row += kHigh) {                                                    \
                const T* line[kHigh];                                                                         \
                T* sums[kHigh];                                                                               \
                Lanes left[kHigh], right[kHigh];                                                              \
                for (int64_t i = 0; i < kHigh; ++i) { /* rows that are not there go along as the first */     \
                    const int64_t at = row + i < m ? row + i : row;                                           \
                    line[i] = a + at * k;                                                                     \
                    sums[i] = c + at * n + column;                                                            \
                    std::memcpy(&left[i], sums[i], sizeof(Lanes));                                            \
                    std::memcpy(&right[i], sums[i] + kHalf, sizeof(Lanes));                                   \
                }                                                                                             \
                const T* from = panel.data();                                                                 \
                for (int64_t depth = 0; depth < k; ++depth, from += kWide) {                                  \
                    Lanes x, y;                                                                               \
                    std::memcpy(&x, from, sizeof(Lanes));                                                     \
                    std::memcpy(&y, from + kHalf, sizeof(Lanes));                                             \
                    left[0] += x * line[0][depth], right[0] += y * line[0][depth];                            \
                    left[1] += x * line[1][depth], right[1] += y * line[1][depth];                            \
                    left[2] += x * line[2][depth], right[2] += y * line[2][depth];                            \
                    left[3] += x * line[3][depth], right[3] += y * line[3][depth];                            \
                }                                                                                             \
                for (int64_t i = 0; i < kHigh; ++i) {                                                         \
                    std::memcpy(sums[i], &left[i], sizeof(Lanes));                                            \
                    std::memcpy(sums[i] + kHalf, &right[i], sizeof(Lanes));                                   \
                }                                                                                             \
            }                                                                                                 \
        }                                                                                                     \
    }

PYPTO_HOST_PRODUCT(MultiplyFloat, float)
PYPTO_HOST_PRODUCT(MultiplyInteger, int32_t)
#undef PYPTO_HOST_PRODUCT

}  // namespace pypto_host
