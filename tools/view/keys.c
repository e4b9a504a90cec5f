#include "keys.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ACTION_ENTRY(name, key, second, group, help) {#name, key, second, group, help},
const struct binding bindings[ACTIONS] = {ACTION_LIST(ACTION_ENTRY)};
#undef ACTION_ENTRY

/* Name for scripts, text for people. */
static const struct {
    int key;
    const char *name, *text;
} named[] = {{' ', "Space", "Space"},
             {KEY_LEFT, "Left", "←"},
             {KEY_RIGHT, "Right", "→"},
             {KEY_UP, "Up", "↑"},
             {KEY_DOWN, "Down", "↓"},
             {KEY_HOME, "Home", "Home"},
             {KEY_END, "End", "End"},
             {KEY_PAGE_UP, "PageUp", "Page ↑"},
             {KEY_PAGE_DOWN, "PageDown", "Page ↓"},
             {KEY_ENTER, "Enter", "Enter"},
             {KEY_ESCAPE, "Escape", "Esc"},
             {KEY_BACKSPACE, "Backspace", "Backspace"},
             {KEY_TAB, "Tab", "Tab"},
             {KEY_F9, "F9", "F9"},
             {KEY_F11, "F11", "F11"},
             {KEY_F12, "F12", "F12"}};
enum { NAMED = sizeof named / sizeof *named };

enum action key_action(int key)
{
    for (int i = 0; i < ACTIONS; i++)
        if (bindings[i].key == key || (bindings[i].second && bindings[i].second == key))
            return (enum action)i;
    return ACTIONS;
}

enum action action_by_name(const char *name)
{
    for (int i = 0; i < ACTIONS; i++)
        if (!strcmp(bindings[i].name, name))
            return (enum action)i;
    return ACTIONS;
}

int key_by_name(const char *name)
{
    if (strlen(name) == 1)
        return tolower((unsigned char)*name);
    for (int i = 0; i < NAMED; i++)
        if (!strcasecmp(named[i].name, name))
            return named[i].key;
    return 0;
}

const char *key_text(int key, char text[16])
{
    for (int i = 0; i < NAMED; i++)
        if (named[i].key == key)
            return named[i].text;
    snprintf(text, 16, "%c", toupper(key));
    return text;
}

const char *action_tip(enum action action, char *text, size_t size)
{
    char key[16];
    snprintf(text, size, "%s (%s)", bindings[action].help, key_text(bindings[action].key, key));
    return text;
}
