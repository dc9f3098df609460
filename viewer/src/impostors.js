// Crowds of balls without a graphics card: each is a square towards the camera with a ball painted on it, two triangles
// instead of some dozens. Lit by the stage's lights, which lightImpostors hands over in the camera's axes.

import * as THREE from 'three';

const lights = {
    sun: { value: new THREE.Vector3() }, fill: { value: new THREE.Vector3() }, up: { value: new THREE.Vector3() },
    sunColour: { value: new THREE.Color() }, fillColour: { value: new THREE.Color() },
    skyColour: { value: new THREE.Color() }, groundColour: { value: new THREE.Color() },
};

const vertexShader = `
    varying vec2 at;
    varying vec3 tint;
    varying mat3 turn; // from the camera's axes to the ball's
    void main() {
        at = position.xy;
        tint = instanceColor;
        vec4 center = modelViewMatrix * (instanceMatrix * vec4(0.0, 0.0, 0.0, 1.0));
        float radius = length(instanceMatrix[0].xyz);
        turn = transpose(mat3(viewMatrix) * mat3(instanceMatrix)) / radius;
        center.xy += position.xy * radius;
        gl_Position = projectionMatrix * center;
    }`;

const fragmentShader = `
    varying vec2 at;
    varying vec3 tint;
    varying mat3 turn;
    uniform vec3 sun, fill, up, sunColour, fillColour, skyColour, groundColour;
    #include <common>
    void main() {
        float square = dot(at, at);
        if (square > 1.0) {
            discard;
        }
        vec3 normal = vec3(at, sqrt(1.0 - square));
        vec3 own = turn * normal;
        float side = own.x * own.y * own.z;
        vec3 colour = tint * mix(0.74, 1.0, smoothstep(-0.02, 0.02, side));
        vec3 light = mix(groundColour, skyColour, 0.5 * dot(normal, up) + 0.5)
            + sunColour * max(dot(normal, sun), 0.0) + fillColour * max(dot(normal, fill), 0.0);
        gl_FragColor = vec4(colour * light * RECIPROCAL_PI, 1.0);
        #include <tonemapping_fragment>
        #include <colorspace_fragment>
    }`;

export function lightImpostors(camera, { sun, fill, sky, up }) {
    const inCamera = (light, to) => to.copy(light.position).sub(light.target.position).normalize().transformDirection(camera.matrixWorldInverse);
    inCamera(sun, lights.sun.value);
    inCamera(fill, lights.fill.value);
    lights.up.value.copy(up).transformDirection(camera.matrixWorldInverse);
    lights.sunColour.value.copy(sun.color).multiplyScalar(sun.intensity);
    lights.fillColour.value.copy(fill.color).multiplyScalar(fill.intensity);
    lights.skyColour.value.copy(sky.color).multiplyScalar(sky.intensity);
    lights.groundColour.value.copy(sky.groundColor).multiplyScalar(sky.intensity);
}

export function makeImpostors(count) {
    const square = new THREE.PlaneGeometry(2, 2);
    const mesh = new THREE.InstancedMesh(square, new THREE.ShaderMaterial({ vertexShader, fragmentShader, uniforms: lights }), count);
    const ball = new THREE.Sphere(), point = new THREE.Vector3();
    mesh.raycast = (raycaster, hits) => {
        const numbers = mesh.instanceMatrix.array;
        for (let i = 0; i < mesh.count; ++i) {
            ball.center.fromArray(numbers, 16 * i + 12);
            ball.radius = Math.hypot(numbers[16 * i], numbers[16 * i + 1], numbers[16 * i + 2]);
            if (raycaster.ray.intersectSphere(ball, point)) {
                hits.push({ distance: raycaster.ray.origin.distanceTo(point), point: point.clone(), instanceId: i, object: mesh });
            }
        }
    };
    return mesh;
}
