// What the keys of a part must be to each other; tpRecord.check of the vocabulary.

#ifndef TIPPE_SRC_SCENE_CHECKS_H
#define TIPPE_SRC_SCENE_CHECKS_H

#include "tippe/scene.h"

struct tpReader;

tpResult tpCheckRotation(struct tpReader* reader, void* part, const tpScenePlace* places);
tpResult tpCheckFriction(struct tpReader* reader, void* part, const tpScenePlace* places);
tpResult tpCheckShape(struct tpReader* reader, void* part, const tpScenePlace* places);
tpResult tpCheckBody(struct tpReader* reader, void* part, const tpScenePlace* places);
tpResult tpCheckAxis(struct tpReader* reader, void* part, const tpScenePlace* places);
tpResult tpCheckSensor(struct tpReader* reader, void* part, const tpScenePlace* places);
tpResult tpCheckCoupling(struct tpReader* reader, void* part, const tpScenePlace* places);
tpResult tpCheckJoint(struct tpReader* reader, void* part, const tpScenePlace* places);
tpResult tpCheckForce(struct tpReader* reader, void* part, const tpScenePlace* places);
tpResult tpCheckClosedForm(struct tpReader* reader, void* part, const tpScenePlace* places);

// That a run of so many seconds has a number of steps that can be counted, and one at least.
tpResult tpCheckTimes(double step, double until, tpError* error);
tpResult tpCheckSimulation(struct tpReader* reader, void* part, const tpScenePlace* places);

// What must hold in the scene as a whole: no motion out of the plane of a planar scene.
tpResult tpCheckPlanar(struct tpReader* reader);

#endif
