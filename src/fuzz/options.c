/*
 * Sanitizer options of fuzz targets: a huge allocation fails, as in a normal build, so that the
 * out-of-memory error is tested.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=1024";
}
