/* Elements that are moved as wholes, by their width: a complex number, or a row of some numbers, begins wherever one number may.  Reading
   `int64_t` there is undefined, and compilers may make use of that; of these types it is not. */

#ifndef TS_MOVED_H
#define TS_MOVED_H

#include <stdint.h>

typedef int16_t two_bytes __attribute__((aligned(1), may_alias));
typedef int32_t four_bytes __attribute__((aligned(1), may_alias));
typedef int64_t eight_bytes __attribute__((aligned(1), may_alias));

#endif
