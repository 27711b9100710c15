#include "curl_door.h"
