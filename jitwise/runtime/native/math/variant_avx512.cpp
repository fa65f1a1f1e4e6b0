#define JITWISE_MATH_VARIANT avx512
#include "variant_body.h"
