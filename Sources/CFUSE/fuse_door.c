#include "fuse_door.h"
