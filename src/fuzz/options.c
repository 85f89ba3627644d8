/*
 * Options of sanitizers in fuzz targets: a huge allocation fails, as it does for users, and the
 * message about it is part of the test.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=1024";
}
