/* Where the SMs lie on the floor view. Private to the floor's files. */
#ifndef VIEW_FLOOR_H
#define VIEW_FLOOR_H

#include "view.h"

struct floor_map {
    const struct run *run;
    int districts;
    struct rect district[WT_MAX_GROUPS]; /* by GPC */
    struct rect cell[WT_MAX_SMS];        /* by SM */
    int cell_w, cell_h;
    bool in_tail; /* at the playing head */
};

/* Fills `area` with districts, one for each GPC, and cells as large as possible. */
void floor_plan(const struct ui *ui, const struct run *run, struct rect area, struct floor_map *map);
/* Height of the line with a district's name, in points. */
enum { DISTRICT_HEAD = 18 };

/* floor_cells.c: one SM. */
void floor_draw_cell(struct view *view, const struct floor_map *map, int run, int sm);
/* Share of the SM that a block of the launch takes, 0..1, by what cells are filled by; by slots where the run does
 * not tell. */
double floor_block_share(const struct run *run, uint32_t launch, enum fill fill);
bool floor_fill_known(const struct run *run, enum fill fill);
extern const char *const fill_names[FILLS];

/* floor_queue.c: the waiting blocks, and those on their way. */
void floor_draw_queue(struct view *view, struct rect rect, int run);
void floor_draw_flights(struct view *view, const struct floor_map *map, struct rect queue, int run);

#endif
