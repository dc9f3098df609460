// Order of contacts.

#ifndef TIPPE_SRC_COLLISION_SORT_CONTACTS_H
#define TIPPE_SRC_COLLISION_SORT_CONTACTS_H

#include "tippe/collision.h"

// Ascending features, in place.
void tpSortContacts(tpContactPoint* points, int count);

#endif
