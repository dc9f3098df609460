// A stride taken by one step, by two and by four, and what the three ends tell together.
//
// The steps are of a symmetric method of second order: errors of the ends are powers 3, 5, 7 .. of
// the length. Two levels give the fourth order, three the sixth, and the difference of these is
// the error of the fourth. Steps of a flow are of fourth order: two levels give the fifth, three
// the sixth.

#ifndef TIPPE_SRC_STEPPERS_AUTO_STRIDE_LEVELS_H
#define TIPPE_SRC_STEPPERS_AUTO_STRIDE_LEVELS_H

#include "steppers/auto/flow.h"

// Places of the steps in the list: the whole, two halves, four quarters.
enum { tp_strideWhole = 0, tp_strideHalf = 1, tp_strideQuarter = 3, tp_strideSteps = 7 };

typedef struct tpStrideLevels {
    bool isFlow; // steps are those of a flow, of fourth order
    tpFlow flow;
    tpTaken taken[tp_strideSteps];
    tpTaken early[2]; // of a flow: of the first halves of the two halves, or of the single step
    bool isSingle;    // the whole step alone was enough, as its stages tell
    bool isShort;     // two levels were enough: there are no quarters
    bool isLate;      // the whole step was too long for its order: the end follows from the others
    bool isHopeless;  // two levels differ by so much that there are no quarters either
    tpKept before;    // the start
    tpKept whole, half, halves, quarters2; // ends, but that of four quarters; middles of two and
                                           // four
    tpKept odd[2];                         // after one quarter, and after three
    double stepError; // of one step of `stepLength` seconds of a flow, m; 0: nobody knows
    double stepLength;
    double error;        // in parts of the allowed one
    double middleError;  // of the middle, which is not handed on, in parts of that of a moment
    double betweenError; // of the motion between the nodes, likewise
    double quarterWay;   // what places after quarters are off by, at most, m
    double plainError;   // of two steps, without extrapolation, likewise
    double part;         // of the difference that counts as error
    bool isSmooth; // steps are whole, within limits, and the same features touch, push and slide
    bool isMoment; // others did
    double momentPart; // of the stride, after which something happens; -1: nobody knows
    double aheadPart;  // of the stride, or more, after which bodies may meet something that was
                       // near
                       // in it; -1: nothing was
    double work;
    uint64_t pushing;    // which shapes have pushed each other, and how
    uint64_t jointModes; // which way joints with friction go
} tpStrideLevels;

// The steps that lead to the end are those before this place, from half of it on.
static inline int tpStrideLevels_End(const tpStrideLevels* levels) {
    return levels->isSingle ? tp_strideHalf : levels->isShort ? tp_strideQuarter : tp_strideSteps;
}

// How a stride is taken: by the flow of its group if it has one, and whether somebody sees bodies
// between its ends.
typedef struct tpStrideWay {
    bool mayFlow, isSeen;
} tpStrideWay;

// Takes a stride of so many seconds from the begin of the run; the system is at the end of the last
// level then, if it is smooth. False if memory ran out.
bool tpStrideLevels_Take(tpStrideLevels* levels, tpGroupRun* run, double length, tpStrideWay way);

// Takes the next level after all of a stride of so many seconds that one or two were enough for:
// what is between the nodes asks for it. Whether it is smooth; the system is at its end then.
bool tpStrideLevels_Lengthen(tpStrideLevels* levels, tpGroupRun* run, double length);

// What a quarter of the stride has carried and done. False if memory ran out.
bool tpStrideLevels_Quarter(const tpStrideLevels* levels, tpSystem* system, int quarter,
                            tpTaken* taken);

// Of one body: what the stride is off by at the end, m, and m/s.
void tpStrideLevels_BodyError(const tpStrideLevels* levels, const tpGroupRun* run, int body,
                              double* position, double* speed);

// Compares the state that the system is in with that after one quarter (0) or three (1), if these
// are known: what the motion between the nodes is off by.
void tpStrideLevels_Compare(tpStrideLevels* levels, const tpGroupRun* run, int which);

// The parts of one, two and four steps that lead to that end; they sum up to 1. Returns how many
// steps of the levels there are.
int tpStrideLevels_Parts(const tpStrideLevels* levels, double parts[3]);

// Puts the system to the end of sixth order, or to the middle, of fourth, or fifth by a flow.
void tpStrideLevels_PutEnd(const tpStrideLevels* levels, tpGroupRun* run);
void tpStrideLevels_PutMiddle(const tpStrideLevels* levels, tpGroupRun* run, bool isSeen);

// In parts of this stride's length: how long the next one should be.
double tpStrideLevels_Growth(const tpStrideLevels* levels);

#endif
