// Contacts at both ends of a step, each looked for once.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_STEP_CONTACTS_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_STEP_CONTACTS_H

#include "steppers/bender_schmitt/step.h"

// Contacts at the start, within the margins of the step. In the arena. False if memory ran out.
bool tpStepContacts_Start(tpBenderStep* step, tpContact** contacts, int* count);

// Contacts where the step has led, kept for the next one. False if memory ran out.
bool tpStepContacts_End(tpBenderStep* step, tpContact** contacts, int* count);

#endif
