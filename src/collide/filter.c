// Who may touch whom: groups first, then categories and masks.
#include "knuckle/collide.h"

knFilter knFilter_Default(void) {
	return (knFilter){ .category = 1, .mask = UINT64_MAX, .group = 0 };
}

bool knFilter_Allows(knFilter a, knFilter b) {
	if (a.group != 0 && a.group == b.group) {
		return a.group > 0;
	}
	return (a.category & b.mask) != 0 && (b.category & a.mask) != 0;
}
