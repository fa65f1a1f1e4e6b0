#define JITWISE_MATH_VARIANT avx2
#include "variant_body.h"
