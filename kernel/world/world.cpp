#include "world/clock.h"
