/* Types for copying elements of a given width at any address. A complex number, or a row of several numbers,
   is aligned only like one number. Access as `int64_t` would then be undefined behavior, which compilers
   exploit. These types make it defined. */

#ifndef TS_UNALIGNED_TYPES_H
#define TS_UNALIGNED_TYPES_H

#include <stdint.h>

typedef int16_t two_bytes __attribute__((aligned(1), may_alias));
typedef int32_t four_bytes __attribute__((aligned(1), may_alias));
typedef int64_t eight_bytes __attribute__((aligned(1), may_alias));

#endif
