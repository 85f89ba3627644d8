/*
 * Text tables: cells in columns that are as wide as their widest cell.
 */
#ifndef HLO_BASE_TABLE_H
#define HLO_BASE_TABLE_H

#include "base/base.h"

struct table_column {
    const char *head; /* NULL in all columns: a table without a line of heads */
    bool right;       /* right-aligned */
    int drop;         /* dropped in this order, from 1, if the table is too wide; 0: never */
};
/* Cells are written row by row: append the text of a cell to `text`, then call table_next. */
struct table {
    const struct table_column *columns;
    size_t column_count;
    struct buf text;
    struct buf ends; /* offsets in `text`, of type size_t: the end of each cell */
};
#define TABLE(columns) ((struct table){(columns), COUNT_OF(columns), {0}, {0}})

void table_next(struct table *t);
/* table_next for a cell with this text. */
void table_cell(struct table *t, struct str text);
/* Ends the current row; its remaining cells are empty. */
void table_end_row(struct table *t);
/* Appends the finished table, indented by two blanks, and frees it. */
void table_put(struct buf *out, struct table *t);
/* The same in lines of at most WIDTH columns if possible: columns are dropped, and cells that are
 * too long are cut. */
void table_put_within(struct buf *out, struct table *t, size_t width);

#endif
