#pragma once
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* stdout and stderr are global variables in C, which strict concurrency refuses. */
static inline void clinux_line_buffer_stdout(void) { setvbuf(stdout, 0, _IOLBF, 0); }
