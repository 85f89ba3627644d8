/*
 * lapack_call.c: calls of LAPACK's routines by lists of their arguments, and their workspace (no
 * kernel of its own).
 */
#include "kern/blas.h"
#include "kern/lapack.h"

#include <math.h>

/* The first call of a batch is a workspace query, after which the workspace is allocated. True: the
 * routine is to be called again. */
static bool asks(struct lapack_item *it)
{
    if (it->work_size != -1 || it->info != 0)
        return false;
    double size =
        dtype_component(it->type) == DT_F32 ? (double)*(float *)it->work : *(double *)it->work;
    size *= size > 0x1p24 ? 1 + 0x1p-20 : 1; /* may have been rounded down, to a float */
    if (!(size < INT32_MAX)) {
        it->no_memory = true;
        return false;
    }
    it->work_size = at_least_one((fint)ceil(size)); /* `work` was space for this answer */
    it->work = mem_alloc((size_t)it->work_size * dtype_bytes(it->type) + LAPACK_SMALL);
    it->no_memory = !it->work;
    return !it->no_memory;
}

void *lapack_extra(struct lapack_item *it, int64_t count, size_t size)
{
    int64_t bytes;
    if (!it->extra && mul_i64(count, (int64_t)size, &bytes))
        it->extra = mem_zalloc((size_t)bytes + LAPACK_SMALL);
    it->no_memory = !it->extra;
    return it->extra;
}

bool lapack_real_extra(struct lapack_item *it, int64_t count)
{
    it->real = lapack_complex(it) ? lapack_extra(it, count, lapack_real(it)) : NULL;
    return it->real || !lapack_complex(it);
}

/* ---- calls: Fortran takes all arguments by address, and after them the length of each letter ----
 */

enum { MOST_ARGUMENTS = 17 };
typedef void *P;

/* `number`: storage for an argument that the item does not have in memory. */
static P argument(struct lapack_item *it, const char *word, fint *number)
{
    const int k = word[1] - '0';
    switch (*word) {
    case 'a': return it->x[k];
    case 'w': return it->work;
    case 's': return &it->work_size;
    case 'e': return it->extra;
    case 'E': return &it->integers;
    case 'f': return it->real;
    case 'F': return &it->reals;
    case 'i': return &it->info;
    case 'r': *number = it->rows[k]; return number;
    case 'c': *number = it->columns[k]; return number;
    case 'l': *number = at_least_one(it->rows[k]); return number;
    case 'o': /* a number whose first byte is the letter: processors are little-endian */
    case 'n': *number = (fint)it->options[k]; return number;
    default: return NULL;
    }
}

static void call_by_count(void (*f)(void), int count, P *v)
{
#define P6 P, P, P, P, P, P
#define V6(at) v[at], v[at + 1], v[at + 2], v[at + 3], v[at + 4], v[at + 5]
    switch (count) {
    case 6: ((void (*)(P6))f)(V6(0)); break;
    case 8: ((void (*)(P6, P, P))f)(V6(0), v[6], v[7]); break;
    case 9: ((void (*)(P6, P, P, P))f)(V6(0), v[6], v[7], v[8]); break;
    case 10: ((void (*)(P6, P, P, P, P))f)(V6(0), v[6], v[7], v[8], v[9]); break;
    case 11: ((void (*)(P6, P, P, P, P, P))f)(V6(0), v[6], v[7], v[8], v[9], v[10]); break;
    case 13: ((void (*)(P6, P6, P))f)(V6(0), V6(6), v[12]); break;
    case 15: ((void (*)(P6, P6, P, P, P))f)(V6(0), V6(6), v[12], v[13], v[14]); break;
    case 16: ((void (*)(P6, P6, P, P, P, P))f)(V6(0), V6(6), v[12], v[13], v[14], v[15]); break;
    default: ((void (*)(P6, P6, P, P, P, P, P))f)(V6(0), V6(6), v[12], v[13], v[14], v[15], v[16]);
    }
}

static void (*find_routine(const struct lapack_item *it, const char *name))(void)
{
    static const char letters[] = {[DT_F32] = 's', [DT_F64] = 'd', [DT_C64] = 'c', [DT_C128] = 'z'};
    char symbol[16] = {letters[it->type]};
    strcat(strncat(symbol, name, sizeof symbol - 3), "_");
    if (lapack_complex(it) && memcmp(name, "or", 2) == 0)
        memcpy(symbol + 1, "un", 2);
    if (lapack_complex(it) && memcmp(name, "sy", 2) == 0)
        memcpy(symbol + 1, "he", 2);
    return (void (*)(void))blas_function(symbol);
}

void lapack_call(struct lapack_item *it, const char *name, const char *arguments)
{
    void (*f)(void) = find_routine(it, name);
    fint numbers[MOST_ARGUMENTS];
    P values[MOST_ARGUMENTS];
    do {
        int count = 0, letters = 0;
        for (const char *word = arguments; *word;
             word += strcspn(word, " "), word += *word == ' ') {
            if ((*word == 'f' || *word == 'F') && !lapack_complex(it))
                continue;
            values[count] = argument(it, word, &numbers[count]);
            letters += *word == 'o';
            count++;
        }
        while (letters-- > 0) /* lengths are passed like addresses */
            values[count++] = (P)(uintptr_t)1;
        call_by_count(f, count, values);
    } while (strchr(arguments, 's') && asks(it));
}
