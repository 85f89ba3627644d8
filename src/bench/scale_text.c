/*
 * Functions that print pieces of large input.
 */
#include "scale.h"

#include <stdio.h>

void times(long n, const char *text)
{
    for (long i = 0; i < n; i++)
        fputs(text, stdout);
}

void listed(long n, const char *text, const char *between)
{
    for (long i = 0; i < n; i++) {
        if (i)
            fputs(between, stdout);
        for (const char *s = text; *s; s++) {
            if (*s == '#')
                printf("%ld", i);
            else
                putchar(*s);
        }
    }
}

void entry(void) { puts("\nENTRY e {\n  x = f32[4] parameter(0)"); }

void begin(void)
{
    puts("HloModule m");
    entry();
}

void begin_scalar(void) { puts("HloModule m\n\nENTRY e {\n  x = f32[] parameter(0)"); }

void end(void) { puts("}"); }

void tuple_of(const char *name, long n, const char *type, const char *text)
{
    printf("  %s = (", name);
    listed(n, type, ", ");
    printf(") tuple(");
    listed(n, text, ", ");
    puts(")");
}
