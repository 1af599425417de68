// The last accesses of every byte of one memory, in cells of 32 B with a byte mask per access.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "clock.h"

namespace pypto_host {

// A run of bytes touched by one operand, in lane order.
struct Segment {
    uint32_t length;
    uint64_t address;
};

struct Access {
    uint32_t bytes;  // one bit a byte of the cell
    uint32_t event;  // sequence number in its core; 0 = unused
    uint16_t core;
    Pipe pipe;
    uint8_t kind;  // kRead, kWrite, kAtomic + operation, kMad + how, or kDrain
};

constexpr uint8_t kRead = 0;
constexpr uint8_t kWrite = 1;
constexpr uint8_t kAtomic = 2;  // kAtomic + operation + 4 * dtype: equal kinds commute
// What the cube core orders by itself: a Mmad and a Fixpipe by unit flags, and two Mmads that are large enough.
constexpr uint8_t kMad = 64;  // a write of L0C by Mmad, with the bits below
constexpr uint8_t kMadUnit = 1;
constexpr uint8_t kMadLarge = 2;
constexpr uint8_t kDrain = 96;  // a read of L0C under unit flags

inline bool IsRead(uint8_t kind) { return kind == kRead || kind == kDrain; }
inline bool IsAtomic(uint8_t kind) { return kind >= kAtomic && kind < kMad; }

// One access about to happen, and what is complete before it.
struct Event {
    uint32_t number;
    uint16_t core;
    Pipe pipe;
    uint8_t kind;
    const Clock* known;
};

struct Conflict {
    Access earlier;  // earlier in this schedule
    uint64_t low;    // first conflicting byte
    uint64_t high;   // one past the last
};

class Shadow {
public:
    Shadow() = default;
    explicit Shadow(uint64_t bytes) { Reset(bytes); }
    ~Shadow() { std::free(cells_); }
    Shadow(Shadow&& other) noexcept
        : cells_(other.cells_), count_(other.count_), spilled_(std::move(other.spilled_))
    {
        other.cells_ = nullptr;
    }
    Shadow(const Shadow&) = delete;
    Shadow& operator=(const Shadow&) = delete;
    Shadow& operator=(Shadow&& other) noexcept
    {
        std::swap(cells_, other.cells_);
        std::swap(count_, other.count_);
        std::swap(spilled_, other.spilled_);
        return *this;
    }

    void Reset(uint64_t bytes);
    // Records the access and appends every unordered one it meets.
    void Touch(const Event& event, uint64_t address, uint64_t length, std::vector<Conflict>& conflicts);
    // Whether any byte of the range was written during this run.
    bool Written(uint64_t address, uint64_t length) const;

private:
    static constexpr int kInline = 3;
    struct Cell {
        Access first[kInline];
        uint32_t more;  // index + 1 into spilled_
        uint32_t count;
    };
    void TouchCell(uint64_t index, const Event& event, uint32_t bytes, std::vector<Conflict>& conflicts);

    Cell* cells_ = nullptr;
    uint64_t count_ = 0;
    std::vector<std::vector<Access>> spilled_;
};

}  // namespace pypto_host
