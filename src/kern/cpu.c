/*
 * cpu.c: detects the instruction sets of this processor, limited by HLO_ISA (no kernel of its own).
 */
#include "kern/cpu.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[CPU_ISA_COUNT] = {"baseline", "avx2", "avx512"};

const char *cpu_isa_name(enum cpu_isa isa) { return names[isa]; }

#if defined __x86_64__
#define HAS(feature) (__builtin_cpu_supports(feature) != 0)

/* F16C has no name that every compiler accepts; all processors with AVX2 and FMA have it. */
static enum cpu_isa best(void)
{
    if (!HAS("avx2") || !HAS("fma") || !HAS("bmi") || !HAS("bmi2") || !HAS("popcnt"))
        return CPU_BASELINE;
    if (!HAS("avx512f") || !HAS("avx512bw") || !HAS("avx512cd") || !HAS("avx512dq") ||
        !HAS("avx512vl"))
        return CPU_AVX2;
    return CPU_AVX512;
}

struct cpu_extras cpu_extras(void)
{
    if (cpu_isa() < CPU_AVX512)
        return (struct cpu_extras){0};
    return (struct cpu_extras){
        .bf16 = HAS("avx512bf16"), .vnni = HAS("avx512vnni"), .vpopcntdq = HAS("avx512vpopcntdq")};
}
#else
static enum cpu_isa best(void) { return CPU_BASELINE; }

struct cpu_extras cpu_extras(void) { return (struct cpu_extras){0}; }
#endif

enum cpu_isa cpu_isa(void)
{
    const enum cpu_isa has = best();
    const char *requested = getenv("HLO_ISA");
    for (int isa = 0; requested && isa < (int)has; isa++)
        if (strcmp(requested, names[isa]) == 0)
            return (enum cpu_isa)isa;
    return has;
}
