#pragma once
#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
