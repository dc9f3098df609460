// Contacts of many boxes by Bullet: its dynamic tree and its default collision algorithms.

#include "opponents.h"

#include <btBulletCollisionCommon.h>

#include <memory>
#include <vector>

struct BulletBoxes {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{ &configuration };
    btDbvtBroadphase broadphase;
    btCollisionWorld world{ &dispatcher, &broadphase, &configuration };
    std::vector<std::unique_ptr<btBoxShape>> shapes;
    std::vector<std::unique_ptr<btCollisionObject>> objects;
};

static btTransform toBullet(const tpPose& p) {
    return btTransform(
        btQuaternion(btScalar(p.rotation.x), btScalar(p.rotation.y), btScalar(p.rotation.z),
                     btScalar(p.rotation.w)),
        btVector3(btScalar(p.position.x), btScalar(p.position.y), btScalar(p.position.z)));
}

BulletBoxes* bulletCreateBoxes(const tpVec3* sizes, const tpPose* poses, int count) {
    auto* boxes = new BulletBoxes;
    for (int i = 0; i < count; ++i) {
        btVector3 half(btScalar(0.5 * sizes[i].x), btScalar(0.5 * sizes[i].y),
                       btScalar(0.5 * sizes[i].z));
        boxes->shapes.push_back(std::make_unique<btBoxShape>(half));
        boxes->objects.push_back(std::make_unique<btCollisionObject>());
        boxes->objects.back()->setCollisionShape(boxes->shapes.back().get());
        boxes->objects.back()->setWorldTransform(toBullet(poses[i]));
        boxes->world.addCollisionObject(boxes->objects.back().get());
    }
    return boxes;
}

void bulletDestroyBoxes(BulletBoxes* boxes) {
    for (auto& object : boxes->objects) {
        boxes->world.removeCollisionObject(object.get());
    }
    delete boxes;
}

void bulletMove(BulletBoxes* boxes, const tpPose* poses) {
    for (size_t i = 0; i < boxes->objects.size(); ++i) {
        boxes->objects[i]->setWorldTransform(toBullet(poses[i]));
    }
}

int bulletUpdate(BulletBoxes* boxes, int* points) {
    boxes->world.performDiscreteCollisionDetection();
    int pairs = 0;
    *points = 0;
    for (int i = 0; i < boxes->dispatcher.getNumManifolds(); ++i) {
        int count = boxes->dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
        pairs += count > 0;
        *points += count;
    }
    return pairs;
}
