#include "crypto_door.h"
