// What a run found wrong, in words that name kernel lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pypto_host {

struct Finding {
    std::string kind;
    std::string message;
    std::vector<int> lines;
    int block = 0;
};

// Keeps the first occurrence of each (kind, lines) and stops collecting after a while: a faulty loop would otherwise
// report the same fault thousands of times.
class Findings {
public:
    static constexpr size_t kMost = 64;
    void Add(const char* kind, std::vector<int> lines, int block, std::string message);
    // A race is met once per block of 32 B; the byte range of one pair of lines grows until the run ends.
    void AddRace(const char* hazard, const std::string& where, int first_line, int second_line,
                 const std::string& first, const std::string& second, int first_block, int block, uint64_t low,
                 uint64_t high);
    const std::vector<Finding>& Finish();
    bool Any() const { return !found_.empty() || !races_.empty(); }

private:
    struct Race {
        std::string hazard, where, first, second;
        int first_line, second_line, first_block, block;
        uint64_t low, high;
    };
    std::vector<Finding> found_;
    std::vector<Race> races_;
};

std::string Format(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace pypto_host
