/*
 * cpu.h: the instruction set that kernels may use, the same for all of them. A kernel with several
 * variants queries it on look-up or call; nothing is cached, so there is no global state.
 * HLO_ISA=baseline, avx2 or avx512 in the environment lowers the answer, for tests and
 * measurements; it never raises it above what the processor supports. Functions marked KERN_CLONES
 * (nest.h, which explains why both mechanisms exist) are selected by the loader and ignore it.
 */
#ifndef HLO_KERN_CPU_H
#define HLO_KERN_CPU_H

#include "base/base.h"

enum cpu_isa {
    CPU_BASELINE, /* supported by every machine of the architecture */
    CPU_AVX2,     /* AVX2, FMA, BMI, BMI2, POPCNT, F16C */
    CPU_AVX512,   /* and AVX-512 F, BW, CD, DQ, VL (x86-64-v4) */
    CPU_ISA_COUNT
};

enum cpu_isa cpu_isa(void); /* takes some tens of nanoseconds */

/* The address of NAME_avx512, NAME_avx2 or NAME_baseline, three forms of an object. */
#ifdef __x86_64__
#define CPU_FORM(name)                                                                             \
    (((__typeof__(&name##_baseline)[CPU_ISA_COUNT]){&name##_baseline, &name##_avx2,                \
                                                    &name##_avx512})[cpu_isa()])
#else
#define CPU_FORM(name) (&name##_baseline)
#endif

/* Extensions of some processors with AVX-512; never more than cpu_isa() allows. */
struct cpu_extras {
    bool bf16;      /* AVX512_BF16: vdpbf16ps, vcvtneps2bf16 */
    bool vnni;      /* AVX512_VNNI: vpdpbusd, vpdpwssd */
    bool vpopcntdq; /* AVX512_VPOPCNTDQ: vpopcntd, vpopcntq */
};
struct cpu_extras cpu_extras(void);

const char *cpu_isa_name(enum cpu_isa isa); /* the spelling of HLO_ISA */

#endif
