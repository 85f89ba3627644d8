/*
 * Machine instructions are encoded as an assembler encodes them.
 */
#include "jit/x86.h"

#include "check_quiet.h"

#include <stdlib.h>

enum { OFFSET = 0x12345678, MASKS = 8 };
static const char *const general[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

/* The number of bits of a memory or register operand, where it is not that of the instruction. */
struct sizes {
    const char *x, *m; /* registers of both: "x" or "y"; memory: "dword" ... */
    const char *memory;
};

static struct sizes sizes_of(enum x86_inst inst, bool wide)
{
    const char *all = wide ? "y" : "x", *name = x86_table[inst].mnemonic;
    struct sizes s = {all, all, ""};
    bool widens = strncmp(name, "vpmov", 5) == 0 || inst == X86_CVTDQ2PD || inst == X86_CVTPS2PD ||
                  inst == X86_CVTPH2PS;
    if (widens || inst == X86_BROADCASTB || inst == X86_BROADCASTW || inst == X86_BROADCASTD ||
        inst == X86_BROADCASTQ)
        s.m = "x";
    if (inst == X86_CVTPD2PS || inst == X86_CVTTPD2DQ) {
        s.x = "x";
        s.memory = wide ? "ymmword ptr " : "xmmword ptr ";
    }
    if (inst == X86_EXTRACTI128 || inst == X86_CVTPS2PH)
        s.m = "x";
    if (inst == X86_MOVD_LOAD || inst == X86_MOVD_STORE || inst == X86_MOVQ_STORE ||
        inst == X86_MOVUPS_STORE || inst == X86_PEXTRB || inst == X86_PEXTRW ||
        inst == X86_PINSRB || inst == X86_PINSRW)
        s.m = "";
    if (inst == X86_MOVQ_GENERAL || inst == X86_MOVQ_FROM_GENERAL)
        s = (struct sizes){"x", "r", "qword ptr "};
    return s;
}

/* A mask register has size "k". */
static void put_vector(struct buf *out, const char *size, int number)
{
    if (size[0] == 'k')
        buf_printf(out, "k%d", number % MASKS);
    else
        buf_printf(out, "%smm%d", size, number);
}

static void put_last(struct buf *out, struct sizes s, struct x86_operand m)
{
    if (m.kind == X86_REGISTER && s.m[0] == 'r')
        buf_puts(out, general[m.number]);
    else if (m.kind == X86_REGISTER)
        put_vector(out, s.m, m.number);
    else if (m.kind == X86_MEMORY)
        buf_printf(out, "%s[%s+%d]", s.memory, general[m.base], OFFSET);
    else
        buf_printf(out, "%s[%s+%s*%d+%d]", s.memory, general[m.base], general[m.index], m.scale,
                   OFFSET);
}

/* The instruction in Intel's syntax, with the encoding that we choose. */
static void put_text(struct buf *out, enum x86_inst inst, bool wide, int x, int y,
                     struct x86_operand m, int immediate)
{
    const enum x86_form form = (enum x86_form)x86_table[inst].form;
    struct sizes s = sizes_of(inst, wide);
    bool store = form == X86_MX || form == X86_MXI;
    buf_printf(out, "{vex3} {disp32} %s ", x86_table[inst].mnemonic);
    if (store)
        put_last(out, s, m);
    else
        put_vector(out, s.x, x);
    if (form == X86_XXM || form == X86_XXMI || form == X86_XXMX) {
        buf_puts(out, ", ");
        put_vector(out, s.x, y);
    }
    buf_puts(out, ", ");
    if (store)
        put_vector(out, s.x, x);
    else
        put_last(out, s, m);
    if (form == X86_XXMX) {
        buf_puts(out, ", ");
        put_vector(out, s.x, immediate);
    } else if (form != X86_XXM && form != X86_XM && form != X86_MX) {
        buf_printf(out, ", %d", immediate);
    }
    buf_putc(out, '\n');
}

static bool has_vectors(enum x86_inst inst)
{
    switch (x86_table[inst].form) {
    case X86_KKK:
    case X86_KK:
    case X86_KM:
    case X86_MK:
    case X86_KR:
    case X86_RMR: return false;
    default: return true;
    }
}

static bool has_size(enum x86_inst inst, bool wide)
{
    if (!has_vectors(inst) || !x86_table[inst].has_vex)
        return false;
    const char *name = x86_table[inst].mnemonic;
    size_t n = strlen(name);
    bool single = strcmp(name + n - 2, "ss") == 0 || strcmp(name + n - 2, "sd") == 0;
    bool moves = inst == X86_MOVD_LOAD || inst == X86_MOVD_STORE || inst == X86_MOVQ_LOAD ||
                 inst == X86_MOVQ_STORE || inst == X86_MOVQ_GENERAL ||
                 inst == X86_MOVQ_FROM_GENERAL || inst == X86_PEXTRB || inst == X86_PEXTRW ||
                 inst == X86_PINSRB || inst == X86_PINSRW;
    if (inst == X86_EXTRACTI128)
        return wide;
    return !wide || (!single && !moves);
}

/* Stores of registers to registers have the encoding of loads. */
static bool may_be_register(enum x86_inst inst) { return sizes_of(inst, false).m[0] != '\0'; }

static void encode_all(struct x86_code *c, struct buf *text)
{
    static const int numbers[] = {0, 5, 7, 8, 13, 15};
    for (int inst = 0; inst < X86_INST_COUNT; inst++)
        for (int wide = 0; wide < 2; wide++)
            for (int k = 0; k < 6 * 6 && has_size((enum x86_inst)inst, wide); k++) {
                int x = numbers[k % 6], y = numbers[k / 6], z = numbers[(k + k / 6) % 6];
                bool only_registers = x86_table[inst].form == X86_XXI || inst == X86_MOVQ_GENERAL ||
                                      inst == X86_MOVQ_FROM_GENERAL;
                int immediate = x86_table[inst].form == X86_XXMX ? (k * 7) & 15 : k % 8 + 1;
                struct x86_operand m[] = {
                    x86_register(z), x86_memory(k % 16, OFFSET),
                    x86_indexed(k % 16, (k + 5) % 16 == RSP ? RAX : (k + 5) % 16, 1 << k % 4)};
                m[2].offset = OFFSET;
                for (int j = may_be_register((enum x86_inst)inst) ? 0 : 1;
                     j < (only_registers ? 1 : 3); j++) {
                    x86_vector(c, (enum x86_inst)inst, wide, x, y, m[j], immediate);
                    put_text(text, (enum x86_inst)inst, wide, x, y, m[j], immediate);
                }
            }
}

/* Instructions on mask registers, and BZHI. */
static void encode_masks(struct x86_code *c, struct buf *text)
{
    for (int inst = 0; inst < X86_INST_COUNT; inst++)
        for (int k = 0; k < MASKS * MASKS && !has_vectors((enum x86_inst)inst); k++) {
            const char *name = x86_table[inst].mnemonic;
            const int x = k % MASKS, y = k / MASKS, z = (x + y) % MASKS;
            const struct x86_operand m = x86_memory(k % 16, OFFSET);
            switch (x86_table[inst].form) {
            case X86_KKK:
                x86_vector(c, (enum x86_inst)inst, true, x, y, x86_register(z), 0);
                buf_printf(text, "{vex3} %s k%d, k%d, k%d\n", name, x, y, z);
                break;
            case X86_KK:
                x86_vector(c, (enum x86_inst)inst, false, x, 0, x86_register(z), 0);
                buf_printf(text, "{vex3} %s k%d, k%d\n", name, x, z);
                break;
            case X86_KR:
                x86_vector(c, (enum x86_inst)inst, false, x, 0, x86_register(RSI), 0);
                buf_printf(text, "{vex3} %s k%d, rsi\n", name, x);
                break;
            case X86_KM:
            case X86_MK:
                x86_vector(c, (enum x86_inst)inst, false, x, 0, m, 0);
                if (x86_table[inst].form == X86_KM)
                    buf_printf(text, "{vex3} {disp32} %s k%d, [%s+%d]\n", name, x, general[m.base],
                               OFFSET);
                else
                    buf_printf(text, "{vex3} {disp32} %s [%s+%d], k%d\n", name, general[m.base],
                               OFFSET, x);
                break;
            default:
                x86_vector(c, (enum x86_inst)inst, false, x, 8 + y, x86_register(z), 0);
                buf_printf(text, "{vex3} %s %s, %s, %s\n", name, general[x], general[z],
                           general[8 + y]);
            }
        }
}

/* ---- encodings of AVX-512 ---- */

static void put_part(struct buf *out, enum x512_size size, int part, int number)
{
    static const char *const sizes[] = {"x", "y", "z"};
    int at = (int)size;
    for (; part > 1 && at > 0; part /= 2)
        at--;
    put_vector(out, sizes[at], number);
}

static void put_mask(struct buf *out, int mask, bool zeroing)
{
    if (mask > 0)
        buf_printf(out, "{k%d}%s", mask, zeroing ? "{z}" : "");
}

static void put_address(struct buf *out, const struct x86_row *row, enum x512_size size,
                        struct x86_operand m)
{
    static const char *const sizes[] = {"xmmword ptr ", "ymmword ptr ", "zmmword ptr "};
    const bool sized = row->x_part == 2; /* the operands do not determine the size otherwise */
    if (m.kind == X86_REGISTER)
        put_part(out, size, row->m_part, m.number);
    else if (m.kind == X86_MEMORY)
        buf_printf(out, "%s[%s+%d]", sized ? sizes[size] : "", general[m.base], OFFSET);
    else
        buf_printf(out, "%s[%s+%s*%d+%d]", sized ? sizes[size] : "", general[m.base],
                   general[m.index], m.scale, OFFSET);
}

static void put_512(struct buf *out, enum x86_inst inst, enum x512_size size, int x, int y,
                    struct x86_operand m, int immediate, int mask, bool zeroing)
{
    const struct x86_row *row = &x86_table[inst];
    const enum x86_form form = x86_form_512(inst);
    const bool store = form == X86_MX || form == X86_MXI,
               to_mask = form == X86_KXM || form == X86_KXMI || form == X86_KX;
    buf_printf(out, "{evex} {disp32} %s ", row->mnemonic_512 ? row->mnemonic_512 : row->mnemonic);
    if (store)
        put_address(out, row, size, m);
    else if (to_mask)
        put_vector(out, "k", x);
    else
        put_part(out, size, row->x_part, x);
    put_mask(out, mask, zeroing);
    if (form == X86_XXM || form == X86_XXMI || form == X86_KXM || form == X86_KXMI) {
        buf_puts(out, ", ");
        put_part(out, size, 1, y);
    }
    buf_puts(out, ", ");
    if (store)
        put_part(out, size, row->x_part, x);
    else if (form == X86_XK)
        put_vector(out, "k", m.number);
    else
        put_address(out, row, size, m);
    if (form == X86_XXMI || form == X86_XMI || form == X86_MXI || form == X86_XXI ||
        form == X86_KXMI)
        buf_printf(out, ", %d", immediate);
    buf_putc(out, '\n');
}

static void encode_512(struct x86_code *c, struct buf *text, enum x86_inst inst,
                       enum x512_size size, int k)
{
    static const int numbers[] = {0, 7, 9, 15, 16, 22, 25, 31};
    const enum x86_form form = x86_form_512(inst);
    const bool to_mask = form == X86_KXM || form == X86_KXMI || form == X86_KX,
               only_registers = form == X86_XXI || form == X86_KX || form == X86_XK,
               store = form == X86_MX || form == X86_MXI;
    const int x = to_mask ? k % 8 : numbers[k % 8], y = numbers[k / 8],
              z = form == X86_XK ? k % 8 : numbers[(k + k / 8) % 8], immediate = k % 8 + 1;
    struct x86_operand m[] = {
        x86_register(z), x86_memory(k % 16, OFFSET),
        x86_indexed(k % 16, (k + 5) % 16 == RSP ? RAX : (k + 5) % 16, 1 << k % 4)};
    m[2].offset = OFFSET;
    const bool moves = inst == X86_MOVUPS_STORE || inst == X86_MOVUPD_STORE ||
                       inst == X86_MOVDQU16_STORE; /* between registers: encoded as loads */
    for (int j = moves; j < (only_registers ? 1 : 3); j++) {
        const int mask = form == X86_KX || form == X86_XK ? 0 : k % 3 * 3;
        const bool zeroing = mask > 0 && k % 2 && !to_mask && (!store || j == 0);
        x512_vector(c, inst, size, x, y, m[j], immediate, mask, zeroing);
        put_512(text, inst, size, x, y, m[j], immediate, mask, zeroing);
    }
}

/* Conversions between sizes have a vector of half the size. */
static void encode_all_512(struct x86_code *c, struct buf *text)
{
    for (int inst = 0; inst < X86_INST_COUNT; inst++) {
        const struct x86_row *row = &x86_table[inst];
        const bool resized = row->x_part + row->m_part > 2;
        for (int size = resized ? X512_32 : X512_16; row->x_part > 0 && size <= X512_64; size++)
            for (int k = 0; k < 64; k++)
                encode_512(c, text, (enum x86_inst)inst, (enum x512_size)size, k);
    }
}

static void encode_general(struct x86_code *c, struct buf *text)
{
    static const struct {
        const char *name;
        int opcode;
    } both[] = {{"mov", 0x8b}, {"cmp", 0x3b}, {"xor", 0x33}, {"add", 0x03}};
    for (size_t k = 0; k < COUNT_OF(both); k++)
        for (int r = 0; r < 16; r++) {
            struct x86_operand m = x86_memory((r * 5 + 3) % 16, OFFSET);
            x86_general(c, both[k].opcode, r, m);
            buf_printf(text, "{disp32} %s %s, [%s+%d]\n", both[k].name, general[r], general[m.base],
                       OFFSET);
            x86_general(c, both[k].opcode, r, x86_register(15 - r));
            buf_printf(text, "{load} %s %s, %s\n", both[k].name, general[r], general[15 - r]);
            x86_general(c, 0x69, r, x86_register((int)k));
            x86_int32(c, OFFSET);
            buf_printf(text, "imul %s, %s, %d\n", general[r], general[k], OFFSET);
        }
}

static void encode_divisions(struct x86_code *c, struct buf *text)
{
    for (int k = 0; k < 8; k++) {
        const bool wide = k & 1, is_signed = k & 2, remainder = k & 4;
        const char *r = wide ? "r" : "e";
        x86_divide(c, wide, is_signed, remainder);
        if (is_signed)
            buf_printf(text, "lea %sdx, [rcx+1]\ncmp %sdx, 1\n{disp32} jbe 1f\n%s\nidiv %scx\n", r,
                       r, wide ? "cqo" : "cdq", r);
        else
            buf_printf(text, "test %scx, %scx\n{disp32} je 1f\nxor %sdx, %sdx\ndiv %scx\n", r, r, r,
                       r, r);
        if (remainder)
            buf_printf(text, "mov %sax, %sdx\n{disp32} jmp 2f\n1: not %scx\nand %sax, %scx\n2:\n",
                       r, r, r, r, r);
        else
            buf_printf(text,
                       "{disp32} jmp 2f\n1: neg %sax\nand %sax, %scx\nnot %scx\nor %sax, %scx\n"
                       "2:\n",
                       r, r, r, r, r, r);
    }
}

/* The bytes that the assembler outputs; NULL if it fails. */
static char *assemble(const struct buf *text, size_t *size)
{
    char folder[] = "/tmp/test-jit-XXXXXX", command[400], path[64], *bytes = NULL;
    ck_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/a.s", folder);
    FILE *f = fopen(path, "w");
    fputs(".intel_syntax noprefix\n", f);
    fwrite(text->data, 1, text->size, f);
    fclose(f);
    snprintf(command, sizeof command,
             "as --64 -o %s/a.o %s/a.s && objcopy -O binary -j .text %s/a.o %s/a.bin", folder,
             folder, folder, folder);
    bool ok = system(command) == 0;
    snprintf(path, sizeof path, "%s/a.bin", folder);
    f = ok ? fopen(path, "r") : NULL;
    if (f) {
        bytes = malloc(1 << 23);
        *size = fread(bytes, 1, 1 << 23, f);
        fclose(f);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert(system(command) == 0);
    return bytes;
}

START_TEST(encodings)
{
    struct x86_code c = {.constant_bytes = 32};
    struct buf text = {0};
    size_t size = 0;
    encode_all(&c, &text);
    encode_masks(&c, &text);
    encode_all_512(&c, &text);
    encode_general(&c, &text);
    encode_divisions(&c, &text);
    char *expected = system("as --version >/dev/null 2>&1") == 0 ? assemble(&text, &size) : NULL;
    ck_assert(expected != NULL);
    ck_assert_uint_eq(size, c.bytes.size);
    for (size_t k = 0; k < size; k++)
        ck_assert_msg(expected[k] == c.bytes.data[k], "byte %zu", k);
    free(expected);
    buf_free(&c.bytes);
    buf_free(&text);
}
END_TEST

/* Where there is no machine code, nothing is tested but that. */
START_TEST(no_target) { ck_assert(jit_memory_new() == NULL); }
END_TEST

int main(void)
{
    Suite *s = suite_create("jit-encodings");
    TCase *t = tcase_create("encodings");
    tcase_set_timeout(t, 120);
    suite_add_tcase(s, t);
    struct jit_memory *m = jit_memory_new();
    if (m) /* elsewhere the assembler may be of another processor */
        tcase_add_test(t, encodings);
    else
        tcase_add_test(t, no_target);
    jit_memory_free(m);
    return check_run(s);
}
