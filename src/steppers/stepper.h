// What a stepper is: an entry in a table. Nothing above this room knows which paper is running.

#ifndef TIPPE_SRC_STEPPERS_STEPPER_H
#define TIPPE_SRC_STEPPERS_STEPPER_H

#include "base/saved_reader.h"
#include "dynamics/energy_guard.h"
#include "dynamics/figures.h"
#include "dynamics/report.h"
#include "dynamics/system.h"
#include "steppers/options.h"

// Where the bodies were when a step began.
typedef struct tpStepStart {
    const tpPose* poses;
    const tpVelocity* velocities;
} tpStepStart;

typedef struct tpStepper {
    const char* name;             // as scenes and the command line spell it
    const char* summary;          // one line
    const tpOptionIndex* options; // that it uses; ends with tp_optionCount
    const tpFigureIndex* figures; // that it reports; ends with tp_figureCount; NULL: none
    unsigned lacks; // tpStepperGap: what it leaves out of a scene, whatever the options
    unsigned (*lacksWith)(const tpOptions* options); // and what with these options; NULL: nothing
    // It follows bodies along their way and needs no help with fast ones (pieces.h).
    bool seesCrossings;
    // But not now: bodies turn so far that this step needs pieces; NULL: never.
    bool (*needsPieces)(const void* state);
    // Its contacts give: shorter pieces let bodies deeper into each other.
    bool yields;
    // Its account of energy closes: what rises beyond the work done comes out of nothing.
    bool closesAccount;
    // Bytes of the system's arena that a step needs per body, about: a large world touches them
    // before its first step.
    int bodyScratch;
    // Memory for what it will keep of bodies and shapes, those from `begin` up to `end`: asked for
    // while a large world is made, so that its first step need not ask. NULL: it keeps little.
    void (*prepare)(tpSystem* system, void* state, int begin, int end);
    bool hasCarriers; // it leaves bodies to other methods: tpBody.carrier
    // An option that is an error here because another stepper has it: its name, NULL for none.
    const char* refusedOption;
    const char* refusedFor; // the name of that stepper

    // Memory that lives from step to step, NULL if it needs none. `create` returns false if
    // memory ran out. A stepper whose functions are NULL keeps nothing.
    bool (*create)(tpSystem* system, void** state);
    void (*destroy)(tpSystem* system, void* state);

    // Moves the system by h seconds and fills in the report: everything but time and energies
    // before and after, which the world does for all. Sets system->contacts.
    void (*step)(tpSystem* system, void* state, const tpOptions* options, double h,
                 tpStepReport* report);

    // Takes the next step if its motion is known already, joints closed: such a step tears none of
    // them, costs next to nothing, and is not taken again. Fills in the report, energies too, and
    // where the step began, for as long as the stepper is not asked again. False if the motion is
    // not known: nothing has moved. NULL: it never is.
    bool (*follow)(tpSystem* system, void* state, const tpOptions* options, double h,
                   tpStepReport* report, tpStepStart* start);

    // What it keeps of the lengths of parts that were right, for all bodies together; NULL:
    // nothing.
    tpEnergyBook* (*bookOf)(void* state);

    // Snapshots of the state: size in bytes, copy out, copy in (false if memory ran out, or the
    // reader has failed because the bytes are not what was saved).
    size_t (*savedSize)(const void* state);
    void (*save)(const void* state, void* memory);
    bool (*restore)(tpSystem* system, void* state, tpSavedReader* reader);
} tpStepper;

// NULL if this build has no such stepper.
const tpStepper* tpStepper_Get(tpStepperId id);

// What it leaves out of a scene with these options: bits of tpStepperGap.
unsigned tpStepper_Lacks(const tpStepper* stepper, const tpOptions* options);

#endif
