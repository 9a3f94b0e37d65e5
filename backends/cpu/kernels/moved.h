/* Types for copying elements of a given width without alignment: a complex number, or a row of several
   numbers, has only the alignment of one number. Accessing it as `int64_t` would be undefined behaviour,
   which compilers exploit; these types allow it. */

#ifndef TS_MOVED_H
#define TS_MOVED_H

#include <stdint.h>

typedef int16_t two_bytes __attribute__((aligned(1), may_alias));
typedef int32_t four_bytes __attribute__((aligned(1), may_alias));
typedef int64_t eight_bytes __attribute__((aligned(1), may_alias));

#endif
