/*
 * Texts returned by the public interface, option structs, and hlo_about.
 */
#include "api/api.h"

#include "kern/kern.h"

hlo_text hlo_text_of(struct buf *b)
{
    buf_reserve(b, 1);
    b->data[b->size] = '\0';
    return (hlo_text){b->data, b->size};
}

void hlo_text_free(hlo_text *text)
{
    heap_free(text->data);
    *text = (hlo_text){0};
}

bool hlo_options_copy(void *to, size_t size, const void *from, hlo_messages *m)
{
    size_t given = size;
    const char *problem = NULL;
    memset(to, 0, size);
    if (from)
        memcpy(&given, from, sizeof given);
    if (given < sizeof given)
        problem =
            "the size of the option struct is not set: initialize it with its HLO_..._INIT macro";
    for (size_t k = size; k < given && !problem; k++)
        if (((const char *)from)[k] != 0)
            problem = "an option is set that this version of the library does not have";
    if (problem) {
        if (m)
            hlo_messages_add(m, "<options>", problem);
        return false;
    }
    if (from)
        memcpy(to, from, given < size ? given : size);
    memcpy(to, &size, sizeof size);
    return true;
}

hlo_text hlo_about(void)
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    buf_puts(&b, "hlo " HLO_VERSION "\n");
    kern_about(&b);
    return hlo_text_of(&b);
}
