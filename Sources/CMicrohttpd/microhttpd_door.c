#include "microhttpd_door.h"
