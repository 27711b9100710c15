#define _GNU_SOURCE
#include "fuse_door.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

int fuse_door_device(const char *path, dev_t *device) {
    struct statx attributes;
    if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, 0, &attributes) != 0) return -1;
    *device = makedev(attributes.stx_dev_major, attributes.stx_dev_minor);
    return 0;
}

static volatile sig_atomic_t signal_count;

static void count_signal(int number) {
    (void)number;
    signal_count++;
}

void fuse_door_count_signals(void) {
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < 3; i++) sigaction(numbers[i], &action, NULL);
}

int fuse_door_signal_count(void) { return signal_count; }
