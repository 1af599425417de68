#include "findings.h"

#include <cstdarg>
#include <cstdio>

namespace pypto_host {

std::string Format(const char* format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    std::vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
}

void Findings::Add(const char* kind, std::vector<int> lines, int block, std::string message)
{
    for (const Finding& known : found_) {
        if (known.kind == kind && known.lines == lines) {
            return;
        }
    }
    if (found_.size() < kMost) {
        found_.push_back({kind, std::move(message), std::move(lines), block});
    }
}

void Findings::AddRace(const char* hazard, const std::string& where, int first_line, int second_line,
                       const std::string& first, const std::string& second, int first_block, int block, uint64_t low,
                       uint64_t high)
{
    for (Race& known : races_) {
        if (known.first_line == first_line && known.second_line == second_line && known.hazard == hazard &&
            known.where == where) {
            if (known.block == block && known.first_block == first_block) {
                known.low = low < known.low ? low : known.low;
                known.high = high > known.high ? high : known.high;
            }
            return;
        }
    }
    if (races_.size() < kMost) {
        races_.push_back({hazard, where, first, second, first_line, second_line, first_block, block, low, high});
    }
}

const std::vector<Finding>& Findings::Finish()
{
    for (const Race& race : races_) {
        std::string blocks;
        if (race.first_block != race.block) {
            blocks = Format(" by blocks %d and %d", race.first_block, race.block);
        }
        found_.push_back({"race",
                          Format("%s on %s bytes [%llu, %llu)%s: %s and %s are not ordered", race.hazard.c_str(),
                                 race.where.c_str(), static_cast<unsigned long long>(race.low),
                                 static_cast<unsigned long long>(race.high), blocks.c_str(), race.first.c_str(),
                                 race.second.c_str()),
                          {race.first_line, race.second_line},
                          race.block});
    }
    races_.clear();
    return found_;
}

}  // namespace pypto_host
