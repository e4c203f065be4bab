#pragma once
#include <dlfcn.h>
#include <zbar.h>

/* The library brings X11, video and D-Bus with it, and only `pair` reads a picture: it is loaded when
   one is read, so that the daemon neither waits for all that at its start nor keeps it in memory. */
#define CZBAR_EACH(USE)                                                                               \
    USE(image_scanner_create)                                                                         \
    USE(image_scanner_destroy)                                                                        \
    USE(image_scanner_set_config)                                                                     \
    USE(image_create)                                                                                 \
    USE(image_destroy)                                                                                \
    USE(image_set_format)                                                                             \
    USE(image_set_size)                                                                               \
    USE(image_set_data)                                                                               \
    USE(scan_image)                                                                                   \
    USE(image_first_symbol)                                                                           \
    USE(symbol_get_data)                                                                              \
    USE(symbol_next)

struct czbar {
#define CZBAR_FIELD(name) __typeof__(&zbar_##name) name;
    CZBAR_EACH(CZBAR_FIELD)
#undef CZBAR_FIELD
};

/* Finds the library's functions. 0 when it is not installed, and `library` is then not to be used. */
static inline int czbar_load(struct czbar *library) {
    void *file = dlopen("libzbar.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!file) return 0;
#define CZBAR_FIND(name)                                                                              \
    void *name = dlsym(file, "zbar_" #name);                                                          \
    if (!name) return 0;                                                                              \
    library->name = (__typeof__(&zbar_##name))name;
    CZBAR_EACH(CZBAR_FIND)
#undef CZBAR_FIND
    return 1;
}
