/*
 * view.c: index spaces and strided views.
 */
#include "type/type.h"

int64_t view_elements(const struct view *v)
{
    int64_t n = 1;
    for (int d = 0; d < v->rank; d++)
        n *= v->dims[d];
    return n;
}

bool view_is_dense(const struct view *v)
{
    int64_t stride = (int64_t)dtype_bytes(v->dtype);
    for (int d = v->rank - 1; d >= 0; d--) {
        if (v->dims[d] != 1 && v->strides[d] != stride)
            return view_elements(v) == 0;
        stride *= v->dims[d];
    }
    return true;
}

void view_dense(struct view *v, enum dtype t, int rank, const int64_t *dims, void *data)
{
    int64_t stride = (int64_t)dtype_bytes(t);
    v->dtype = t;
    v->rank = rank;
    v->data = data;
    for (int d = rank - 1; d >= 0; d--) {
        v->dims[d] = dims[d];
        v->strides[d] = stride;
        stride *= dims[d];
    }
}
