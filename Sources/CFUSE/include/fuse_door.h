#pragma once
#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

// The device number of the file system at `path`, without a request to it. 0, or -1 with errno.
int fuse_door_device(const char *path, dev_t *device);

// From now on SIGINT, SIGTERM and SIGHUP end nothing; they are counted.
void fuse_door_count_signals(void);
int fuse_door_signal_count(void);
