#include "sqlite_door.h"
