// Distances of convex hulls by FCL.

#include "opponents.h"

#include <fcl/narrowphase/collision_object.h>
#include <fcl/narrowphase/distance.h>

struct FclPair {
    std::shared_ptr<fcl::Convexd> hull;
    std::unique_ptr<fcl::CollisionObjectd> a, b;
};

FclPair* fclCreatePair(const tpVec3* vertices, int vertexCount, const int* faces, int faceCount,
                       int faceLength) {
    auto points = std::make_shared<std::vector<fcl::Vector3d>>();
    for (int i = 0; i < vertexCount; ++i) {
        points->emplace_back(vertices[i].x, vertices[i].y, vertices[i].z);
    }
    auto corners = std::make_shared<std::vector<int>>(faces, faces + faceLength);
    auto* pair = new FclPair;
    pair->hull = std::make_shared<fcl::Convexd>(points, faceCount, corners);
    pair->a = std::make_unique<fcl::CollisionObjectd>(pair->hull);
    pair->b = std::make_unique<fcl::CollisionObjectd>(pair->hull);
    return pair;
}

void fclDestroyPair(FclPair* pair) {
    delete pair;
}

static void place(fcl::CollisionObjectd* object, tpPose pose) {
    fcl::Transform3d transform = fcl::Transform3d::Identity();
    transform.translation() = fcl::Vector3d(pose.position.x, pose.position.y, pose.position.z);
    transform.linear() =
        Eigen::Quaterniond(pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z)
            .toRotationMatrix();
    object->setTransform(transform);
}

double fclDistance(FclPair* pair, int solver, tpPose poseA, tpPose poseB) {
    place(pair->a.get(), poseA);
    place(pair->b.get(), poseB);
    fcl::DistanceRequestd request(true);
    request.gjk_solver_type = solver == 0 ? fcl::GST_LIBCCD : fcl::GST_INDEP;
    fcl::DistanceResultd result;
    return fcl::distance(pair->a.get(), pair->b.get(), request, result);
}
