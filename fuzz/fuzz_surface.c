// OBJ and STL files of any bytes: read, or refused with a message; what is read has triangles of
// vertices that are there, and makes a mesh or says why not. The first byte chooses the format.

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"
#include "tippe/geometry.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 1) {
        return 0;
    }
    char path[64];
    snprintf(path, sizeof(path), "/tmp/tippe-fuzz-%ld%s", (long)getpid(),
             data[0] % 2 == 0 ? ".obj" : ".stl");
    FILE* file = fopen(path, "wb");
    if (file == NULL) {
        return 0;
    }
    fwrite(data + 1, 1, size - 1, file);
    fclose(file);
    tpAllocator allocator = tpDefaultAllocator();
    tpError error = { 0 };
    tpSurface surface;
    if (tpReadSurface(&allocator, path, &surface, &error) == tp_success) {
        for (int i = 0; i < surface.triangleCount; ++i) {
            for (int k = 0; k < 3; ++k) {
                int32_t v = surface.triangles[i][k];
                REQUIRE(v >= 0 && v < surface.vertexCount);
            }
        }
        tpGeometry mesh;
        if (tpMakeMesh(&allocator, surface.vertices, surface.vertexCount,
                       (const int32_t(*)[3])surface.triangles, surface.triangleCount,
                       tpIdentityPose(), &mesh, &error) == tp_success) {
            tpReleaseGeometry(&mesh);
        }
        tpReleaseSurface(&surface);
    } else {
        REQUIRE(error.message[0] != '\0');
    }
    remove(path);
    return 0;
}
