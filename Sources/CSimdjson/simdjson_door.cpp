#include "simdjson_door.h"
