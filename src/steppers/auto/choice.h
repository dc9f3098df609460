// Which method carries a group: the first one by what the group is, later ones by a race of those
// that can carry it. README.md has the rules.

#ifndef TIPPE_SRC_STEPPERS_AUTO_CHOICE_H
#define TIPPE_SRC_STEPPERS_AUTO_CHOICE_H

#include "steppers/auto/user_step.h"

// Whether there are methods to compare for the group: it has contacts, and is not very large.
bool tpChoice_CanCompare(const tpUserStep* frame, int group);

// Gives a carrier that is new the method that groups of this kind start with. False if memory ran
// out.
bool tpChoice_Begin(tpUserStep* frame, int group, tpCarrier* carrier);

// Whether methods are to be compared before the frame.
bool tpChoice_IsDue(const tpUserStep* frame, int group, const tpCarrier* carrier);

// Compares all methods that can carry the group. False if memory ran out.
bool tpChoice_Compare(tpUserStep* frame, int group, tpCarrier* carrier);

// More bodies are a huge crowd. (Of 216 balls that keep their energy small-steps lost 5 percent.)
enum { tp_hugeCrowd = 500 };

// Whether the group is a huge crowd that its method has left beyond the limits of the certificate
// for some frames in a row, and the method for crowds can carry it. Then that one does, from now
// on. False if memory ran out.
bool tpChoice_IsLeft(const tpUserStep* frame, int group, const tpCarrier* carrier);

// Whether a huge crowd was carried by the method for crowds in the last step. The memory of that
// method is for all bodies at once: all of them stay one group, though some fly. (1,000 cubes in a
// funnel went to and fro between it and a method that takes a second per step.)
bool tpChoice_StaysOne(const tpUserStep* frame);
bool tpChoice_Leave(tpUserStep* frame, tpCarrier* carrier);

// Books the work of a frame.
void tpChoice_Book(tpCarrier* carrier, double work);

// The work after which a frame is given up, to compare methods; infinite: never.
double tpChoice_WorkLimit(const tpUserStep* frame, int group, const tpCarrier* carrier);

#endif
