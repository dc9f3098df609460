// The stage: light, ground, camera, and the bodies on it. Draws only when something has changed.

import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { RoomEnvironment } from 'three/addons/environments/RoomEnvironment.js';
import { lightCrowd } from './crowd.js';
import { Director, sphereAround } from './director.js';
import { Emitter } from './dom.js';
import { isPlain } from './machine.js';
import { Quality } from './quality.js';
import { theme } from './theme.js';

// Lines of a grid that fade with distance, the same width at any.
const gridVertex = `
    varying vec2 at;
    varying vec3 place;
    void main() {
        at = position.xy;
        vec4 world = modelMatrix * vec4(position, 1.0);
        place = world.xyz;
        gl_Position = projectionMatrix * viewMatrix * world;
    }`;
const gridFragment = `
    varying vec2 at;
    varying vec3 place;
    uniform vec3 colour, middle;
    uniform float cell, reach, strength;
    uniform vec2 origin;
    float lines(float size) {
        vec2 place = (at + origin) / size;
        vec2 line = abs(fract(place - 0.5) - 0.5) / fwidth(place);
        float fade = clamp(1.0 - max(fwidth(place).x, fwidth(place).y) * 2.0, 0.0, 1.0);
        return fade * (1.0 - min(min(line.x, line.y), 1.0));
    }
    void main() {
        float line = max(0.45 * lines(cell), lines(cell * 5.0));
        float fade = 1.0 - smoothstep(0.25 * reach, reach, distance(place, middle));
        gl_FragColor = vec4(colour, line * fade * strength);
    }`;

const mostLookedFor = 12; // bodies
const room = 1.22; // distance of the camera, for one at which the box fills the stage

function niceStep(size) {
    const power = 10 ** Math.floor(Math.log10(size));
    return [1, 2, 5, 10].map(factor => factor * power).find(step => step >= size * 0.999) ?? power;
}

export class Stage extends Emitter {
    #dirty = true;
    #raycaster = new THREE.Raycaster();

    constructor(container, head, model) {
        super();
        this.container = container;
        this.head = head;
        this.model = model;
        const canvas = document.createElement('canvas');
        // Opaque: the browser need not blend it into the page, and three.js would not ask for that.
        const context = canvas.getContext('webgl2', { alpha: false, antialias: !isPlain, powerPreference: 'high-performance' });
        if (!context) {
            throw new Error('this browser has no WebGL 2');
        }
        this.renderer = new THREE.WebGLRenderer({ canvas, context });
        this.renderer.debug.checkShaderErrors = false; // asking makes the page wait for each of its shaders
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = isPlain ? THREE.PCFShadowMap : THREE.PCFSoftShadowMap;
        this.renderer.toneMapping = isPlain ? THREE.NoToneMapping : THREE.NeutralToneMapping;
        this.renderer.domElement.tabIndex = 0;
        this.renderer.domElement.setAttribute('aria-label', 'The bodies in motion');
        container.append(this.renderer.domElement);

        this.scene = new THREE.Scene();
        this.camera = new THREE.PerspectiveCamera(32, 1, 0.01, 1000);
        this.gravity = new THREE.Vector3(...head.gravity);
        this.up = this.gravity.lengthSq() > 0 ? this.gravity.clone().normalize().negate()
            : new THREE.Vector3(0, head.planar ? 1 : 0, head.planar ? 0 : 1);
        this.camera.up.copy(this.up);
        this.controls = new OrbitControls(this.camera, this.renderer.domElement);
        this.controls.enableDamping = true;
        this.controls.dampingFactor = 0.12;
        this.controls.addEventListener('change', () => this.invalidate());

        this.scene.add(model.group);
        this.followed = -1;
        this.selected = -1;
        this.outline = new THREE.Group();
        this.scene.add(this.outline);
        this.#light();
        this.quality = new Quality(model.isCrowded, (ratio, withShadows) => {
            this.renderer.setPixelRatio(ratio);
            this.sun.castShadow = withShadows;
            model.setFine(withShadows);
        }, () => this.invalidate());
        this.box = new THREE.Box3(new THREE.Vector3(-0.5, -0.5, -0.5), new THREE.Vector3(0.5, 0.5, 0.5)); // what is seen
        this.bounds = sphereAround(this.box); // sizes on the stage follow from it
        this.grids = [];
        this.showsGrid = true;
        this.director = new Director(this);
        theme.on('change', () => this.#paint());
        this.observer = new ResizeObserver(() => this.#resize());
        this.observer.observe(container);
        this.#watchPointer();
    }

    dispose() {
        this.observer.disconnect();
        this.controls.dispose();
        this.renderer.dispose();
        this.renderer.forceContextLoss();
    }

    invalidate() {
        this.#dirty = true;
    }

    #light() {
        if (!isPlain) {
            const generator = new THREE.PMREMGenerator(this.renderer);
            this.scene.environment = generator.fromScene(new RoomEnvironment(), 0.04).texture;
            generator.dispose();
        }
        this.sky = new THREE.HemisphereLight('#ffffff', '#b9b4aa', 0.6);
        this.sun = new THREE.DirectionalLight('#fff9f1', 2.4);
        this.sun.shadow.mapSize.setScalar(isPlain ? 1024 : 2048);
        this.sun.shadow.radius = 4;
        this.fill = new THREE.DirectionalLight('#e8eefc', 0.8); // from the other side, without shadows
        this.scene.add(this.sky, this.sun, this.sun.target, this.fill, this.fill.target);
    }

    // The box that is seen: light, ground and haze follow from it.
    setBounds(box) {
        this.box = box.clone();
        this.bounds = sphereAround(box);
        const { radius, center } = this.bounds;
        this.scene.fog ??= new THREE.Fog(0);
        this.scene.fog.near = radius * 14;
        this.scene.fog.far = radius * 46;
        this.controls.minDistance = radius * 0.05;
        this.controls.maxDistance = radius * 40;
        this.#aimSun();
        const isFar = this.laid && (this.laid.center.distanceTo(center) > (this.head.planar ? 1 : 3) * this.laid.radius || this.#groundIsSunk());
        if (!this.laid || isFar || radius > 1.7 * this.laid.radius || radius < 0.6 * this.laid.radius) {
            this.laid = this.bounds.clone();
            this.#layGround();
            this.#paint();
            this.emit('scale');
        }
    }

    // Sees another box, from the same direction.
    move(box) {
        const direction = this.camera.position.clone().sub(this.controls.target).normalize();
        this.setBounds(box);
        this.#see(direction);
    }

    // From so far away, in a direction, that the whole box is seen with some room around it.
    #see(direction) {
        const { center } = this.bounds;
        const right = new THREE.Vector3().crossVectors(this.up, direction).normalize();
        const above = new THREE.Vector3().crossVectors(direction, right);
        const tangent = Math.tan(THREE.MathUtils.degToRad(this.camera.fov / 2)), across = tangent * (this.camera.aspect || 1);
        const corner = new THREE.Vector3();
        let distance = 0.5 * this.bounds.radius;
        for (let i = 0; i < 8; ++i) {
            corner.set(i & 1 ? this.box.max.x : this.box.min.x, i & 2 ? this.box.max.y : this.box.min.y, i & 4 ? this.box.max.z : this.box.min.z).sub(center);
            const nearer = corner.dot(direction);
            distance = Math.max(distance, Math.abs(corner.dot(right)) / across + nearer, Math.abs(corner.dot(above)) / tangent + nearer);
        }
        this.controls.target.copy(center);
        this.camera.position.copy(center).addScaledVector(direction, distance * room);
        this.#setDepth();
        this.controls.update();
        this.invalidate();
    }

    #setDepth() {
        this.camera.near = this.bounds.radius * 0.01;
        this.camera.far = this.bounds.radius * 120;
        this.camera.updateProjectionMatrix();
    }

    #aimSun() {
        const { center, radius } = this.bounds;
        const side = this.#side();
        const front = this.#front();
        this.sun.target.position.copy(center);
        this.sun.position.copy(center).addScaledVector(this.up, radius * 4)
            .addScaledVector(side, -radius * 1.5).addScaledVector(front, -radius * 2.6);
        this.fill.target.position.copy(center);
        this.fill.position.copy(center).addScaledVector(this.up, radius * 0.8).addScaledVector(side, radius * 3).addScaledVector(front, -radius * 1.4);
        const shadow = this.sun.shadow.camera;
        shadow.left = shadow.bottom = -radius * 1.7;
        shadow.right = shadow.top = radius * 1.7;
        shadow.near = radius * 0.5;
        shadow.far = radius * 10;
        shadow.updateProjectionMatrix();
        this.sun.shadow.normalBias = radius * 0.004;
        this.sun.shadow.bias = -0.0004;
        this.sky.position.copy(this.up);
    }

    // A horizontal direction to the right of the first view.
    #side() {
        const front = this.#front();
        return new THREE.Vector3().crossVectors(front, this.up).normalize();
    }

    #front() {
        const axis = this.head.planar || Math.abs(this.up.z) < 0.5 ? new THREE.Vector3(0, 0, -1) : new THREE.Vector3(0, 1, 0);
        return axis.addScaledVector(this.up, -axis.dot(this.up)).normalize();
    }

    // Sees the box from the first direction.
    frame() {
        const front = this.#front(), side = this.#side();
        const direction = this.from ? this.from.clone() : this.head.planar
            ? front.clone().negate().addScaledVector(this.up, 0.26).addScaledVector(side, 0.2)
            : front.clone().negate().addScaledVector(this.up, 0.42).addScaledVector(side, 0.55);
        this.#see(direction.normalize());
    }

    #findPlanes() {
        const { center } = this.bounds;
        return this.model.planes.map(plane => {
            const normal = new THREE.Vector3(...plane.shape.normal);
            const turn = new THREE.Quaternion(plane.rotation[1], plane.rotation[2], plane.rotation[3], plane.rotation[0]);
            const point = normal.clone().multiplyScalar(plane.shape.offset).applyQuaternion(turn).add(new THREE.Vector3(...plane.position));
            const bodyTurn = this.model.rotationOf(plane.body);
            normal.applyQuaternion(turn).applyQuaternion(bodyTurn);
            point.applyQuaternion(bodyTurn).add(this.model.positionOf(plane.body));
            return { normal, middle: center.clone().addScaledVector(normal, normal.dot(point) - normal.dot(center)) };
        });
    }

    // Planes that things can lie on.
    floors() {
        return this.#findPlanes().filter(({ normal }) => normal.dot(this.up) > 0.3);
    }

    get #hasOwnGround() {
        return this.model.planes.length === 0 && this.model.fixedMeshes.length === 0;
    }

    #groundIsSunk() {
        return this.#hasOwnGround && this.#lowestOf(this.box) < this.groundHeight - 0.05 * this.bounds.radius;
    }

    // The planes of the scene, or where there is none a grid below everything.
    #layGround() {
        for (const mesh of this.grids) {
            this.scene.remove(mesh);
            mesh.geometry.dispose();
            mesh.material.dispose();
        }
        this.grids = [];
        const { center, radius } = this.bounds;
        const planes = this.#findPlanes();
        planes.forEach(plane => this.#layPlane(plane.middle, plane.normal, true, planes.filter(other => other !== plane)));
        if (this.#hasOwnGround) {
            this.groundHeight = this.#lowestOf(this.box) - radius * 0.02;
            this.#layPlane(center.clone().addScaledVector(this.up, this.groundHeight - center.dot(this.up)), this.up.clone(), false, []);
        }
    }

    #lowestOf(box) {
        const corner = new THREE.Vector3();
        let lowest = Infinity;
        for (let i = 0; i < 8; ++i) {
            corner.set(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z);
            lowest = Math.min(lowest, corner.dot(this.up));
        }
        return lowest;
    }

    // Planar scenes stand on a strip: nothing ever leaves their plane. It ends where another solid begins.
    #makeStrip(middle, normal, others, reach) {
        const along = new THREE.Vector3(normal.y, -normal.x, 0);
        let [from, to] = [-reach, reach];
        for (const other of others) {
            const rise = other.normal.dot(along), gap = other.normal.dot(other.middle) - other.normal.dot(middle);
            if (rise > 1e-9) {
                from = Math.max(from, gap / rise);
            } else if (rise < -1e-9) {
                to = Math.min(to, gap / rise);
            }
        }
        const depth = niceStep(this.bounds.radius / 8) * 6;
        const form = new THREE.PlaneGeometry(Math.max(to - from, 1e-9), depth).translate((from + to) / 2, 0, 0);
        const basis = new THREE.Matrix4().makeBasis(along, new THREE.Vector3(0, 0, -1), normal);
        return { form, turn: new THREE.Quaternion().setFromRotationMatrix(basis) };
    }

    #layPlane(middle, normal, isSolid, others) {
        const reach = this.bounds.radius * 9;
        const isStrip = this.head.planar && Math.abs(normal.z) < 1e-9;
        const { form, turn } = isStrip ? this.#makeStrip(middle, normal, others, reach * 0.4) : {
            form: new THREE.CircleGeometry(reach * 4, 96),
            turn: new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal),
        };
        const ground = new THREE.Mesh(form, isSolid
            ? new THREE.MeshLambertMaterial({ side: isStrip ? THREE.DoubleSide : THREE.FrontSide })
            : new THREE.ShadowMaterial({ opacity: 0.16 }));
        ground.receiveShadow = true;
        ground.userData.isSolid = isSolid;
        const grid = new THREE.Mesh(ground.geometry, new THREE.ShaderMaterial({
            vertexShader: gridVertex,
            fragmentShader: gridFragment,
            transparent: true,
            depthWrite: false,
            polygonOffset: true,
            polygonOffsetFactor: -1,
            side: THREE.DoubleSide,
            uniforms: {
                colour: { value: new THREE.Color() },
                cell: { value: niceStep(this.bounds.radius / 8) },
                reach: { value: reach },
                strength: { value: 0.5 },
                middle: { value: middle.clone() },
                origin: { value: new THREE.Vector2() },
            },
        }));
        grid.userData.isGrid = true;
        grid.visible = this.showsGrid;
        // The lines stay where they are when the plane is laid anew around another place: they are at multiples of the cell
        // from the foot of the world's origin.
        const place = middle.clone().addScaledVector(normal, -normal.dot(middle)).applyQuaternion(turn.clone().invert());
        const cell = 5 * grid.material.uniforms.cell.value;
        grid.material.uniforms.origin.value.set(place.x % cell, place.y % cell);
        for (const mesh of [ground, grid]) {
            mesh.position.copy(middle);
            mesh.quaternion.copy(turn);
            this.scene.add(mesh);
            this.grids.push(mesh);
        }
        this.cell = grid.material.uniforms.cell.value;
    }

    setGridVisible(visible) {
        this.showsGrid = visible;
        for (const mesh of this.grids) {
            if (mesh.userData.isGrid) {
                mesh.visible = visible;
            }
        }
        this.invalidate();
    }

    #paint() {
        const background = new THREE.Color(theme.colour('stage'));
        this.scene.background = background;
        if (this.scene.fog) {
            this.scene.fog.color.copy(background);
        }
        for (const mesh of this.grids) {
            if (mesh.userData.isGrid) {
                mesh.material.uniforms.colour.value.set(theme.colour('grid'));
            } else if (mesh.userData.isSolid) {
                mesh.material.color.set(theme.colour('ground'));
            }
        }
        for (const mesh of this.model.fixedMeshes) {
            mesh.material.color.set(mesh.userData.colour ?? theme.colour('stone'));
        }
        this.scene.environmentIntensity = theme.isDark ? 0.32 : 0.5;
        this.sun.intensity = theme.isDark ? 1.9 : 2.1;
        this.fill.intensity = theme.isDark ? 0.6 : 1.0;
        this.sky.intensity = (theme.isDark ? 0.5 : 0.9) + (isPlain ? 0.75 : 0);
        this.invalidate();
    }

    #resize() {
        const { clientWidth: width, clientHeight: height } = this.container;
        if (width === 0 || height === 0) {
            return;
        }
        const isFirst = !this.sized;
        this.sized = true;
        this.renderer.setSize(width, height, false);
        this.camera.aspect = width / height;
        this.camera.updateProjectionMatrix();
        if (isFirst) {
            this.frame();
        } else if (this.director.isOn && this.followed < 0) {
            this.move(this.box);
        }
        this.invalidate();
        this.emit('resize');
    }

    // Pointer: a click selects; a body under it may be dragged when someone wants that.
    #watchPointer() {
        const canvas = this.renderer.domElement;
        let start = null;
        canvas.addEventListener('pointerdown', event => {
            start = { x: event.clientX, y: event.clientY, hit: null };
            if (event.button === 0 && this.wantsDrag && !event.shiftKey) {
                const hit = this.pick(event);
                if (hit && this.wantsDrag(hit)) {
                    start.hit = hit;
                    start.plane = new THREE.Plane().setFromNormalAndCoplanarPoint(
                        this.camera.getWorldDirection(new THREE.Vector3()).negate(), hit.point);
                    this.controls.enabled = false;
                    canvas.setPointerCapture(event.pointerId);
                    this.emit('dragstart', hit);
                }
            }
        }, { capture: true });
        canvas.addEventListener('pointermove', event => {
            if (start?.hit) {
                const target = this.#ray(event).intersectPlane(start.plane, new THREE.Vector3());
                if (target) {
                    this.emit('drag', start.hit, target);
                }
            }
        });
        const finish = event => {
            if (!start) {
                return;
            }
            const moved = Math.hypot(event.clientX - start.x, event.clientY - start.y);
            if (start.hit) {
                this.controls.enabled = true;
                this.emit('dragend', start.hit);
            }
            if (moved < 4 && event.button === 0 && event.type === 'pointerup') {
                const hit = this.pick(event);
                this.emit('select', hit ? hit.body : -1);
            }
            start = null;
        };
        canvas.addEventListener('pointerup', finish);
        canvas.addEventListener('pointercancel', finish);
    }

    #ray(event) {
        const area = this.renderer.domElement.getBoundingClientRect();
        const pointer = new THREE.Vector2((event.clientX - area.left) / area.width * 2 - 1,
            1 - (event.clientY - area.top) / area.height * 2);
        this.#raycaster.setFromCamera(pointer, this.camera);
        return this.#raycaster.ray;
    }

    pick(event) {
        this.#ray(event);
        return this.model.pick(this.#raycaster);
    }

    // Where a point of the world is on the page, in pixels from the stage's corner.
    project(point) {
        const p = point.clone().project(this.camera);
        return { x: (p.x + 1) / 2 * this.container.clientWidth, y: (1 - p.y) / 2 * this.container.clientHeight };
    }

    select(body) {
        this.selected = body;
        this.outline.clear();
        if (body >= 0) {
            const material = new THREE.MeshBasicMaterial({ color: theme.colour('accent'), side: THREE.BackSide });
            const thickness = this.model.radii[body] * 0.035 + this.bounds.radius * 0.0012;
            material.onBeforeCompile = shader => {
                shader.vertexShader = shader.vertexShader.replace('#include <project_vertex>', `
                    vec4 mvPosition = modelViewMatrix * vec4(transformed, 1.0);
                    mvPosition.xyz += normalize(normalMatrix * normal) * ${thickness.toFixed(8)};
                    gl_Position = projectionMatrix * mvPosition;`);
            };
            for (const { batch, index } of this.model.instancesOf(body)) {
                const mesh = new THREE.Mesh(batch.geometry, material);
                mesh.matrixAutoUpdate = false;
                mesh.userData = { batch, index };
                this.outline.add(mesh);
            }
            this.#placeOutline();
        }
        this.invalidate();
    }

    #placeOutline() {
        for (const mesh of this.outline.children) {
            mesh.userData.batch.copies.getMatrix(mesh.userData.index, mesh.matrix);
        }
    }

    follow(body) {
        this.followed = body;
        this.followedAt = body >= 0 ? this.model.positionOf(body) : null;
        if (body >= 0) {
            const shift = this.followedAt.clone().sub(this.controls.target);
            this.controls.target.add(shift);
            this.camera.position.add(shift);
            this.controls.update();
        }
        this.invalidate();
    }

    // To be called when bodies have been placed.
    moved() {
        this.director.moved();
        if (this.followed >= 0) {
            const now = this.model.positionOf(this.followed);
            const shift = now.clone().sub(this.followedAt);
            this.followedAt = now;
            this.controls.target.add(shift);
            this.camera.position.add(shift);
            this.sun.position.add(shift);
            this.sun.target.position.add(shift);
            this.controls.update();
        }
        this.#placeOutline();
        this.invalidate();
    }

    // Bodies that have to be seen: the followed one, or some of all.
    #lookedFor() {
        const { bodyOfMoving } = this.model, every = Math.max(1, bodyOfMoving.length / mostLookedFor);
        return this.followed >= 0 ? [this.followed] : Array.from({ length: Math.min(bodyOfMoving.length, mostLookedFor) }, (_, k) => bodyOfMoving[Math.floor(k * every)]);
    }

    // What stands between the camera and a good part of the bodies becomes glass. Something that a body lies on or leans at is behind it.
    #clearView() {
        const { fixedMeshes } = this.model, bodies = fixedMeshes.length > 0 ? this.#lookedFor() : [], hidden = new Map();
        for (const body of bodies) {
            const direction = this.model.positionOf(body).sub(this.camera.position), distance = direction.length();
            this.#raycaster.far = Math.max(0, distance - 0.5 * this.model.radii[body]);
            this.#raycaster.set(this.camera.position, direction.normalize());
            for (const mesh of new Set(this.#raycaster.intersectObjects(fixedMeshes, false).map(({ object }) => object))) {
                hidden.set(mesh, (hidden.get(mesh) ?? 0) + 1);
            }
        }
        this.#raycaster.far = Infinity;
        for (const mesh of fixedMeshes) {
            this.#makeGlass(mesh, (hidden.get(mesh) ?? 0) > bodies.length / 3);
        }
    }

    // Glass is faint, or where drawing is slow only the edges of it.
    #makeGlass(mesh, isGlass) {
        mesh.material.opacity = isGlass ? 0.1 : 1;
        mesh.material.depthWrite = !isGlass;
        mesh.castShadow = !isGlass;
        if (isPlain) {
            mesh.visible = !isGlass;
            if (isGlass && !mesh.userData.edges) {
                const edges = new THREE.LineSegments(new THREE.EdgesGeometry(mesh.geometry, 30), new THREE.LineBasicMaterial({ transparent: true, opacity: 0.6 }));
                edges.matrixAutoUpdate = false;
                edges.matrix.copy(mesh.matrix);
                mesh.userData.edges = edges;
                this.scene.add(edges);
            }
            if (mesh.userData.edges) {
                mesh.userData.edges.visible = isGlass;
                mesh.userData.edges.material.color.set(theme.colour('grid'));
            }
        }
    }

    // Draws when something has changed; true when it did. `now` in milliseconds.
    draw(now = performance.now()) {
        this.director.tick(now / 1000);
        this.controls.update();
        const draws = this.#dirty && this.sized === true;
        if (draws) {
            this.#dirty = false;
            this.quality.beginMotion();
            this.#clearView();
            this.camera.updateMatrixWorld();
            this.model.visibility?.find(this.camera, this.container.clientWidth, this.container.clientHeight, this.sun.castShadow);
            lightCrowd(this.camera, this);
            this.renderer.render(this.scene, this.camera);
        }
        this.quality.tick(now, draws);
        return draws;
    }
}
