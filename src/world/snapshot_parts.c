// What can be set about bodies, shapes, joints, forces and materials, and their state, number by
// number.

#include "dynamics/collider_shapes.h"
#include "dynamics/loads.h"
#include "world/snapshot.h"

static void transferMass(tpArchive* archive, tpMassProperties* mass) {
    tpArchive_Double(archive, &mass->mass);
    tpArchive_Vec3(archive, &mass->center);
    tpArchive_Vec3(archive, &mass->inertia.cx);
    tpArchive_Vec3(archive, &mass->inertia.cy);
    tpArchive_Vec3(archive, &mass->inertia.cz);
}

static void transferBodies(tpSystem* system, tpArchive* archive) {
    for (int i = 0; i < system->bodyCount; ++i) {
        tpBody* body = &system->bodies.data[i];
        tpMassProperties given = body->form->given;
        tpArchive_Bool(archive, &body->hasGivenMass);
        transferMass(archive, &given);
        tpArchive_Double(archive, &body->linearDamping);
        tpArchive_Double(archive, &body->angularDamping);
        tpArchive_Double(archive, &body->gravityScale);
        tpArchive_Unsigned(archive, &body->locked);
        tpArchive_Bool(archive, &body->hasTarget);
        tpPose target;
        memset(&target, 0, sizeof(target));
        target = body->target != NULL ? *body->target : target;
        tpArchive_Bytes(archive, &target, sizeof(tpPose));
        if (body->target != NULL) {
            *body->target = target;
        }
        tpArchive_Bool(archive, &body->isDisturbed);
        tpArchive_Bool(archive, &body->isTired);
        bool isOther = archive->mode == tp_archiveReads && !archive->reader.failed &&
                       memcmp(&given, &body->form->given, sizeof(given)) != 0;
        if (isOther) {
            archive->reader.failed = !tpSystem_SetMass(system, i, &given);
        }
        system->mayDamp =
            system->mayDamp || body->linearDamping > 0.0 || body->angularDamping > 0.0;
    }
    tpArchive_Bool(archive, &system->hasDisturbed);
    tpArchive_Bytes(archive, system->poses.data, sizeof(tpPose) * (size_t)system->bodyCount);
    for (int i = 0; i < system->bodyCount; ++i) {
        tpArchive_Vec3(archive, &system->velocities.data[i].linear);
        tpArchive_Vec3(archive, &system->velocities.data[i].angular);
    }
}

static void transferShapes(tpSystem* system, tpArchive* archive) {
    for (int i = 0; i < system->shapes.count; ++i) {
        tpShape* shape = &system->shapes.data[i];
        int material = shape->material;
        uint32_t group = shape->group, mask = shape->mask;
        tpArchive_Int(archive, &material);
        tpArchive_Double(archive, &shape->density);
        tpArchive_Unsigned(archive, &group);
        tpArchive_Unsigned(archive, &mask);
        archive->reader.failed =
            archive->reader.failed || material < 0 || material >= system->materials.count;
        if (archive->mode == tp_archiveReads && !archive->reader.failed) {
            shape->material = material;
            if (group != shape->group || mask != shape->mask) {
                shape->group = group;
                shape->mask = mask;
                tpSystem_PutShape(system, i); // the collider keeps both
            }
        }
    }
}

static void transferFriction(tpArchive* archive, tpFriction* friction) {
    tpArchive_Double(archive, &friction->staticCoefficient);
    tpArchive_Double(archive, &friction->dynamicCoefficient);
    tpArchive_Double(archive, &friction->torsionalArm);
    tpArchive_Double(archive, &friction->rollingArm);
    tpArchive_Double(archive, &friction->impactReduction);
    tpArchive_Doubles(archive, friction->ellipse, 2);
    tpArchive_Vec3(archive, &friction->direction);
}

static void transferCompliance(tpArchive* archive, tpCompliance* contact) {
    tpArchive_Double(archive, &contact->compliance);
    tpArchive_Double(archive, &contact->damping);
}

static void transferMaterials(tpSystem* system, tpArchive* archive) {
    for (int i = 0; i < system->materials.count; ++i) {
        transferFriction(archive, &system->materials.data[i].friction);
        tpArchive_Double(archive, &system->materials.data[i].restitution);
        transferCompliance(archive, &system->materials.data[i].contact);
    }
    int count = system->pairs.count;
    tpArchive_Int(archive, &count);
    if (archive->mode == tp_archiveReads) {
        if (!tpSavedReader_Has(&archive->reader, count, 1) ||
            !TP_RESERVE(&system->allocator, system->pairs, count)) {
            archive->isOutOfMemory = !archive->reader.failed;
            archive->reader.failed = true;
            return;
        }
        system->pairs.count = count;
    }
    for (int i = 0; i < count; ++i) {
        tpPairDef* pair = &system->pairs.data[i];
        for (int k = 0; k < 2; ++k) {
            int material = pair->materials[k];
            tpArchive_Int(archive, &material);
            bool isThere = material >= 0 && material < system->materials.count;
            archive->reader.failed = archive->reader.failed || !isThere;
            pair->materials[k] = isThere ? material : 0;
        }
        tpArchive_Bool(archive, &pair->hasFriction);
        tpArchive_Bool(archive, &pair->hasRestitution);
        transferFriction(archive, &pair->friction);
        tpArchive_Double(archive, &pair->restitution);
        tpArchive_Bool(archive, &pair->hasContact);
        transferCompliance(archive, &pair->contact);
    }
}

static void transferSpring(tpArchive* archive, tpSpring* spring) {
    tpArchive_Double(archive, &spring->stiffness);
    tpArchive_Double(archive, &spring->damping);
    tpArchive_Double(archive, &spring->rest);
}

static void transferServo(tpArchive* archive, tpServo* servo) {
    tpArchive_Double(archive, &servo->target);
    tpArchive_Double(archive, &servo->speed);
    tpArchive_Double(archive, &servo->stiffness);
    tpArchive_Double(archive, &servo->damping);
    tpArchive_Double(archive, &servo->effort);
}

static void transferCouplings(tpSystem* system, tpArchive* archive) {
    for (int i = 0; i < system->couplings.count; ++i) {
        tpCoupling* coupling = &system->couplings.data[i];
        tpArchive_Bool(archive, &coupling->def.hasValue);
        tpArchive_Double(archive, &coupling->def.value);
        tpArchive_Bool(archive, &coupling->def.hasLimits);
        tpArchive_Doubles(archive, coupling->def.limits, 2);
        tpArchive_Bool(archive, &coupling->def.hasSpring);
        transferSpring(archive, &coupling->def.spring);
        tpArchive_Bool(archive, &coupling->def.hasServo);
        transferServo(archive, &coupling->def.servo);
        tpArchive_Double(archive, &coupling->effort);
        tpArchive_Double(archive, &coupling->limitEffort);
        tpArchive_Double(archive, &coupling->servoMemory.last);
        tpArchive_Double(archive, &coupling->servoMemory.steady);
    }
}

static void transferLaws(tpArchive* archive, tpCoordinateDef* def) {
    tpArchive_Double(archive, &def->zero);
    tpArchive_Bool(archive, &def->hasLimits);
    tpArchive_Doubles(archive, def->limits, 2);
    tpArchive_Bool(archive, &def->hasSpring);
    transferSpring(archive, &def->spring);
    tpArchive_Bool(archive, &def->hasMotor);
    tpArchive_Double(archive, &def->motor.speed);
    tpArchive_Double(archive, &def->motor.effort);
    tpArchive_Bool(archive, &def->hasServo);
    transferServo(archive, &def->servo);
    tpArchive_Double(archive, &def->armature);
    tpArchive_Double(archive, &def->damping);
    tpArchive_Double(archive, &def->friction);
}

static void transferJoints(tpSystem* system, tpArchive* archive) {
    for (int i = 0; i < system->joints.count; ++i) {
        tpJoint* joint = &system->joints.data[i];
        tpArchive_Vec3(archive, &joint->anchorA);
        tpArchive_Vec3(archive, &joint->anchorB);
        tpArchive_Double(archive, &joint->startLength);
        tpArchive_Vec3(archive, &joint->force);
        tpArchive_Vec3(archive, &joint->torque);
        for (int k = 0; k < joint->coordinateCount; ++k) {
            tpCoordinate* coordinate = &joint->coordinates[k];
            transferLaws(archive, &coordinate->def);
            tpSystem_NoteLaws(system, &coordinate->def);
            tpArchive_Double(archive, &coordinate->displacement);
            tpArchive_Double(archive, &coordinate->applied);
            tpArchive_Double(archive, &coordinate->effort);
            tpArchive_Double(archive, &coordinate->limitEffort);
            tpArchive_Double(archive, &coordinate->servoMemory.last);
            tpArchive_Double(archive, &coordinate->servoMemory.steady);
            for (int axis = 0; axis < 3; ++axis) {
                tpArchive_Double(archive, &coordinate->rotorSpeed[axis]);
                tpArchive_Double(archive, &coordinate->endSpeed[axis]);
            }
        }
    }
    tpArchive_Bool(archive, &system->hasEfforts);
    system->anchorShifts += archive->mode == tp_archiveWrites ? 0u : 1u;
}

static void transferForces(tpSystem* system, tpArchive* archive) {
    for (int i = 0; i < system->forces.count; ++i) {
        tpForceDef* def = &system->forces.data[i].def;
        int frame = def->frame;
        tpArchive_Vec3(archive, &def->force);
        tpArchive_Vec3(archive, &def->torque);
        tpArchive_Bool(archive, &def->hasPoint);
        tpArchive_Vec3(archive, &def->point);
        tpArchive_Int(archive, &frame);
        tpArchive_Double(archive, &def->from);
        tpArchive_Double(archive, &def->to);
        def->frame = frame == tp_bodyFrame ? tp_bodyFrame : tp_worldFrame;
    }
    bool hasLoads = system->hasLoads;
    // A body that came after a force was applied has a load, too.
    if (archive->mode == tp_archiveWrites && hasLoads && !tpSystem_StartLoads(system)) {
        archive->isOutOfMemory = true;
        return;
    }
    tpArchive_Bool(archive, &hasLoads);
    if (archive->mode == tp_archiveReads) {
        tpSystem_ForgetLoads(system);
        if (hasLoads && !tpSystem_StartLoads(system)) {
            archive->isOutOfMemory = archive->reader.failed = true;
        }
    }
    for (int i = 0; hasLoads && !archive->reader.failed && i < system->loads.count; ++i) {
        tpLoad* load = &system->loads.data[i];
        tpArchive_Bool(archive, &load->isUsed);
        tpArchive_Vec3(archive, &load->force);
        tpArchive_Vec3(archive, &load->torque);
        tpArchive_Vec3(archive, &load->bodyForce);
        tpArchive_Vec3(archive, &load->bodyTorque);
        tpArchive_Vec3(archive, &load->lever.cx);
        tpArchive_Vec3(archive, &load->lever.cy);
        tpArchive_Vec3(archive, &load->lever.cz);
    }
}

// What the next step is compared with for its events.
static void transferWatch(tpWorld* world, tpArchive* archive) {
    tpWatch* watch = &world->watch;
    tpSystem* system = &world->system;
    int count = watch->before.count;
    tpArchive_Bool(archive, &watch->isOn);
    tpArchive_Double(archive, &watch->hitSpeed);
    tpArchive_Int(archive, &count);
    if (archive->mode == tp_archiveReads) {
        bool isGood = !archive->reader.failed && isfinite(watch->hitSpeed) &&
                      watch->hitSpeed >= 0.0 && count >= 0 &&
                      (size_t)count <= archive->reader.left / (2 * sizeof(int));
        bool hasRoom = isGood && TP_RESERVE(archive->allocator, watch->before, count);
        archive->isOutOfMemory = archive->isOutOfMemory || (isGood && !hasRoom);
        archive->reader.failed = archive->reader.failed || !hasRoom;
        watch->before.count = hasRoom ? count : 0;
        watch->isCurrent = true;
    }
    for (int i = 0; i < watch->before.count; ++i) {
        tpTouchingPair* pair = &watch->before.data[i];
        tpArchive_Int(archive, &pair->shapeA);
        tpArchive_Int(archive, &pair->shapeB);
        bool isGood = pair->shapeA >= 0 && pair->shapeA < system->shapes.count &&
                      pair->shapeB >= 0 && pair->shapeB < system->shapes.count;
        if (archive->mode == tp_archiveReads && (archive->reader.failed || !isGood)) {
            archive->reader.failed = true;
            watch->before.count = 0;
        }
    }
    for (int i = 0; i < world->sensors.count; ++i) {
        tpArchive_Bool(archive, &world->sensors.data[i].wasOn);
    }
    for (int i = 0; i < system->joints.count; ++i) {
        for (int k = 0; k < system->joints.data[i].coordinateCount; ++k) {
            tpArchive_Bool(archive, &system->joints.data[i].coordinates[k].wasAtLimit);
        }
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        tpArchive_Bool(archive, &system->bodies.data[i].wasAsleep);
    }
}

void tpWorld_Transfer(tpWorld* world, tpArchive* archive) {
    tpSystem* system = &world->system;
    tpArchive_Double(archive, &system->time);
    tpArchive_Double(archive, &system->timeError);
    tpArchive_Long(archive, &system->stepCount);
    tpArchive_Vec3(archive, &system->gravity);
    tpArchive_Double(archive, &system->energyPeak);
    tpArchive_Double(archive, &system->energyExcess);
    // Scales are measured once for a structure, in the state of that moment.
    bool hasScales = system->scalesStructure == system->structure;
    tpArchive_Bool(archive, &hasScales);
    tpArchive_Bytes(archive, &system->scales, sizeof(system->scales));
    if (archive->mode == tp_archiveReads) {
        system->scalesStructure = hasScales ? system->structure : 0;
    }
    tpArchive_Doubles(archive, world->options.values, tp_optionCount);
    transferMaterials(system, archive);
    transferShapes(system, archive);
    transferForces(system, archive);
    transferBodies(system, archive);
    transferJoints(system, archive);
    transferCouplings(system, archive);
    for (int i = 0; i < world->sensors.count; ++i) {
        tpSensor* sensor = &world->sensors.data[i];
        tpArchive_Doubles(archive, sensor->measured, 4);
        sensor->isRestored = archive->mode == tp_archiveReads || sensor->isRestored;
    }
    tpArchive_Double(archive, &world->lastStep);
    transferWatch(world, archive);
}
