/* How work is given out to blocks (or tasks): the specification that lists and traces state. */
#ifndef CAPTURE_WORK_H
#define CAPTURE_WORK_H

#include <cstdint>
#include <string>
#include <vector>

/*  none                    0
 *  const:N                 N
 *  uniform:A:B             whole numbers from A to B
 *  lognormal:MEDIAN:SIGMA  SIGMA is that of the logarithm
 *  exponential:MEAN:MIN    MIN for what would be less
 *  pareto:MIN:ALPHA[:CAP]  cut off at CAP, 100 x MIN when missing
 *  bimodal:A:B:P           B with probability P, else A
 *  ramp:A:B                from A for the first block towards B, evenly
 *  round:A:B:N             A for N blocks, B for the next N, and so on
 *  pat:S:L:LETTERS[:N]     the same with S and L as the letters s and L say, then from the first letter again;
 *                          N is the number of SMs when missing */
struct Work {
    enum Kind { NONE, CONST, UNIFORM, LOGNORMAL, EXPONENTIAL, PARETO, BIMODAL, RAMP, ROUND, PATTERN };
    Kind kind = NONE;
    std::string text = "none"; /* as in the list */
    double a = 0, b = 0, c = 0;
    std::string letters;
};

enum class WorkOrder { ASIS, LONGEST_FIRST, REVERSED, SHUFFLE };

/* "asis", "longest-first", "reversed", "shuffle", by WorkOrder. */
extern const char *const work_orders[4];

/* "" or what is wrong with the text. */
std::string parse_work(const std::string &text, Work *work);

/* The same specification and seed give the same values everywhere. `round`: the device's number of SMs. */
std::vector<long long> draw_work(const Work &work, uint64_t count, uint64_t seed, int round);

/* What each of `blocks` blocks of `threads` threads has where `values` are given to every `unit` threads in index order, and the
 * threads of a block do equal parts of what theirs were given: the mean, to the nearest. */
std::vector<long long> share_work(const std::vector<long long> &values, uint64_t unit, uint64_t blocks, uint64_t threads);

/* Each value becomes `parts`, one after the other, with equal shares; what is left over goes to the first, one each. */
std::vector<long long> split_work(const std::vector<long long> &values, uint64_t parts);

/* Of a shuffle `seed` and the number of values alone decide; equally long values keep their order. */
void order_work(std::vector<long long> *values, WorkOrder order, uint64_t seed);

#endif
