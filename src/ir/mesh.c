/*
 * mesh.c: the devices of meshes and of orders in iota form.
 */
#include "ir/ir.h"

int64_t iota_order_at(const struct iota_order *o, int64_t at)
{
    int64_t device = 0;
    for (int64_t k = o->reshape.count - 1; k >= 0; k--) {
        int64_t dim = o->transpose.count ? o->transpose.at[k] : k, size = o->reshape.at[dim];
        int64_t stride = 1;
        for (int64_t d = dim + 1; d < o->reshape.count; d++)
            stride *= o->reshape.at[d];
        device += at % size * stride;
        at /= size;
    }
    return device;
}

int64_t mesh_device_at(const struct mesh *m, int64_t at)
{
    return m->has_list ? m->device_ids.at[at] : m->has_iota ? iota_order_at(&m->order, at) : at;
}

bool mesh_device_count(const struct mesh *m, int64_t *out)
{
    *out = 1;
    for (int k = 0; k < m->axis_count; k++)
        if (!mul_i64(*out, m->axes[k].size, out))
            return false;
    return true;
}

int64_t mesh_axis_size(const struct mesh *m, struct axis_ref a)
{
    return a.size ? a.size : m->axes[a.axis].size;
}

int64_t mesh_axis_stride(const struct mesh *m, struct axis_ref a)
{
    int64_t stride = 1;
    for (int k = a.axis + 1; k < m->axis_count; k++)
        stride *= m->axes[k].size;
    return a.size ? stride * (m->axes[a.axis].size / (a.pre_size * a.size)) : stride;
}

bool mesh_axes_product(const struct mesh *m, struct mesh_axes axes, int64_t *out)
{
    *out = 1;
    for (int k = 0; k < axes.count; k++)
        if (!mul_i64(*out, mesh_axis_size(m, axes.at[k]), out))
            return false;
    return true;
}
