#define JITWISE_MATH_VARIANT baseline
#include "variant_body.h"
