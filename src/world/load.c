/*
 * load.c: opening transports, which are shared objects: in the directory of the executable (a build
 * directory), or in the library directory of the installation.
 */
#include "base/system.h"
#include "world/transport.h"
#include "world/world.h"

#include <dlfcn.h>
#include <unistd.h>

/* The directory of the executable, with a trailing slash; empty when it is unknown. */
static void own_directory(char *out, size_t size)
{
    char *slash = system_program_path(out, size) ? strrchr(out, '/') : NULL;
    if (slash)
        slash[1] = '\0';
    else
        *out = '\0';
}

/* Never closed: the object depends on libraries that cannot be unloaded. */
static bool load(const char *path, struct transport *out, struct buf *why)
{
    void *object = dlopen(
        path, RTLD_NOW | RTLD_GLOBAL); /* plug-ins of these libraries resolve their symbols */
    void *symbol = object ? dlsym(object, TRANSPORT_OPEN_NAME) : NULL;
    transport_open_fn *open;
    if (!symbol) {
        buf_puts(why, dlerror());
        return false;
    }
    memcpy(&open, &symbol, sizeof open);
    const char *problem = open(out);
    if (problem)
        buf_puts(why, problem);
    return !problem;
}

bool transport_load(const char *name, struct transport *out, struct buf *why)
{
    char own[4096];
    own_directory(own, sizeof own);
    const char *const directories[] = {own, TRANSPORT_DIRECTORY "/"};
    for (size_t k = 0; k < COUNT_OF(directories); k++) {
        struct buf path = {0};
        buf_printf(&path, "%shlo-%s.so", directories[k], name);
        bool found = *directories[k] && access(path.data, F_OK) == 0;
        bool ok = found && load(path.data, out, why);
        buf_free(&path);
        if (found)
            return ok;
    }
    buf_printf(why, "cannot find hlo-%s.so in %s or " TRANSPORT_DIRECTORY, name, own);
    return false;
}
