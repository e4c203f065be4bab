#pragma once
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* stdout and stderr are global variables in C, which strict concurrency refuses. */
static inline void clinux_line_buffer_stdout(void) { setvbuf(stdout, 0, _IOLBF, 0); }
/* One piece of text in one go: what other threads print comes before or after it. */
static inline void clinux_write_stdout(const char *text, size_t length) {
    flockfile(stdout);
    fwrite(text, 1, length, stdout);
    fflush(stdout);
    funlockfile(stdout);
}
/* A child gets nothing from `first` on. The declaration is hidden without _GNU_SOURCE. */
static inline int clinux_close_from(posix_spawn_file_actions_t *actions, int first) {
    extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
/* So is the environment. */
static inline char **clinux_environment(void) {
    extern char **environ;
    return environ;
}
/* glibc gives each thread a heap of its own, up to eight a core, and what is freed in one helps no
   other. Our threads allocate little and briefly: two heaps do, and a site more costs that much less. */
static inline void clinux_keep_heaps_few(void) { mallopt(M_ARENA_MAX, 2); }
/* What was freed stays with the process until it is given back. */
static inline void clinux_give_memory_back(void) { malloc_trim(0); }
