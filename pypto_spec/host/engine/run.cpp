#include "run.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace pypto_host {

namespace {

thread_local Run* g_run = nullptr;
thread_local int64_t g_steps = 0;
thread_local bool g_counting = false;

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE};
constexpr int kSignalCount = 3;
struct sigaction g_previous[kSignalCount];
std::mutex g_guard;
int g_guards = 0;
thread_local uint8_t g_signal_stack[1 << 16];
thread_local stack_t g_previous_stack;

void OnFault(int signal, siginfo_t* info, void* context)
{
    if (g_run != nullptr && g_run->current != nullptr) {
        g_counting = false;
        siglongjmp(g_run->fault, 1);
    }
    for (int i = 0; i < kSignalCount; ++i) {
        if (kSignals[i] != signal) {
            continue;
        }
        if ((g_previous[i].sa_flags & SA_SIGINFO) != 0) {
            g_previous[i].sa_sigaction(signal, info, context);
        } else if (g_previous[i].sa_handler != SIG_DFL && g_previous[i].sa_handler != SIG_IGN) {
            g_previous[i].sa_handler(signal);
        } else {
            sigaction(signal, &g_previous[i], nullptr);  // returning repeats the fault with the old handler
        }
    }
}

}  // namespace

FaultGuard::FaultGuard()
{
    stack_t stack = {};
    stack.ss_sp = g_signal_stack;
    stack.ss_size = sizeof g_signal_stack;
    sigaltstack(&stack, &g_previous_stack);
    std::lock_guard<std::mutex> lock(g_guard);
    if (g_guards++ == 0) {
        struct sigaction action = {};
        action.sa_sigaction = OnFault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        for (int i = 0; i < kSignalCount; ++i) {
            sigaction(kSignals[i], &action, &g_previous[i]);
        }
    }
}

FaultGuard::~FaultGuard()
{
    std::lock_guard<std::mutex> lock(g_guard);
    if (--g_guards == 0) {
        for (int i = 0; i < kSignalCount; ++i) {
            sigaction(kSignals[i], &g_previous[i], nullptr);
        }
    }
    sigaltstack(&g_previous_stack, nullptr);
}

Run* CurrentRun() { return g_run; }
Core& CurrentCore() { return *g_run->current; }

Run::Run(const KernelEntry& entry, const Argument* arguments, size_t count, const Options& options)
    : kernel(entry), steps_left(options.most_steps), seed(options.seed),
      timing(options.timing != 0), blocks(options.blocks),
      arguments_(arguments, arguments + count), options_(options), random_(options.seed * 0x9e3779b97f4a7c15ull + 1)
{
    laziness = seed == 0 ? 0 : static_cast<int>(1 + seed % 3);
    for (size_t i = 0; i < count; ++i) {
        slots.push_back(arguments_[i].is_gm != 0 ? Token(i) : arguments_[i].scalar);
        region_of_.push_back(-1);
        offset_of_.push_back(0);
    }
    for (size_t i = 0; i < count; ++i) {
        const Argument& argument = arguments_[i];
        if (argument.is_gm == 0 || timing) {
            continue;
        }
        bool grown = true;
        uint64_t low = argument.address;
        uint64_t high = argument.address + argument.bytes;
        while (grown) {  // take in every argument that overlaps what was found so far
            grown = false;
            for (size_t j = 0; j < count; ++j) {
                const Argument& other = arguments_[j];
                if (other.is_gm != 0 && other.address < high && low < other.address + other.bytes &&
                    (other.address < low || other.address + other.bytes > high)) {
                    low = other.address < low ? other.address : low;
                    high = other.address + other.bytes > high ? other.address + other.bytes : high;
                    grown = true;
                }
            }
        }
        int found = -1;
        for (size_t r = 0; r < regions_.size(); ++r) {
            if (regions_[r].address == low && regions_[r].bytes == high - low) {
                found = static_cast<int>(r);
            }
        }
        if (found < 0) {
            regions_.push_back({low, high - low, std::make_unique<Shadow>(high - low + 32)});
            found = static_cast<int>(regions_.size() - 1);
        }
        region_of_[i] = found;
        offset_of_[i] = argument.address - low;
    }
    for (int64_t i = 0; i < options.drop_count; ++i) {
        const int32_t at = options.drop[i];
        if (at >= 0) {
            if (dropped_.size() <= static_cast<size_t>(at)) {
                dropped_.resize(static_cast<size_t>(at) + 1);
            }
            dropped_[static_cast<size_t>(at)] = true;
        }
    }
}

// Not a usable address: a direct dereference faults (and is reported) instead of reading what nobody checked.
uint64_t Run::Token(size_t argument) const
{
    return (1ull << 62) | ((static_cast<uint64_t>(argument) + 1) << 48) | (1ull << 47);
}

Place Run::Find(uint64_t address) const
{
    Place place;
    const uint64_t number = (address >> 48) & 0x3fff;
    if ((address >> 62) != 1 || number == 0 || number > arguments_.size() || arguments_[number - 1].is_gm == 0) {
        return place;
    }
    place.argument = static_cast<int>(number - 1);
    place.offset = static_cast<int64_t>(address - Token(number - 1));
    return place;
}

bool Run::Dropped(int at) const
{
    return at >= 0 && static_cast<size_t>(at) < dropped_.size() && dropped_[static_cast<size_t>(at)];
}

uint64_t Run::Random(uint64_t below)
{
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return below <= 1 ? 0 : (random_ >> 11) % below;
}

const Core& Run::CoreOf(int block) const
{
    const auto found = std::lower_bound(cores.begin(), cores.end(), block,
                                        [](const auto& core, int wanted) { return core->index < wanted; });
    return **found;
}

void Run::Execute()
{
    const int64_t count = options_.only_count != 0 ? options_.only_count : blocks;
    for (int64_t i = 0; i < count; ++i) {
        cores.push_back(std::make_unique<Core>(*this, options_.only_count != 0 ? options_.only[i] : static_cast<int>(i)));
    }
    std::vector<Core*> ready;
    for (auto& core : cores) {
        ready.push_back(core.get());
    }
    FaultGuard guard;
    Run* const outer = g_run;
    g_run = this;
    g_steps = steps_left;
    while (!ready.empty()) {
        const size_t which = seed == 0 ? 0 : Random(ready.size());
        g_counting = true;
        const bool more = ready[which]->Resume();
        g_counting = false;
        if (!more) {
            ready[which]->Release();
            ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(which));
        }
    }
    g_run = outer;
}

namespace {

void AppendText(std::string& out, const std::string& text)
{
    out += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += Format("\\u%04x", c);
        } else {
            out += c;
        }
    }
    out += '"';
}

std::string Summary(Run& run, bool with_records)
{
    std::string out = "{\"findings\":[";
    bool first = true;
    for (const Finding& finding : run.findings.Finish()) {
        out += first ? "{\"kind\":" : ",{\"kind\":";
        first = false;
        AppendText(out, finding.kind);
        out += ",\"message\":";
        AppendText(out, finding.message);
        out += ",\"lines\":[";
        for (size_t i = 0; i < finding.lines.size(); ++i) {
            out += Format(i == 0 ? "%d" : ",%d", finding.lines[i]);
        }
        out += Format("],\"block\":%d}", finding.block);
    }
    uint64_t instructions = 0;
    uint64_t syncs = 0;
    for (const auto& core : run.cores) {
        for (size_t i = 1; i < core->Records().size(); ++i) {
            const Record& record = core->Records()[i];
            const bool sync = record.blocks == 0 && record.elements == 0;
            (sync ? syncs : instructions) += 1;
        }
    }
    out += Format("],\"instructions\":%llu,\"syncs\":%llu,\"records\":[", static_cast<unsigned long long>(instructions),
                  static_cast<unsigned long long>(syncs));
    first = true;
    for (const auto& core : run.cores) {
        for (size_t i = 1; with_records && i < core->Records().size(); ++i) {
            const Record& record = core->Records()[i];
            out += Format("%s[%d,\"%s\",\"%s\",%d,%llu,%llu,%u,%d]", first ? "" : ",", core->index,
                          PipeName(record.pipe), record.name, record.line,
                          static_cast<unsigned long long>(record.elements),
                          static_cast<unsigned long long>(record.bytes), record.blocks, record.flag);
            first = false;
        }
    }
    out += "],\"shown\":[";
    first = true;
    for (const auto& core : run.cores) {
        for (const ShownLine& shown : core->Shown()) {
            out += Format("%s[%d,%d,", first ? "" : ",", core->index, shown.line);
            AppendText(out, shown.text);
            out += "]";
            first = false;
        }
    }
    return out + "]}";
}

char* Copy(const std::string& text)
{
    char* copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy != nullptr) {
        std::memcpy(copy, text.c_str(), text.size() + 1);
    }
    return copy;
}

}  // namespace

}  // namespace pypto_host

// ---- C ABI ------------------------------------------------------------------------------------------------------
extern "C" {

// Returns a JSON text to be freed with pypto_host_free, or null when out of memory.
char* pypto_host_run(const pypto_host::KernelEntry* kernel, const pypto_host::Argument* arguments, int64_t count,
                     const pypto_host::Options* options, int32_t with_records)
{
    try {
        pypto_host::Run run(*kernel, arguments, static_cast<size_t>(count), *options);
        run.Execute();
        return pypto_host::Copy(pypto_host::Summary(run, with_records != 0));
    } catch (const std::exception& error) {
        return pypto_host::Copy(std::string("{\"error\":\"") + error.what() + "\"}");
    } catch (...) {
        return pypto_host::Copy("{\"error\":\"unknown\"}");
    }
}

void pypto_host_free(char* text) { std::free(text); }

// Called at every basic block of kernel code (g++ -fsanitize-coverage=trace-pc), so that a loop without any call ends.
void __sanitizer_cov_trace_pc()
{
    using namespace pypto_host;
    if (--g_steps < 0 && g_counting && g_run != nullptr && g_run->current != nullptr) {
        g_counting = false;
        Core& core = *g_run->current;
        core.Report("endless", core.line, "the kernel's scalar code runs past the cap of this run after this line");
        core.Abort();
    }
}
}
