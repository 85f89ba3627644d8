/*
 * Large inputs with many operands, elements or uses of one instruction; and long fusions.
 */
#include "scale.h"

#include <stdio.h>

void make_tuple_wide(long n)
{
    begin_scalar();
    tuple_of("ROOT t", n, "f32[]", "x");
    end();
}

void make_concatenate_wide(long n)
{
    begin();
    printf("  ROOT y = f32[%ld] concatenate(", 4 * n);
    listed(n, "x", ", ");
    puts("), dimensions={0}");
    end();
}

void make_fan_out(long n)
{
    begin();
    for (long i = 0; i < n; i++)
        printf("  v%ld = f32[4] sine(x)\n", i);
    tuple_of("ROOT t", n, "f32[4]", "v#");
    end();
}

void make_elements(long n) /* of a wide tuple, assembled again */
{
    printf("HloModule m\n\nENTRY e {\n  t = (");
    listed(n, "f32[]", ", ");
    puts(") parameter(0)");
    for (long i = 0; i < n; i++)
        printf("  g%ld = f32[] get-tuple-element(t), index=%ld\n", i, i);
    tuple_of("ROOT r", n, "f32[]", "g#");
    end();
}

static void state(long n, const char *root) /* a computation on (s32[], f32[], f32[] ...) */
{
    printf("  p = (s32[], ");
    listed(n, "f32[]", ", ");
    puts(") parameter(0)\n  i = s32[] get-tuple-element(p), index=0");
    puts(root);
}

void make_loop_wide(long n)
{
    puts("HloModule m\nc {");
    state(n, "  k = s32[] constant(3)\n  ROOT r = pred[] compare(i, k), direction=LT\n}\nb {");
    state(n, "  k = s32[] constant(1)\n  j = s32[] add(i, k)");
    for (long i = 0; i < n; i++)
        printf("  g%ld = f32[] get-tuple-element(p), index=%ld\n  h%ld = f32[] add(g%ld, g%ld)\n",
               i, i + 1, i, i, i);
    printf("  ROOT r = (s32[], ");
    listed(n, "f32[]", ", ");
    printf(") tuple(j, ");
    listed(n, "h#", ", ");
    puts(")\n}\nENTRY e {");
    state(n, "  ROOT w = while(p), condition=c, body=b");
    end();
}

void make_branches(long n)
{
    puts("HloModule m\nf {\n  a = f32[4] parameter(0)\n  ROOT r = f32[4] add(a, a)\n}\n\nENTRY e "
         "{\n  x = f32[4] parameter(0)\n"
         "  k = s32[] constant(2)");
    printf("  ROOT r = f32[4] conditional(k, ");
    listed(n, "x", ", ");
    printf("), branch_computations={");
    listed(n, "f", ", ");
    puts("}");
    end();
}

void make_parameters(long n)
{
    puts("HloModule m\n\nENTRY e {");
    for (long i = 0; i < n; i++)
        printf("  p%ld = f32[4] parameter(%ld)\n", i, i);
    puts("  v0 = f32[4] negate(p0)");
    for (long i = 1; i < n; i++)
        printf("  v%ld = f32[4] add(v%ld, p%ld)\n", i, i - 1, i);
    end();
}

void make_fusion_long(long n)
{
    puts("HloModule m\nf {\n  x = f32[4] parameter(0)\n  v0 = f32[4] sine(x)");
    for (long i = 1; i < n; i++)
        printf("  v%ld = f32[4] add(v%ld, v%ld)\n", i, i - 1, i / 2);
    puts("}");
    entry();
    puts("  ROOT r = f32[4] fusion(x), kind=kLoop, calls=f");
    end();
}

void make_fusion_wide(long n)
{
    puts("HloModule m\nf {");
    for (long i = 0; i < n; i++)
        printf("  p%ld = f32[4] parameter(%ld)\n", i, i);
    puts("  v0 = f32[4] sine(p0)");
    for (long i = 1; i < n; i++)
        printf("  v%ld = f32[4] add(v%ld, p%ld)\n", i, i - 1, i);
    puts("}");
    entry();
    printf("  ROOT r = f32[4] fusion(");
    listed(n, "x", ", ");
    puts("), kind=kLoop, calls=f");
    end();
}

void make_sort_wide(long n)
{
    puts("HloModule m\nless {");
    for (long i = 0; i < 2 * n; i++)
        printf("  p%ld = f32[] parameter(%ld)\n", i, i);
    puts("  ROOT r = pred[] compare(p0, p1), direction=LT\n}");
    entry();
    printf("  ROOT s = (");
    listed(n, "f32[4]", ", ");
    printf(") sort(");
    listed(n, "x", ", ");
    puts("), dimensions={0}, to_apply=less");
    end();
}

void make_reduce_wide(long n)
{
    puts("HloModule m\nadd {");
    for (long i = 0; i < 2 * n; i++)
        printf("  p%ld = f32[] parameter(%ld)\n", i, i);
    tuple_of("ROOT t", n, "f32[]", "p#");
    puts("}");
    entry();
    printf("  z = f32[] constant(0)\n  ROOT s = (");
    listed(n, "f32[]", ", ");
    printf(") reduce(");
    listed(n, "x", ", ");
    printf(", ");
    listed(n, "z", ", ");
    puts("), dimensions={0}, to_apply=add");
    end();
}

void make_collectives(long n)
{
    puts("HloModule m, replica_count=2\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
         "  ROOT r = f32[] add(a, b)\n}\nENTRY e {\n  x = f32[4] parameter(0)\n  v0 = f32[4] "
         "negate(x)");
    for (long i = 1; i < n; i++)
        printf(
            "  v%ld = f32[4] all-reduce(v%ld), replica_groups={}, channel_id=%ld, to_apply=add\n",
            i, i - 1, i);
    end();
}

void make_asynchronous(long n)
{
    begin();
    puts("  v0 = f32[4] negate(x)");
    for (long i = 1; i < n; i++)
        printf(
            "  a%ld = (f32[4], f32[4], u32[]) copy-start(v%ld)\n  v%ld = f32[4] copy-done(a%ld)\n",
            i, i - 1, i, i);
    end();
}

void make_sends(long n)
{
    puts("HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  t0 = token[] after-all()");
    for (long i = 1; i < n; i++)
        printf(
            "  a%ld = (f32[4], u32[], token[]) send(x, t0), channel_id=%ld, is_host_transfer=true\n"
            "  t%ld = token[] send-done(a%ld), channel_id=%ld, is_host_transfer=true\n",
            i, i, i, i, i);
    end();
}

void make_bounded(long n)
{
    puts("HloModule m\n\nENTRY e {\n  x = f32[<=4] parameter(0)\n  v0 = f32[<=4] negate(x)");
    for (long i = 1; i < n; i++)
        printf("  v%ld = f32[<=4] add(v%ld, x)\n", i, i - 1);
    end();
}
