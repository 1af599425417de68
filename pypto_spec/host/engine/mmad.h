// One Mmad on its way through the M pipe.
#pragma once

#include "cube.h"

namespace pypto_host {

struct MadWork final : Work {
    int line = 0;
    Dtype dtype = Dtype::None;
    Dtype sum_dtype = Dtype::None;
    int64_t m = 0;
    int64_t n = 0;
    int64_t k = 0;
    int64_t rows = 0;     // fractals of m
    int64_t columns = 0;  // fractals of n
    int64_t depths = 0;   // fractals of k
    int64_t pitch = 0;    // fractals from one row of fractals of A to the next
    int64_t unit_flag = 0;
    bool wide_k = false;
    bool zero = true;
    bool has_bias = false;
    bool row_form = false;  // m = 1: A is one row of k elements
    Segments lefts, rights, sums, biases;

    void Execute(Core& core, const Event& event) override;
    bool Ready(const Core& core) const override;
    void Start(Core& core, Op& op) override;
    std::string Waits(const Core& core) const override;
    int Tile() const override { return unit_flag == 0 ? -1 : static_cast<int>(sums[0].address); }

private:
    uint64_t FractalAt(bool right, int64_t lane, int64_t depth) const;
    bool CheckOperand(Core& core, bool right) const;
    bool CheckSums(Core& core) const;
    void Floats(Core& core) const;
    void Integers(Core& core) const;
    // The operand as rows of k elements (A) or of all columns (B, columns padded to 16), and which lanes hold an
    // undefined element within k.
    template <class T>
    void Gather(Core& core, bool right, std::vector<T>& dense, std::vector<uint8_t>& broken) const;
    // The sums to start from, and which of them are undefined, a byte each; rows of padded columns.
    template <class T>
    void Begin(Core& core, std::vector<T>& dense, std::vector<uint8_t>& broken) const;
    template <class T>
    void Finish(Core& core, const std::vector<T>& dense, const std::vector<uint8_t>& broken,
                const std::vector<uint8_t>& left, const std::vector<uint8_t>& right) const;
};

}  // namespace pypto_host
