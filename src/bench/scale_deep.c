/*
 * Deeply nested inputs: calls, tuples, shapes, literals, attributes, comments.
 */
#include "scale.h"

#include <stdio.h>

/* Functions that only call the previous one. */
static void calls_deep(long n, const char *op, const char *how)
{
    puts("HloModule m\nfun0 {\n  a = f32[4] parameter(0)\n  ROOT r = f32[4] add(a, a)\n}");
    for (long i = 1; i < n; i++)
        printf("fun%ld {\n  a = f32[4] parameter(0)\n  ROOT r = f32[4] %s(a), %sfun%ld\n}\n", i, op,
               how, i - 1);
    entry();
    printf("  ROOT r = f32[4] %s(x), %sfun%ld\n", op, how, n - 1);
    end();
}

void make_calls_deep(long n) { calls_deep(n, "call", "to_apply="); }
void make_fusions_deep(long n) { calls_deep(n, "fusion", "kind=kLoop, calls="); }

void make_tuples_deep(long n) /* of instructions; their shapes are omitted */
{
    begin();
    puts("  t0 = tuple(x)");
    for (long i = 1; i < n; i++)
        printf("  t%ld = tuple(t%ld)\n", i, i - 1);
    end();
}

void make_tuples_doubled_deep(long n) /* 2^N leaves */
{
    begin();
    puts("  t0 = tuple(x)");
    for (long i = 1; i < n; i++)
        printf("  t%ld = tuple(t%ld, t%ld)\n", i, i - 1, i - 1);
    end();
}

void make_calls_doubled_deep(long n) /* 2^N calls */
{
    puts("HloModule m\nfun0 {\n  a = f32[4] parameter(0)\n  ROOT r = f32[4] add(a, a)\n}");
    for (long i = 1; i < n; i++)
        printf("fun%ld {\n  a = f32[4] parameter(0)\n  b = f32[4] call(a), to_apply=fun%ld\n"
               "  ROOT r = f32[4] call(b), to_apply=fun%ld\n}\n",
               i, i - 1, i - 1);
    entry();
    printf("  ROOT r = f32[4] call(x), to_apply=fun%ld\n", n - 1);
    end();
}

void make_shape_deep(long n)
{
    printf("HloModule m\n\nENTRY e {\n  x = ");
    times(n, "(");
    printf("f32[4]");
    times(n, ")");
    puts(" parameter(0)");
    end();
}

void make_literal_deep(long n)
{
    printf("HloModule m\n\nENTRY e {\n  c = f32[1] constant(");
    times(n, "{");
    printf("1");
    times(n, "}");
    puts(")");
    end();
}

void make_literal_tuple_deep(long n)
{
    printf("HloModule m\n\nENTRY e {\n  c = ");
    times(n, "(");
    printf("f32[]");
    times(n, ")");
    printf(" constant(");
    times(n, "(");
    printf("1");
    times(n, ")");
    puts(")");
    end();
}

void make_parentheses_deep(long n)
{
    begin();
    printf("  y = f32[4] add(x, ");
    times(n, "(");
    printf("x");
    times(n, ")");
    puts(")");
    end();
}

void make_braces_deep(long n) /* in an attribute */
{
    begin();
    printf("  y = f32[4] add(x, x), frontend_attributes=");
    times(n, "{");
    times(n, "}");
    puts("");
    end();
}

void make_sharding_deep(long n)
{
    begin();
    printf("  y = f32[4] add(x, x), sharding=");
    times(n, "{");
    printf("{replicated}");
    times(n, "}");
    puts("");
    end();
}

void make_config_deep(long n)
{
    begin();
    printf("  y = f32[4] custom-call(x), custom_call_target=\"t\", backend_config=");
    times(n, "{a=");
    printf("1");
    times(n, "}");
    puts("");
    end();
}

void make_comments_deep(long n)
{
    begin();
    times(n, "/* ");
    times(n, "*/ ");
    end();
}
