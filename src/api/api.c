/*
 * Texts that the public interface returns, and what the library says about itself.
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

hlo_text hlo_about(void)
{
    GUARDED((hlo_text){0});
    struct buf b = {0};
    buf_puts(&b, "hlo " HLO_VERSION "\n");
    kern_about(&b);
    return hlo_text_of(&b);
}
