// Crowds without a graphics card. A ball is a square towards the camera with a ball painted on it, two triangles instead
// of some dozens; other forms are lit at their corners while they move. Both are lit by the stage's lights, which lightCrowd
// hands over in the camera's axes.

import * as THREE from 'three';
import { Copies, copyShader } from './copies.js';

const lights = {
    sun: { value: new THREE.Vector3() }, fill: { value: new THREE.Vector3() }, up: { value: new THREE.Vector3() },
    sunColour: { value: new THREE.Color() }, fillColour: { value: new THREE.Color() },
    skyColour: { value: new THREE.Color() }, groundColour: { value: new THREE.Color() },
};

const lighting = `
    uniform vec3 sun, fill, up, sunColour, fillColour, skyColour, groundColour;
    vec3 lightOn(vec3 normal, float sunlight) {
        vec3 sky = mix(groundColour, skyColour, 0.5 * dot(normal, up) + 0.5);
        return 0.31831 * (sky + sunColour * (max(dot(normal, sun), 0.0) * sunlight) + fillColour * max(dot(normal, fill), 0.0));
    }`;

const ballVertex = `${copyShader}
    varying vec2 at;
    flat varying vec3 tint;
    flat varying mat3 turn; // from the camera's axes to the ball's
    flat varying vec4 place; // centre in the world, radius
    void main() {
        at = position.xy;
        tint = colourOfCopy();
        mat4 ball = matrixOfCopy();
        vec4 center = modelViewMatrix * ball[3];
        float radius = length(ball[0].xyz);
        place = vec4(ball[3].xyz, radius);
        turn = transpose(mat3(viewMatrix) * mat3(ball)) / radius;
        center.xy += position.xy * radius;
        gl_Position = projectionMatrix * center;
    }`;

const ballFragment = `${lighting}
    varying vec2 at;
    flat varying vec3 tint;
    flat varying mat3 turn;
    flat varying vec4 place;
    #include <common>
    #include <packing>
    #include <shadowmap_pars_fragment>
    #if defined(USE_SHADOWMAP) && NUM_DIR_LIGHT_SHADOWS > 0
        uniform mat4 directionalShadowMatrix[NUM_DIR_LIGHT_SHADOWS];
        float sunlight(vec3 normal) {
            vec3 outward = normal * mat3(viewMatrix);
            DirectionalLightShadow map = directionalLightShadows[0];
            vec4 coordinates = directionalShadowMatrix[0] * vec4(place.xyz + outward * (place.w + map.shadowNormalBias), 1.0);
            return getShadow(directionalShadowMap[0], map.shadowMapSize, map.shadowIntensity, map.shadowBias, map.shadowRadius, coordinates);
        }
    #else
        float sunlight(vec3 normal) {
            return 1.0;
        }
    #endif
    void main() {
        float square = dot(at, at);
        if (square > 1.0) {
            discard;
        }
        vec3 normal = vec3(at, sqrt(1.0 - square));
        vec3 own = turn * normal;
        vec3 colour = tint * mix(0.74, 1.0, smoothstep(-0.02, 0.02, own.x * own.y * own.z));
        gl_FragColor = vec4(colour * lightOn(normal, sunlight(normal)), 1.0);
        #include <colorspace_fragment>
    }`;

// What the sun sees of a ball is a disc, too.
const ballDepth = `
    varying vec2 at;
    #include <packing>
    void main() {
        if (dot(at, at) > 1.0) {
            discard;
        }
        gl_FragColor = packDepthToRGBA(gl_FragCoord.z);
    }`;

const cornerVertex = `${copyShader}${lighting}
    varying vec3 shade;
    void main() {
        vec4 x = columnOfCopy(0), y = columnOfCopy(1), z = columnOfCopy(2);
        mat3 form = mat3(x.xyz, y.xyz, z.xyz);
        vec3 outward = form * (normal / vec3(dot(x.xyz, x.xyz), dot(y.xyz, y.xyz), dot(z.xyz, z.xyz)));
        shade = vec3(x.w, y.w, z.w) * lightOn(normalize(mat3(viewMatrix) * outward), 1.0);
        gl_Position = projectionMatrix * viewMatrix * vec4(form * position + columnOfCopy(3).xyz, 1.0);
    }`;

const cornerFragment = `
    varying vec3 shade;
    void main() {
        gl_FragColor = vec4(shade, 1.0);
        #include <colorspace_fragment>
    }`;

export function lightCrowd(camera, { sun, fill, sky, up }) {
    const inCamera = (light, to) => to.copy(light.position).sub(light.target.position).normalize().transformDirection(camera.matrixWorldInverse);
    inCamera(sun, lights.sun.value);
    inCamera(fill, lights.fill.value);
    lights.up.value.copy(up).transformDirection(camera.matrixWorldInverse);
    lights.sunColour.value.copy(sun.color).multiplyScalar(sun.intensity);
    lights.fillColour.value.copy(fill.color).multiplyScalar(fill.intensity);
    lights.skyColour.value.copy(sky.color).multiplyScalar(sky.intensity);
    lights.groundColour.value.copy(sky.groundColor).multiplyScalar(sky.intensity);
}

export function makeBalls(count) {
    const uniforms = { ...THREE.UniformsUtils.clone(THREE.UniformsLib.lights), ...lights };
    const material = new THREE.ShaderMaterial({ vertexShader: ballVertex, fragmentShader: ballFragment, uniforms, lights: true });
    const depth = new THREE.ShaderMaterial({ vertexShader: ballVertex, fragmentShader: ballDepth });
    const balls = new Copies(new THREE.PlaneGeometry(2, 2), material, count, depth);
    const ball = new THREE.Sphere(), point = new THREE.Vector3(), matrix = new THREE.Matrix4();
    balls.mesh.raycast = (raycaster, hits) => {
        for (let i = 0; i < balls.count; ++i) {
            balls.getMatrix(i, matrix);
            ball.center.setFromMatrixPosition(matrix);
            ball.radius = matrix.getMaxScaleOnAxis();
            if (raycaster.ray.intersectSphere(ball, point)) {
                hits.push({ distance: raycaster.ray.origin.distanceTo(point), point: point.clone(), instanceId: i, object: balls.mesh });
            }
        }
    };
    return balls;
}

// For copies that are one long geometry.
export function makeCornerLit(copies) {
    return new THREE.ShaderMaterial({ vertexShader: cornerVertex, fragmentShader: cornerFragment, uniforms: { ...lights, copies: { value: copies.texture } } });
}
