// Figures that only some steppers report, in one table: the same idea has the same name everywhere.

#ifndef TIPPE_SRC_DYNAMICS_FIGURES_H
#define TIPPE_SRC_DYNAMICS_FIGURES_H

#include "tippe/world.h"

// Places in tpStepReport.figures. New ones come at the end: programs may know the places of the
// others.
typedef enum tpFigureIndex {
    tp_checkFigure,
    tp_collisionFigure,
    tp_microcollisionFigure,
    tp_heapOperationFigure,
    tp_handedOverFigure,
    tp_budgetEndFigure,
    tp_switchFigure,
    tp_rejectedFigure,
    tp_figureCount
} tpFigureIndex;

extern const tpFigureInfo tpFigureTable[tp_figureCount];

#endif
