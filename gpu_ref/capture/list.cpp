#include "list.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "catalog.h"

namespace
{

struct NumberKey {
    const char *name;
    long LaunchSpec::*field;
    long low, high;
};

const NumberKey number_keys[] = {
    {"dynamic_smem", &LaunchSpec::dynamic_smem, 0, 1 << 20},
    {"carveout_kb", &LaunchSpec::carveout_kb, -1, 1 << 10},
    {"seed", &LaunchSpec::seed, 0, LONG_MAX},
    {"stream", &LaunchSpec::stream, 0, 15},
    {"priority", &LaunchSpec::priority, -100, 100},
    {"cooperative", &LaunchSpec::cooperative, 0, 1},
    {"work_threads", &LaunchSpec::work_threads, 0, 1 << 20},
    {"work_shared", &LaunchSpec::work_shared, 0, 1},
    {"tasks", &LaunchSpec::tasks, 1, 100000000},
    {"count", &LaunchSpec::count, 1, 10000},
    {"wait_us", &LaunchSpec::wait_us, 0, 10000000},
    {"pdl", &LaunchSpec::pdl, 0, 1},
    {"split", &LaunchSpec::split, 1, 1 << 20},
    {"queue", &LaunchSpec::queue, 0, INT_MAX},
};

struct SizeKey {
    const char *name;
    long (LaunchSpec::*field)[3];
    long high[3];
};

const SizeKey size_keys[] = {
    {"grid", &LaunchSpec::grid, {INT_MAX, 65535, 65535}},
    {"block", &LaunchSpec::block, {1024, 1024, 64}},
    {"cluster", &LaunchSpec::cluster, {16, 16, 16}},
};

struct ExperimentKey {
    const char *name;
    long Experiment::*field;
    long low, high;
};

const ExperimentKey experiment_keys[] = {
    {"reps", &Experiment::reps, 1, 1000},
    {"warmup", &Experiment::warmup, 0, 1000},
    {"sync", &Experiment::sync, 0, 100000},
    {"graph", &Experiment::graph, 0, 1},
    {"traces", &Experiment::traces, 0, 1000},
};

const char *const known_keys = "kernel, grid, block, dynamic_smem, carveout_kb, cluster, work, seed, stream, priority, "
                               "cooperative, work_threads, work_shared, split, order, tasks, queue, count, wait_us, pdl, after, and on an "
                               "experiment's first line reps, warmup, sync, graph, traces";

std::string range(const std::string &pair, long low, long high)
{
    return pair + ": expected a whole number from " + std::to_string(low) + " to " + std::to_string(high);
}

bool whole(const char *text, long low, long high, long *value, char **end)
{
    errno = 0;
    *value = std::strtol(text, end, 10);
    return *end != text && !errno && *value >= low && *value <= high;
}

bool whole_value(const std::string &text, long low, long high, long *value)
{
    char *end = nullptr;
    return whole(text.c_str(), low, high, value, &end) && !*end;
}

std::string set_size(const std::string &pair, const std::string &text, const SizeKey &key, long (*size)[3])
{
    std::string wrong = pair + ": expected N, NxN or NxNxN, up to " + std::to_string(key.high[0]) + "x" +
                        std::to_string(key.high[1]) + "x" + std::to_string(key.high[2]);
    const char *at = text.c_str();
    long values[3] = {1, 1, 1};
    for (int i = 0; i < 3; i++) {
        char *end = nullptr;
        if (!whole(at, 1, key.high[i], &values[i], &end))
            return wrong;
        at = end;
        if (!*at)
            break;
        if (*at++ != 'x' || i == 2)
            return wrong;
    }
    std::memcpy(*size, values, sizeof values);
    return "";
}

std::string set_order(const std::string &pair, const std::string &text, WorkOrder *order)
{
    for (int i = 0; i < 4; i++)
        if (text == work_orders[i]) {
            *order = (WorkOrder)i;
            return "";
        }
    return pair + ": known are asis, longest-first, reversed and shuffle";
}

/* `experiment` is NULL on a line that adds a launch. */
std::string set_key(const std::string &pair, LaunchSpec *launch, Experiment *experiment)
{
    size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
        return "'" + pair + "' is not key=value";
    std::string key = pair.substr(0, equals), text = pair.substr(equals + 1);
    for (const NumberKey &known : number_keys)
        if (key == known.name)
            return whole_value(text, known.low, known.high, &(launch->*known.field)) ? ""
                                                                                   : range(pair, known.low, known.high);
    for (const SizeKey &known : size_keys)
        if (key == known.name)
            return set_size(pair, text, known, &(launch->*known.field));
    for (const ExperimentKey &known : experiment_keys)
        if (key == known.name && !experiment)
            return key + " belongs on the experiment's first line; move it there";
        else if (key == known.name)
            return whole_value(text, known.low, known.high, &(experiment->*known.field))
                       ? ""
                       : range(pair, known.low, known.high);
    if (key == "after") {
        launch->after = text;
        return "";
    }
    if (key == "order")
        return set_order(pair, text, &launch->order);
    if (key == "work")
        return parse_work(text, &launch->work);
    if (key != "kernel")
        return "unknown key '" + key + "'; known are " + known_keys;
    launch->kernel = find_kernel(text);
    return launch->kernel >= 0 ? "" : "unknown kernel '" + text + "'; `capture --kernels` lists them";
}

std::string check_work(const LaunchSpec &launch, bool queue)
{
    if (launch.work_threads % 32 != 0 || (launch.work_threads > 0 && (queue || launch.queue > 0)))
        return "work_threads must be a multiple of 32, and is not for persistent kernels";
    if (launch.work_shared && launch.work_threads == 0)
        return "work_shared is for work that is given to threads; state work_threads=";
    if (launch.split > 1 && (launch.work_threads > 0 || launch.tasks > 0 || launch.blocks() % (uint64_t)launch.split != 0))
        return "split is for work that is given to blocks, and the grid must be a multiple of it";
    if (launch.order != WorkOrder::ASIS && launch.work_threads > 0)
        return "order is for work that is given to blocks; remove work_threads=";
    return "";
}

/* "" or why CUDA or the kernel would refuse this. */
std::string check_launch(const LaunchSpec &launch)
{
    if (launch.kernel < 0)
        return "kernel= is missing; `capture --kernels` lists them";
    const KernelInfo &kernel = catalog[launch.kernel];
    long threads = launch.block[0] * launch.block[1] * launch.block[2];
    std::string name = kernel.name;
    if (threads > kernel.max_threads)
        return "block has " + std::to_string(threads) + " threads; " + name + " takes up to " +
               std::to_string(kernel.max_threads);
    if (kernel.tile > 0 && (launch.block[0] != kernel.tile || launch.block[1] != kernel.tile || launch.block[2] != 1))
        return name + " needs block=" + std::to_string(kernel.tile) + "x" + std::to_string(kernel.tile);
    if (launch.blocks() > INT_MAX)
        return "the grid has more than " + std::to_string(INT_MAX) + " blocks; make it smaller";
    if (kernel.queue != (launch.tasks > 0))
        return kernel.queue ? name + " needs tasks=N" : name + " is no persistent kernel; remove tasks=";
    if (launch.queue > 0 && !kernel.body)
        return name + " cannot be given out by a counter; remove queue=";
    std::string wrong = check_work(launch, kernel.queue);
    if (!wrong.empty())
        return wrong;
    long cluster = launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
    if (cluster > 16)
        return "a cluster has at most 16 blocks";
    for (int i = 0; i < 3; i++)
        if ((launch.queue == 0 ? launch.grid[i] : i == 0 ? launch.queue : 1) % launch.cluster[i] != 0)
            return "the grid is no multiple of the cluster; make each dimension one";
    return "";
}

std::string check_streams(const Experiment &experiment)
{
    const LaunchSpec &last = experiment.launches.back();
    for (const LaunchSpec &launch : experiment.launches)
        if (launch.stream == last.stream && launch.priority != last.priority)
            return "stream " + std::to_string(last.stream) + " already has priority " + std::to_string(launch.priority) +
                   "; use another stream";
    return "";
}

/* Of the last launch: what it waits for is above it, in another stream; a graph has one stream. */
std::string check_order(const Experiment &experiment)
{
    const LaunchSpec &last = experiment.launches.back();
    if (experiment.graph && last.stream != experiment.launches.front().stream)
        return "a graph's launches are in one stream; give all the same";
    if (last.after.empty())
        return "";
    for (size_t i = 0; i + 1 < experiment.launches.size(); i++)
        if (experiment.launches[i].name == last.after)
            return experiment.launches[i].stream != last.stream ? "" : "after=" + last.after +
                   ": launches of one stream follow each other anyway; remove it, or use another stream";
    return "after=" + last.after + ": no launch above has that name in this experiment";
}

bool good_name(const std::string &name)
{
    const char *allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    return !name.empty() && name[0] != '.' && name[0] != '-' && name.find_first_not_of(allowed) == std::string::npos;
}

std::vector<std::string> words(const std::string &line)
{
    std::vector<std::string> found;
    const char *spaces = " \t\r";
    std::string text = line.substr(0, line.find('#'));
    for (size_t at = text.find_first_not_of(spaces); at != std::string::npos;) {
        size_t end = text.find_first_of(spaces, at);
        found.push_back(text.substr(at, end - at));
        at = end == std::string::npos ? end : text.find_first_not_of(spaces, end);
    }
    return found;
}

class Reader
{
  public:
    Reader(std::vector<Experiment> *experiments) : experiments_(experiments) {}

    /* "" or what is wrong with the line. */
    std::string line(const std::string &text, long number)
    {
        std::vector<std::string> pairs = words(text);
        if (pairs.empty())
            return "";
        std::string first = pairs[0];
        pairs.erase(pairs.begin());
        if (first == "defaults")
            return set_all(pairs, &launch_, &experiment_);
        if (first == "+")
            return add(pairs, number);
        return begin(first, pairs, number);
    }

  private:
    static std::string set_all(const std::vector<std::string> &pairs, LaunchSpec *launch, Experiment *experiment)
    {
        for (const std::string &pair : pairs) {
            std::string wrong = set_key(pair, launch, experiment);
            if (!wrong.empty())
                return wrong;
        }
        return "";
    }

    std::string begin(const std::string &name, const std::vector<std::string> &pairs, long number)
    {
        if (!good_name(name))
            return "'" + name + "' is no name for an experiment; use letters, digits, _, - and .";
        for (const Experiment &other : *experiments_)
            if (other.name == name)
                return "experiment '" + name + "' is there already; choose another name";
        Experiment experiment = experiment_;
        LaunchSpec launch = launch_;
        experiment.name = launch.name = name;
        launch.line = number;
        std::string wrong = set_all(pairs, &launch, &experiment);
        experiment.launches.push_back(launch);
        experiments_->push_back(experiment);
        if (wrong.empty())
            wrong = check_launch(launch);
        return wrong.empty() ? check_order(experiments_->back()) : wrong;
    }

    std::string add(std::vector<std::string> pairs, long number)
    {
        if (experiments_->empty())
            return "+ adds a launch to the experiment above, but there is none";
        if (pairs.empty() || !good_name(pairs[0]))
            return "expected '+ NAME key=value ...'";
        LaunchSpec launch = launch_;
        launch.name = pairs[0];
        launch.line = number;
        pairs.erase(pairs.begin());
        std::string wrong = set_all(pairs, &launch, nullptr);
        if (wrong.empty())
            wrong = check_launch(launch);
        Experiment &experiment = experiments_->back();
        experiment.launches.push_back(launch);
        if (wrong.empty())
            wrong = check_streams(experiment);
        return wrong.empty() ? check_order(experiment) : wrong;
    }

    std::vector<Experiment> *experiments_;
    LaunchSpec launch_;
    Experiment experiment_;
};

} // namespace

std::string LaunchSpec::work_text() const
{
    std::string text = work.text;
    if (work_threads > 0)
        text += "/" + std::to_string(work_threads) + (work_shared ? "/shared" : "");
    if (split > 1)
        text += " split " + std::to_string(split);
    return order == WorkOrder::ASIS ? text : text + " " + work_orders[(int)order];
}

std::string read_list(const std::string &path, std::vector<Experiment> *experiments)
{
    std::ifstream file(path);
    std::string text;
    long number = 0;
    Reader reader(experiments);
    while (std::getline(file, text)) {
        std::string wrong = reader.line(text, ++number);
        if (!wrong.empty())
            return path + ":" + std::to_string(number) + ": " + wrong;
    }
    if (number == 0)
        return path + ": cannot be read, or is empty; name an experiment list";
    return experiments->empty() ? path + ":" + std::to_string(number) + ": no experiment; add one" : "";
}
