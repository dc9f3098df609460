// Few contacts: those of mechanisms, and of what they touch, solved exactly in each substep.
// README.md, "Few contacts".

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_FEW_CONTACTS_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_FEW_CONTACTS_H

#include "complementarity/friction_states.h"
#include "steppers/small_steps/articulation.h"

// One of the two bodies of a contact.
typedef struct tpContactEnd {
    int32_t number;                      // of the step
    bool isMoved;                        // impulses move it
    bool isStill;                        // nothing does
    tpArticulation* owner;               // its mechanism; NULL: none
    int32_t node;                        // there
    int32_t length;                      // of its traces
    int32_t answerLength;                // of its answers
    double jacobian[tp_traceWidth][6];   // of its rows; not known if it is still
    double components[6][tp_traceWidth]; // the same, transposed
    // Of the impulses along its rows (sweeps/joint_tree.h). A mechanism that is no tree answers
    // with the velocities of all its nodes, and traces are the impulses themselves; so are those of
    // a body without joints.
    double (*traces)[tp_traceWidth];
    double (*answers)[tp_traceWidth];
} tpContactEnd;

// A point that may close in the step.
typedef struct tpFewContact {
    tpSoftRun* run;
    int32_t lane, point;
    int32_t row, rows;
    tpContactEnd ends[2]; // A and B
    double startGap;      // m
    double gap;           // where the substep begins, m; as precise as the pack's
    double bounce;        // velocity of parting, negative, m/s; 0: none
    double own[3];        // diagonal of W from the bodies' own masses: nn tt oo, 1/kg
    double bias;          // of the normal row in the problem at work, m/s
    double give;          // of that row in it, per impulse beyond the first, 1/kg; 0: it is rigid
    double ease;          // `give` of a contact that is pushed out
    double rigid;         // W of the row without it
    double total[tp_traceWidth];
} tpFewContact;

typedef struct tpFewLane {
    int32_t run, lane;
} tpFewLane;

// Mechanisms, bodies that they touch, and all contacts of these.
typedef struct tpFewContacts {
    tpFewLane* lanes;
    int laneCount;
    tpArticulation** owners;
    int ownerCount;
    tpFewContact* contacts;
    int contactCount, rowCount;
    double (*traceRoom)[tp_traceWidth];
    size_t traceUsed;
    bool pushesOut;  // in this substep: some overlap is being taken back
    bool isBearable; // in this substep: all overlaps are well within the certificate
    bool hasGivenUp; // in this step: one such push out has met no end
    bool isWary;     // in this step: impulses have been out of proportion
    bool isSoft;     // in the problem at work: some contact gives
    bool hasTorsion; // some contact has
    bool isMet;      // the last solve has met the law, as closely as it had to
    bool isCalm;     // no mechanism turns far: errors of substeps would add up
    bool isSlow;     // all its mechanisms are: nothing changes velocities after the substep
    bool isBuilt;    // W is that of the factors of now
    int stamp;       // of these factors
    // What contacts do, with factors that stay as long as W does. Its W, velocities and impulses
    // are the following ones.
    tpFrictionStates states;
    double* W;      // dense, row by row
    double* q;      // velocities without impulses, with the biases
    double* r;      // impulses of the substep on A
    double* u;      // velocities with them, and the biases
    double* solved; // r of the problem at work
    double* first;  // r where the solve at work began
    double* swept;  // where sweeps have come to
    double* change; // scratch, one number per row, and three that are zero
    double* mu;     // of each contact
    int* dimensions;
    unsigned char* kinds;
} tpFewContacts;

// Which mechanisms have few contacts, and room for these. False if memory ran out.
bool tpFewContacts_Place(tpSmallStep* step);

// Takes the contacts out of the sweeps, which have been prepared, with the impulses they start
// with.
void tpFewContacts_Open(tpSmallStep* step, int block);

// Gaps where a substep begins.
void tpFewContacts_Begin(const tpSmallStep* step, int block);

// Solves for the impulses with which bodies move, if mechanisms have been solved with those of the
// substep before.
void tpFewContacts_Move(const tpSmallStep* step, int block);

// The substep is over: velocities of overlaps that were taken back go, and what has collided gets
// its velocity of parting.
void tpFewContacts_Settle(const tpSmallStep* step, int block, bool isLast);

// The end of the step, after positions have been corrected: what that changed of velocities is
// taken back, and the contacts return to their packs.
void tpFewContacts_Close(const tpSmallStep* step, int block);

// Mechanisms start with the impulses of their contacts.
void tpFewContacts_Start(const tpFewContacts* few);

// The contacts return to their packs, for the certificate and for the next step.
void tpFewContacts_Return(const tpSmallStep* step, const tpFewContacts* few);

// W for the factors of now, if it is not that already (few_contacts_response.c).
void tpFewContacts_Build(const tpSmallStep* step, tpFewContacts* few);
bool tpFewContacts_IsBuilt(const tpFewContacts* few);

// Kinetic energy of the mechanisms, and of other bodies without their spin, J; and what contacts
// that give may add to it at most by their biases, each alone.
double tpFewContacts_Energy(const tpSmallStep* step, const tpFewContacts* few);
double tpFewContacts_BiasEnergy(const tpFewContacts* few);

// M^-1 p of a body without joints.
void tpFreeBody_Answer(const tpSweepBody* mass, const double* p, double* v);

// `solved`, from r and u, with which it is. The last solve of a step is worth more work. False if
// the law is not met.
bool tpFewContacts_Solve(tpFewContacts* few, double allowed, bool isLast, tpArena* arena);

// Scratch of one solve for at most these rows, of which so many may close.
size_t tpFewContacts_ScratchSize(int rows, int nearRows);

#endif
