// Contacts that are followed instead of looked for again.
//
// The corrections of a drift lead to ends that differ by less and less, and each of them asks how
// the contacts are there. Where bodies have gone only a little farther than they were when contacts
// were last looked for, the points of a contact are taken to move with their bodies: its gap is
// then wrong by second order in the way alone.

#ifndef TIPPE_SRC_DYNAMICS_FOLLOWED_CONTACTS_H
#define TIPPE_SRC_DYNAMICS_FOLLOWED_CONTACTS_H

#include "dynamics/system.h"

typedef struct tpFollowedContacts {
    const tpContact* names; // the contacts that are followed, ordered by key
    int count;
    tpContact* contacts; // as they were when last looked for
    bool* isFound;       // whether they were there
    tpPose* poses;       // where the bodies were then
} tpFollowedContacts;

// Follows these contacts, which are those at the given poses. False if memory ran out.
bool tpFollowedContacts_Begin(tpFollowedContacts* followed, tpSystem* system,
                              const tpContact* contacts, int count, const tpPose* poses);

// Looks for them within the margins where the bodies are now. False if memory ran out.
bool tpFollowedContacts_Renew(tpFollowedContacts* followed, tpSystem* system,
                              const double* margins);

// No point of its two bodies has gone farther since contact i was looked for, m: the sum of both.
double tpFollowedContacts_Way(const tpFollowedContacts* followed, const tpSystem* system, int i);

// Contact i where the bodies are now.
tpContact tpFollowedContacts_Get(const tpFollowedContacts* followed, const tpSystem* system, int i);

#endif
