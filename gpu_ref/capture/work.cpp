#include "work.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>

namespace
{

struct Form {
    const char *name;
    Work::Kind kind;
    int least, most; /* numbers */
    const char *usage;
};

const Form forms[] = {
    {"none", Work::NONE, 0, 0, "none"},
    {"const", Work::CONST, 1, 1, "const:N"},
    {"uniform", Work::UNIFORM, 2, 2, "uniform:A:B with A <= B"},
    {"lognormal", Work::LOGNORMAL, 2, 2, "lognormal:MEDIAN:SIGMA"},
    {"exponential", Work::EXPONENTIAL, 2, 2, "exponential:MEAN:MIN"},
    {"pareto", Work::PARETO, 2, 3, "pareto:MIN:ALPHA[:CAP] with ALPHA > 0"},
    {"bimodal", Work::BIMODAL, 3, 3, "bimodal:A:B:P with P from 0 to 1"},
    {"ramp", Work::RAMP, 2, 2, "ramp:A:B"},
    {"round", Work::ROUND, 3, 3, "round:A:B:N with N >= 1"},
    {"pat", Work::PATTERN, 2, 3, "pat:S:L:LETTERS[:N], letters s and L"},
};

const double largest = 1e12; /* cycles or rounds: minutes of work */

std::vector<std::string> split(const std::string &text)
{
    std::vector<std::string> parts(1);
    for (char c : text)
        if (c == ':')
            parts.emplace_back();
        else
            parts.back() += c;
    return parts;
}

bool number(const std::string &text, double *value)
{
    char *end = nullptr;
    *value = std::strtod(text.c_str(), &end);
    return !text.empty() && !*end && *value >= 0 && *value <= largest;
}

bool in_range(const Work &work)
{
    switch (work.kind) {
    case Work::UNIFORM:
        return work.a <= work.b;
    case Work::PARETO:
        return work.b > 0 && work.c >= work.a;
    case Work::BIMODAL:
        return work.c <= 1;
    case Work::ROUND:
        return work.c >= 1;
    case Work::PATTERN:
        return !work.letters.empty() && work.letters.find_first_not_of("sL") == std::string::npos;
    default:
        return true;
    }
}

/* The mantissa's 53 bits: [0, 1). */
double unit(std::mt19937_64 *random)
{
    return (double)((*random)() >> 11) * 0x1p-53;
}

double normal(std::mt19937_64 *random)
{
    double radius = std::sqrt(-2 * std::log(1 - unit(random)));
    return radius * std::cos(2 * std::acos(-1.0) * unit(random));
}

double draw(const Work &work, uint64_t i, uint64_t count, int round, std::mt19937_64 *random)
{
    switch (work.kind) {
    case Work::CONST:
        return work.a;
    case Work::UNIFORM:
        return work.a + std::floor(unit(random) * (work.b - work.a + 1));
    case Work::LOGNORMAL:
        return std::fmin(work.a * std::exp(work.b * normal(random)), largest);
    case Work::EXPONENTIAL:
        return std::fmax(work.b, -work.a * std::log(1 - unit(random)));
    case Work::PARETO:
        return std::fmin(work.a / std::pow(1 - unit(random), 1 / work.b), work.c);
    case Work::BIMODAL:
        return unit(random) < work.c ? work.b : work.a;
    case Work::RAMP:
        return work.a + (work.b - work.a) * (double)i / (double)count;
    case Work::ROUND:
        return i / (uint64_t)work.c % 2 ? work.b : work.a;
    case Work::PATTERN:
        return work.letters[i / (work.c > 0 ? (uint64_t)work.c : (uint64_t)round) % work.letters.size()] == 'L' ? work.b
                                                                                                             : work.a;
    default:
        return 0;
    }
}

} // namespace

const char *const work_orders[4] = {"asis", "longest-first", "reversed", "shuffle"};

std::string parse_work(const std::string &text, Work *work)
{
    std::vector<std::string> parts = split(text);
    for (const Form &form : forms) {
        if (parts[0] != form.name)
            continue;
        std::string wrong = "work=" + text + ": expected " + form.usage;
        *work = Work();
        work->kind = form.kind;
        work->text = text;
        parts.erase(parts.begin());
        if (form.kind == Work::PATTERN && parts.size() > 2) {
            work->letters = parts[2];
            parts.erase(parts.begin() + 2);
        }
        double *const values[] = {&work->a, &work->b, &work->c};
        if ((int)parts.size() < form.least || (int)parts.size() > form.most)
            return wrong;
        for (size_t i = 0; i < parts.size(); i++)
            if (!number(parts[i], values[i]))
                return wrong;
        if (form.kind == Work::PARETO && parts.size() < 3)
            work->c = 100 * work->a;
        return in_range(*work) ? "" : wrong;
    }
    return "work=" + text + ": known are none, const, uniform, lognormal, exponential, pareto, bimodal, ramp, round and pat";
}

std::vector<long long> draw_work(const Work &work, uint64_t count, uint64_t seed, int round)
{
    std::mt19937_64 random(seed);
    std::vector<long long> values(count);
    for (uint64_t i = 0; i < count; i++)
        values[i] = (long long)draw(work, i, count, round, &random);
    return values;
}

std::vector<long long> share_work(const std::vector<long long> &values, uint64_t unit, uint64_t blocks, uint64_t threads)
{
    std::vector<long long> shared(blocks);
    for (uint64_t block = 0; block < blocks; block++) {
        uint64_t at = block * threads, end = at + threads;
        double sum = 0;
        while (at < end) {
            uint64_t next = std::min((at / unit + 1) * unit, end);
            sum += (double)values[at / unit] * (double)(next - at);
            at = next;
        }
        shared[block] = (long long)(sum / (double)threads + 0.5);
    }
    return shared;
}

std::vector<long long> split_work(const std::vector<long long> &values, uint64_t parts)
{
    std::vector<long long> all;
    for (long long value : values)
        for (uint64_t part = 0; part < parts; part++)
            all.push_back(value / (long long)parts + ((long long)part < value % (long long)parts));
    return all;
}

/* Fisher and Yates. */
static void shuffle(std::vector<long long> *values, uint64_t seed)
{
    std::mt19937_64 random(seed);
    for (uint64_t left = values->size(); left > 1; left--)
        std::swap((*values)[left - 1], (*values)[random() % left]);
}

void order_work(std::vector<long long> *values, WorkOrder order, uint64_t seed)
{
    if (order == WorkOrder::LONGEST_FIRST)
        std::stable_sort(values->begin(), values->end(), std::greater<long long>());
    else if (order == WorkOrder::REVERSED)
        std::reverse(values->begin(), values->end());
    else if (order == WorkOrder::SHUFFLE)
        shuffle(values, seed);
}
