/*
 * Large inputs: instructions and computations.
 */
#include "scale.h"

#include <stdio.h>

void make_chain(long n)
{
    begin();
    puts("  v0 = f32[4] add(x, x)");
    for (long i = 1; i < n; i++)
        printf("  %sv%ld = f32[4] %s(v%ld, x)\n", i == n - 1 ? "ROOT " : "", i,
               i & 1 ? "multiply" : "maximum", i - 1);
    end();
}

void make_unknown_shapes(long n) /* omitted shapes */
{
    begin();
    puts("  v0 = add(x, x)");
    for (long i = 1; i < n; i++)
        printf("  v%ld = maximum(v%ld, x)\n", i, i - 1);
    end();
}

void make_dead(long n)
{
    begin();
    for (long i = 0; i < n; i++)
        printf("  v%ld = f32[4] sine(x)\n", i);
    puts("  ROOT r = f32[4] negate(x)");
    end();
}

void make_matmuls(long n)
{
    puts("HloModule m\n\nENTRY e {\n  x = f32[2,2] parameter(0)\n  v0 = f32[2,2] negate(x)");
    for (long i = 1; i < n; i++)
        printf(
            "  v%ld = f32[2,2] dot(v%ld, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n",
            i, i - 1);
    end();
}

void make_reshapes(long n)
{
    begin();
    puts("  v0 = f32[2,2] reshape(x)");
    for (long i = 1; i < n; i++)
        printf("  v%ld = f32[2,2] transpose(v%ld), dimensions={1,0}\n", i, i - 1);
    end();
}

void make_computations(long n)
{
    puts("HloModule m");
    for (long i = 0; i < n; i++)
        printf("fun%ld {\n  a = f32[4] parameter(0)\n  ROOT r = f32[4] add(a, a)\n}\n", i);
    entry();
    puts("  v0 = f32[4] call(x), to_apply=fun0");
    for (long i = 1; i < n; i++)
        printf("  v%ld = f32[4] call(v%ld), to_apply=fun%ld\n", i, i - 1, i);
    end();
}

void make_callers(long n) /* of one computation */
{
    puts("HloModule m\nf {\n  a = f32[4] parameter(0)\n  b = f32[4] sine(a)\n  ROOT r = f32[4] "
         "add(a, b)\n}");
    entry();
    puts("  v0 = f32[4] call(x), to_apply=f");
    for (long i = 1; i < n; i++)
        printf("  v%ld = f32[4] call(v%ld), to_apply=f\n", i, i - 1);
    end();
}

void make_loops(long n)
{
    puts("HloModule m\nc {\n  p = (s32[]) parameter(0)\n  i = s32[] get-tuple-element(p), "
         "index=0\n  k = s32[] constant(3)\n"
         "  ROOT r = pred[] compare(i, k), direction=LT\n}\n"
         "b {\n  p = (s32[]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  k = s32[] "
         "constant(1)\n"
         "  j = s32[] add(i, k)\n  ROOT r = (s32[]) tuple(j)\n}\nENTRY e {\n  x = s32[] "
         "parameter(0)\n  w0 = (s32[]) tuple(x)");
    for (long i = 1; i < n; i++)
        printf("  w%ld = (s32[]) while(w%ld), condition=c, body=b\n", i, i - 1);
    end();
}

void make_reductions(long n)
{
    puts("HloModule m\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] "
         "add(a, b)\n}");
    entry();
    puts("  z = f32[] constant(0)\n  v0 = f32[4] negate(x)");
    for (long i = 1; i < n; i++)
        printf("  m%ld = f32[] reduce(v%ld, z), dimensions={0}, to_apply=add\n"
               "  v%ld = f32[4] broadcast(m%ld), dimensions={}\n",
               i, i - 1, i, i);
    end();
}

void make_modules(long n)
{
    for (long i = 0; i < n; i++)
        printf("%sHloModule m%ld\nENTRY e {\n  ROOT x = f32[4] parameter(0)\n}\n",
               i ? "// -----\n" : "", i);
}
