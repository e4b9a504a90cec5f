#include "warp/operands.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NO_REGISTER = -1 };

struct operand {
    int number; /* of the register */
    bool reuse;
};

/* The general register that `text`, up to the next comma, names: "-R5.reuse", "|R3|", "R8.64"; RZ and UR4 are none. */
static struct operand operand_of(const char *text, size_t length)
{
    struct operand none = {NO_REGISTER, false};
    for (size_t i = 0; i + 1 < length; i++) {
        bool begins = i == 0 || !(isalnum((unsigned char)text[i - 1]) || text[i - 1] == '_');
        if (!begins || text[i] != 'R' || !isdigit((unsigned char)text[i + 1]))
            continue;
        char *end;
        struct operand found = {(int)strtol(text + i + 1, &end, 10), false};
        found.reuse = !strncmp(end, ".reuse", 6);
        return found;
    }
    return none;
}

/* P0, !PT, UP3. */
static bool is_predicate(const char *text)
{
    text += *text == ' ';
    text += *text == '!';
    text += *text == 'U';
    return text[0] == 'P' && (text[1] == 'T' || isdigit((unsigned char)text[1]));
}

/* The sources by the places that the encoding has for them: one alone goes to the second, and FADD's, HADD2's and DADD's second to the
 * third. *result is the register written. Returns how many places are named. */
static int split(const struct wt_sass_instruction *instruction, struct operand operands[WT_OPERAND_PLACES], int *result)
{
    int count = 0;
    bool first = true;
    *result = NO_REGISTER;
    for (const char *from = strchr(instruction->text, ' '); from && count < WT_OPERAND_PLACES; first = false) {
        const char *comma = strchr(++from, ',');
        struct operand operand = operand_of(from, comma ? (size_t)(comma - from) : strlen(from));
        bool predicate = is_predicate(from);
        from = comma;
        if (first && !predicate)
            *result = operand.number;
        else if (!predicate)
            operands[count++] = operand;
    }
    bool adds = !strcmp(instruction->opcode, "FADD") || !strcmp(instruction->opcode, "HADD2") || !strcmp(instruction->opcode, "DADD");
    int last = count == 1 ? 1 : count == 2 && adds ? 2 : count - 1;
    if (count > 0 && last != count - 1) {
        operands[last] = operands[count - 1];
        operands[last - 1] = (struct operand){NO_REGISTER, false};
        count = last + 1;
    }
    return count;
}

static bool is_repeated(const struct operand operands[WT_OPERAND_PLACES], int index)
{
    for (int i = 0; i < index; i++)
        if (operands[i].number == operands[index].number)
            return true;
    return false;
}

struct wt_reuse wt_reuse_begin(void)
{
    struct wt_reuse reuse;
    for (int i = 0; i < WT_OPERAND_PLACES; i++)
        reuse.kept[i] = NO_REGISTER;
    return reuse;
}

static void forget(struct wt_reuse *reuse, int written)
{
    for (int i = 0; i < WT_OPERAND_PLACES; i++)
        if (written != NO_REGISTER && (reuse->kept[i] == written || reuse->kept[i] == written + 1))
            reuse->kept[i] = NO_REGISTER;
}

void wt_reuse_reads(struct wt_reuse *reuse, const struct wt_sass_instruction *instruction, uint8_t reads[2])
{
    struct operand own[WT_OPERAND_PLACES];
    int result, count = split(instruction, own, &result);
    reads[0] = reads[1] = 0;
    for (int i = 0; i < count; i++) {
        if (own[i].number == NO_REGISTER)
            continue;
        bool kept = reuse->kept[i] == own[i].number;
        reuse->kept[i] = own[i].reuse ? own[i].number : NO_REGISTER;
        if (kept || is_repeated(own, i))
            continue;
        reads[own[i].number & 1]++;
    }
    forget(reuse, result);
}
