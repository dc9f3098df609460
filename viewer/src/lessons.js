// The eight lessons. Each has an idea, a scene made from its numbers, what is known, and what is measured.
//
// `measure` gets the run at a frame: values of the sliders, time, step, states of the first moving bodies (position, rotation, velocity, spin), contacts,
// the overview with the row of the frame, and in `then` the first body at the frame that `wants` names; it gives rows of a name, what is known and what the run has.
// `view` is how it is looked at: what is drawn from the start, the camera's direction and its room (page.js).

import { number, withUnit } from './format.js';

const g = 9.81;
const radians = degrees => degrees * Math.PI / 180;
const length = v => Math.hypot(...v);
// What is below a billionth is rounding: nobody should read meaning into its digits.
const orRest = (value, unit, digits) => (Math.abs(value) < 1e-9 && value !== 0 ? `< 1 n${unit}` : withUnit(value, unit, digits));
const sum = list => list.reduce((a, b) => a + b, 0);
const floor = (material, normal = [0, 0, 1]) => ({ name: 'table', kind: 'fixed', material, shapes: [{ type: 'plane', normal, offset: 0 }] });

// Of all contacts of a frame: the sum of normal forces, and the length of the sum of friction.
function forcesOf({ contacts, step }) {
    const friction = [0, 1, 2].map(k => sum(contacts.map(contact => contact.frictionImpulse[k])));
    return { normal: sum(contacts.map(({ normalImpulse }) => normalImpulse)) / step, friction: length(friction) / step };
}

// A fall of `height` until the first touch, of something that cannot turn before it.
const fallTime = height => Math.sqrt(2 * height / g);
// When a ball of radius 0.1 m left the floor that flies now: its height and speed tell.
const impactBefore = ({ time, position: [, , z], velocity: [, , v] }) => time - (Math.sqrt(v * v + 2 * g * Math.max(0, z - 0.1)) - v) / g;

// The row of the overview in which a contact first carries something, or -1.
function firstTouch(overview, row) {
    for (let k = 1; k <= row; ++k) {
        if (overview.forceMax[k] > 0) {
            return k;
        }
    }
    return -1;
}

// What a tip at `arm` from the centre gets when it comes down at `speed` without a bounce: [impulse along, impulse up], by Coulomb's law.
function tipImpulse([x, y], inertia, speed, friction) {
    const kxx = 1 + y * y / inertia, kyy = 1 + x * x / inertia, kxy = -x * y / inertia;
    const det = kxx * kyy - kxy * kxy, stick = [-kxy * speed / det, kxx * speed / det];
    if (Math.abs(stick[0]) <= friction * stick[1]) {
        return stick;
    }
    const along = Math.sign(stick[0]) * friction, up = speed / (kyy + along * kxy);
    return [along * up, up];
}

export const lessons = [
    {
        id: 'cone',
        title: "Coulomb's cone",
        summary: 'A block is pulled: friction answers exactly as hard, until it cannot.',
        idea: ['A block of one kilogram lies on a table and is pulled sideways. The table pushes back with a normal force and with friction. Together they are one force, and Coulomb’s law says where it may point: into a cone around the normal, as wide as the coefficient of friction.',
            'As long as the block sticks, friction is whatever keeps it at rest: somewhere inside the cone. When it slides, the force lies on the edge, against the motion. The cones at the corners show it, and so does the tab Law.'],
        formula: '|F| ≤ μ N,   and |F| = μ N when it slides',
        view: { shows: ['cones'], from: [0.35, -1, 0.28] },
        presets: [{ title: 'it sticks', values: { pull: 3, friction: 0.5 } }, { title: 'it slides', values: { pull: 6, friction: 0.5 } }],
        sliders: [
            { key: 'pull', name: 'pull', unit: 'N', range: [0, 10], grain: 0.1, value: 3 },
            { key: 'friction', name: 'coefficient of friction μ', range: [0, 1], grain: 0.01, value: 0.5, order: friction => ({ material: { name: 'wood', friction } }) },
        ],
        scene: ({ pull, friction }) => ({
            tippe: 1, name: "Coulomb's cone", gravity: [0, 0, -g], materials: { wood: { friction } },
            bodies: [floor('wood'), { name: 'block', mass: 1, inertia: [0.004, 0.004, 0.006], material: 'wood', color: '#c65b45', shapes: [{ type: 'box', size: [0.3, 0.2, 0.1] }], position: [0, 0, 0.05] }],
            forces: [{ body: 'block', force: [pull, 0, 0], at: [0, 0, -0.05] }],
            simulation: { stepper: 'anitescu', step: 0.01, until: 3 },
        }),
        measure: ({ values: { pull, friction }, states: [block], contacts, step, time }) => {
            const { normal, friction: found } = forcesOf({ contacts, step }), most = friction * g;
            return [
                { name: 'normal force', known: withUnit(g, 'N'), now: withUnit(normal, 'N') },
                { name: 'friction', known: withUnit(Math.min(pull, most), 'N'), now: withUnit(found, 'N') },
                { name: 'friction may reach', known: withUnit(most, 'N') },
                { name: 'speed', known: withUnit(Math.max(0, pull - most) * time, 'm/s'), now: orRest(length(block.velocity), 'm/s') },
            ];
        },
        question: 'At μ = 0.5, what is the smallest pull that moves the block? And does the block need less pull to keep going than to start?',
        answer: ['μ m g = 0.5 · 1 kg · 9.81 m/s² = 4.905 N. With one coefficient for both, it needs the same pull: just above it the block accelerates very slowly. Real pairs of materials often stick better than they slide; scenes can give "static" and "dynamic" friction apart.'],
    },
    {
        id: 'slope',
        title: 'Stick and slip on a slope',
        summary: 'A block stays or slides, and its mass does not matter.',
        idea: ['Tilt a table until a block on it starts to slide. The tangent of that angle is the coefficient of friction: the cone is then just wide enough to hold the vertical.',
            'Below the angle the block does not creep, not even slowly. Many simulators let it: here it stays where it is, to rounding.'],
        formula: 'it slides if tan α > μ: a = g (sin α − μ cos α)',
        view: { from: [0.3, -1, 0.22] },
        sliders: [
            { key: 'angle', name: 'slope α', unit: '°', range: [0, 45], grain: 1, value: 20 },
            { key: 'friction', name: 'coefficient of friction μ', range: [0, 1], grain: 0.01, value: 0.5, order: friction => ({ material: { name: 'wood', friction } }) },
            { key: 'mass', name: 'mass', unit: 'kg', range: [0.1, 1000], isLogarithmic: true, value: 1 },
        ],
        presets: [{ title: 'just holds (26°)', values: { angle: 26, friction: 0.5 } }, { title: 'just slips (27°)', values: { angle: 27, friction: 0.5 } }],
        scene: ({ angle, friction, mass }) => {
            const [s, c] = [Math.sin(radians(angle)), Math.cos(radians(angle))], rate = g * (s - friction * c), [above, below, base] = [0.5, 1.2, -1.2 * s - 0.05];
            const wedge = [-0.25, 0.25].flatMap(y => [[-above * c, y, above * s], [below * c, y, -below * s], [-above * c, y, base], [below * c, y, base]]);
            return {
                tippe: 1, name: 'Stick and slip on a slope', gravity: [0, 0, -g], materials: { wood: { friction } },
                bodies: [{ ...floor('wood'), name: 'floor', position: [0, 0, base] }, { name: 'slope', kind: 'fixed', material: 'wood', color: '#c9a877', shapes: [{ type: 'hull', points: wedge }] }, { name: 'block', mass, inertia: [0.004 * mass, 0.008 * mass, 0.011 * mass], material: 'wood', color: '#5f8f93', shapes: [{ type: 'box', size: [0.3, 0.2, 0.1] }], position: [0.05 * s, 0, 0.05 * c], rotation: { axis: [0, 1, 0], degrees: angle } }],
                simulation: { stepper: 'anitescu', step: 0.01, until: rate > 0 ? Math.min(2, Math.sqrt(2.2 / rate)) : 2 },
            };
        },
        measure: ({ values: { angle, friction }, states: [block], time }) => {
            const a = radians(angle), rate = Math.max(0, g * (Math.sin(a) - friction * Math.cos(a)));
            return [
                { name: 'tan α', known: number(Math.tan(a), 4) },
                { name: 'acceleration', known: withUnit(rate, 'm/s²'), now: time > 0 ? orRest(length(block.velocity) / time, 'm/s²', 3) : '' },
                { name: 'speed now', known: withUnit(rate * time, 'm/s'), now: orRest(length(block.velocity), 'm/s') },
            ];
        },
        question: 'A truck carries a crate of 10 kg and one of 100 kg on its tilted bed. Which one slips first?',
        answer: ['Both at the same angle. Weight and friction grow alike with the mass, and it drops out. Try it with the slider: from 0.1 to 1,000 kg nothing changes.'],
    },
    {
        id: 'rod',
        title: 'The falling rod',
        summary: 'A rod lands on one end: what the impact does is known in advance.',
        idea: ['A rod falls without turning and meets the table with one end. In an instant the table gives it an impulse, upward and, by friction, sideways. The end stops; the rod turns and slaps down.',
            'If the impact is short, gravity plays no part in it, and three equations for velocities give the answer. If friction is small the end slips during the impact, and the impulse lies on the edge of the cone.'],
        formula: 'v⁺ = v⁻ + K p,   p in the cone,   no velocity into the table',
        sliders: [
            { key: 'angle', name: 'tilt of the rod', unit: '°', range: [5, 85], grain: 1, value: 40 },
            { key: 'friction', name: 'coefficient of friction μ', range: [0, 1], grain: 0.01, value: 0.2 },
            { key: 'height', name: 'height of the fall', unit: 'm', range: [0.05, 1], grain: 0.05, value: 0.5 },
        ],
        scene: ({ angle, friction, height }) => ({
            tippe: 1, name: 'The falling rod', planar: true, gravity: [0, -g, 0], materials: { wood: { friction } },
            bodies: [{ name: 'table', kind: 'fixed', material: 'wood', shapes: [{ type: 'plane', normal: [0, 1, 0], offset: 0 }] },
                { name: 'rod', mass: 1, inertia: [0.03, 0.03, 0.03], material: 'wood', color: '#e0a94a', shapes: [{ type: 'capsule', radius: 0.02, length: 0.6, axis: [1, 0, 0] }], position: [0, height + 0.02 + 0.3 * Math.sin(radians(angle)), 0], rotation: { axis: [0, 0, 1], degrees: angle } }],
            simulation: { stepper: 'stewart-trinkle', step: 0.0005, until: 1 },
        }),
        // The step of the touch ends where the rod is at the table; the next one has stopped its end.
        wants: ({ overview, row }) => (firstTouch(overview, row) >= 0 && firstTouch(overview, row) + 2 <= row ? firstTouch(overview, row) + 2 : -1),
        measure: ({ values: { angle, friction, height }, states: [rod], overview, row, then }) => {
            const a = radians(angle), fall = fallTime(height), arm = [-0.3 * Math.cos(a), -0.3 * Math.sin(a) - 0.02];
            const [along, up] = tipImpulse(arm, 0.03, g * fall, friction), spin = (arm[0] * up - arm[1] * along) / 0.03;
            const first = firstTouch(overview, row);
            return [
                { name: 'touches after', known: withUnit(fall, 's', 4), now: first >= 0 ? withUnit(overview.time[first], 's', 4) : '' },
                { name: 'spin after the impact', known: `${number(spin, 3)} rad/s`, now: then ? `${number(then.spin[2], 3)} rad/s` : '' },
                { name: 'the end', known: Math.abs(along) < friction * up * (1 - 1e-9) ? 'sticks' : 'slips' },
                { name: 'spin now', now: Math.abs(rod.spin[2]) < 1e-9 ? '0' : `${number(rod.spin[2], 3)} rad/s` },
            ];
        },
        question: 'Without friction, where does the middle of the rod land: to the left, to the right, or exactly below where it was let go?',
        answer: ['Exactly below. Nothing pushes it sideways, so its centre falls straight down, whatever the rod does. With friction the end is held back and the centre moves.'],
    },
    {
        id: 'painleve',
        title: "Painlevé's paradox",
        summary: 'Rigid, rough, sliding: sometimes no force obeys all the laws.',
        idea: ['A rod slides on its tip, leaning into the motion, like chalk pushed over a board. Friction turns the rod so that its tip presses harder, which makes more friction. If μ is large, every normal force presses the tip deeper than it pushes it up: no force keeps the tip out of the table. That is Painlevé’s paradox, of 1895.',
            'The way out is to ask for an impulse instead of a force. A time step does so by itself: the tip stops at once, though nothing has collided. With chalk one hears it.'],
        formula: 'no force if μ ≥ (1 + 3 cos² θ) / (3 sin θ cos θ)',
        sliders: [
            { key: 'friction', name: 'coefficient of friction μ', range: [0, 3], grain: 0.05, value: 2 },
            { key: 'angle', name: 'angle θ of the rod with the table', unit: '°', range: [30, 80], grain: 1, value: 58 },
        ],
        presets: [{ title: 'below the limit', values: { friction: 1, angle: 58 } }, { title: 'above it', values: { friction: 2, angle: 58 } }],
        scene: ({ friction, angle }) => ({
            tippe: 1, name: "Painlevé's paradox", planar: true, gravity: [0, -g, 0], materials: { rough: { friction } },
            bodies: [{ name: 'table', kind: 'fixed', material: 'rough', shapes: [{ type: 'plane', normal: [0, 1, 0], offset: 0 }] },
                { name: 'rod', mass: 1, inertia: [0.0001, 1 / 3, 1 / 3], material: 'rough', color: '#b5432c', shapes: [{ type: 'prism', points: [[-1, 0], [0, -0.01], [1, 0], [0, 0.01]], length: 0.02 }], position: [Math.cos(radians(angle)), Math.sin(radians(angle)), 0], rotation: { axis: [0, 0, 1], degrees: angle }, velocity: [-1, 0, 0] }],
            simulation: { stepper: 'stewart-trinkle', step: 0.001, until: 0.5 },
        }),
        measure: ({ values: { friction, angle }, run, overview }) => {
            const a = radians(angle), [s, c] = [Math.sin(a), Math.cos(a)], limit = (1 + 3 * c * c) / (3 * s * c), first = overview.count > 1 ? overview.forceMax[1] : 0;
            const cone = Math.sqrt(1 + friction * friction), lift = 1 + 3 * c * c - 3 * friction * s * c;
            return [
                { name: 'limit of μ at this angle', known: number(limit, 4) },
                { name: 'a force exists', known: friction < limit ? 'yes' : 'no' },
                { name: 'contact force of the first step', known: friction < limit ? withUnit(g * cone / lift, 'N') : `grows as 1 / step`, now: first > 0 ? withUnit(first, 'N') : '' },
                { name: 'that is an impulse of', now: first > 0 ? withUnit(first * run.stepOf(1), 'N s') : '' },
            ];
        },
        question: 'For which angle is the limit smallest, and what is it? Could rubber on asphalt (μ about 1) show the paradox with such a rod?',
        answer: ['Minimise (1 + 3 cos² θ) / (3 sin θ cos θ): at tan θ = 2, so θ = 63.4°, the limit is 4/3. Rubber with μ = 1 is below it, so a uniform rod never jams. A body with its mass nearer to the middle does: then less friction is enough.'],
    },
    {
        id: 'pyramid',
        title: 'Pyramid against cone',
        summary: 'Why a block should not care which way north is.',
        idea: ['The round cone makes hard equations. Many programs put a pyramid in its place, with four faces or eight: then the equations are linear, but the table gets a grain. A block that slides along an edge of the pyramid feels other friction than one that slides along a face, and it is turned from its way.',
            'The first run has the true cone, the second one a pyramid. Both start with the same velocity.'],
        formula: 'cone: straight on, s = v² / (2 μ g)',
        view: { shows: ['trails'], from: [-0.25, -0.8, 1.1], room: { along: 14, up: 6 } },
        sliders: [
            { key: 'direction', name: 'direction of the motion', unit: '°', range: [0, 90], grain: 1, value: 20 },
            { key: 'faces', name: 'edges of the pyramid', range: [4, 16], grain: 4, value: 4 },
            { key: 'friction', name: 'coefficient of friction μ', range: [0.05, 1], grain: 0.01, value: 0.3 },
        ],
        scene: ({ direction, faces, friction }) => ({
            tippe: 1, name: 'Pyramid against cone', gravity: [0, 0, -g], materials: { wood: { friction } },
            bodies: [floor('wood'), { name: 'puck', mass: 1, inertia: [0.01, 0.01, 0.01], material: 'wood', color: '#6f86ad', locked: ['rx', 'ry', 'rz'], shapes: [{ type: 'cylinder', radius: 0.1, length: 0.06 }], position: [0, 0, 0.03], velocity: [3 * Math.cos(radians(direction)), 3 * Math.sin(radians(direction)), 0] }],
            simulation: { stepper: 'stewart-trinkle', step: 0.005, until: 3, options: { directions: faces } },
        }),
        twin: 'stewart-trinkle',
        twinOrders: [{ option: { name: 'cone', value: 'pyramid' } }],
        measure: ({ values: { direction, friction }, states: [puck], run, memory }) => {
            const distance = Math.hypot(puck.position[0], puck.position[1]), turn = Math.atan2(puck.position[1], puck.position[0]) * 180 / Math.PI;
            memory.run = run;
            return [
                { name: 'stops after (cone)', known: withUnit(9 / (2 * friction * g), 'm'), now: withUnit(distance, 'm') },
                { name: 'direction (cone)', known: `${number(direction, 3)}°`, now: distance > 1e-6 ? `${number(turn, 4)}°` : '' },
            ];
        },
        question: 'With a pyramid of four edges, in which directions does a block go straight, and where is its friction wrong the most?',
        answer: ['Along an edge (0°, 90°) it goes straight with the right friction. At 45°, in the middle of a face, it goes straight too, but friction has only 1/√2 of its size there: the block goes 41 % farther. In between it is turned as well.'],
    },
    {
        id: 'bounce',
        title: 'Bounce and restitution',
        summary: 'Three laws of impact, and infinitely many bounces in a finite time.',
        idea: ['Newton’s law of impact says: a ball leaves with e times the speed at which it came. Each bounce takes e times as long as the one before, so infinitely many of them fit into a finite time, and then the ball lies still.',
            'A simulation with steps of a fixed length cannot show them all. The stepper “mirtich-canny” goes from impact to impact; “anitescu” in the second run handles an impact where its step is. Compare when they come to rest.',
            'There are three laws. Newton’s speaks of speeds. Poisson’s speaks of impulses: the ball gets back e times what stopped it. Stronge’s speaks of energy: it gets back e² of it. For a ball that falls straight down all three say the same; for a rod that lands on its end and slips they do not.'],
        formula: 't = √(2h/g) · (1 + e) / (1 − e)',
        sliders: [
            { key: 'restitution', name: 'restitution e', range: [0, 0.95], grain: 0.01, value: 0.7 },
            { key: 'height', name: 'height h', unit: 'm', range: [0.2, 3], grain: 0.1, value: 1 },
        ],
        scene: ({ restitution, height }) => ({
            tippe: 1, name: 'Bounce and restitution', gravity: [0, 0, -g], materials: { rubber: { friction: 0, restitution } },
            bodies: [floor('rubber'), { name: 'ball', mass: 1, inertia: [0.004, 0.004, 0.004], material: 'rubber', shapes: [{ type: 'sphere', radius: 0.1 }], position: [0, 0, height + 0.1] }],
            simulation: { stepper: 'mirtich-canny', step: 0.01, until: 60 },
        }),
        twin: 'anitescu',
        // On the way up after the first impact.
        wants: ({ values: { restitution, height }, overview, row }) => {
            for (let k = 1; k <= row; ++k) {
                if (overview.time[k] > fallTime(height) * (1 + 0.5 * restitution)) {
                    return k;
                }
            }
            return -1;
        },
        measure: ({ values: { restitution: e, height }, states: [ball], time, memory, then }) => {
            const fall = fallTime(height), rest = fall * (1 + e) / (1 - e);
            const isStill = Math.abs(ball.velocity[2]) < 1e-6 && time > fall;
            memory.rest = isStill ? memory.rest ?? time : undefined;
            return [
                { name: 'first impact after', known: withUnit(fall, 's', 4), now: then ? withUnit(impactBefore(then), 's', 4) : '' },
                { name: 'height of the first bounce', known: withUnit(e * e * height, 'm'), now: then ? withUnit(then.position[2] - 0.1 + then.velocity[2] ** 2 / (2 * g), 'm') : '' },
                { name: 'at rest after', known: withUnit(rest, 's', 4), now: memory.rest === undefined ? '' : `≤ ${withUnit(memory.rest, 's', 4)}` },
                { name: 'height now', now: withUnit(Math.max(0, ball.position[2] - 0.1), 'm') },
            ];
        },
        question: 'How many bounces does a ball with e = 0.7 need until it rises less than a millimetre, from a height of one metre?',
        answer: ['After n bounces it rises e²ⁿ h. 0.49ⁿ < 0.001 gives n > 9.7: ten bounces. But at rest it is only after infinitely many.'],
    },
    {
        id: 'top',
        title: 'The tippe top',
        summary: 'It turns over and lifts its own weight. What does that?',
        idea: ['A ball with its weight below its middle, spun fast, turns upside down and stands on its head. Its centre of mass rises: where does the energy come from? From the spin, which becomes slower. And what turns it? Friction alone. Set it to zero, start again, and the top spins on as it is.',
            'One number stays: Jellett’s, the angular momentum about the line from the centre of mass to the point of contact. Sliding friction cannot change it, for it acts at that point.'],
        formula: 'J = − L · r  stays',
        sliders: [
            { key: 'friction', name: 'coefficient of friction μ', range: [0, 0.6], grain: 0.01, value: 0.2, order: friction => ({ material: { name: 'wood', friction } }) },
            { key: 'spin', name: 'spin at the start', unit: 'rad/s', range: [40, 220], grain: 10, value: 150 },
        ],
        scene: ({ friction, spin }) => ({
            tippe: 1, name: 'The tippe top', gravity: [0, 0, -g], materials: { wood: { friction: { static: friction, dynamic: friction, torsional: 7e-5 } } },
            bodies: [floor('wood'), {
                name: 'top', mass: 0.015, inertia: [1.35e-6, 1.35e-6, 1.35e-6], center_of_mass: [0, 0, -0.0015], material: 'wood',
                shapes: [{ type: 'sphere', radius: 0.015, color: '#b5432c' },
                    { type: 'intersection', visual: true, color: '#efe3cc', of: [{ type: 'sphere', radius: 0.0151 }, { type: 'box', size: [0.04, 0.04, 0.04], position: [0, 0, 0.02] }] },
                    { type: 'cylinder', visual: true, color: '#3f5f66', radius: 0.0026, length: 0.008, position: [0, 0, 0.0185] }, { type: 'sphere', visual: true, color: '#3f5f66', radius: 0.0026, position: [0, 0, 0.0225] }],
                position: [0.00014975, 0, 0.015], rotation: { axis: [0, 1, 0], degrees: 5.73 }, angular_velocity: [0.09983 * spin, 0, 0.995 * spin],
            }],
            simulation: { stepper: 'chakraborty-trinkle', step: 0.001, until: 6 },
        }),
        measure: ({ values: { spin: start }, states: [top], memory }) => {
            const [w, x, y] = [top.rotation[0], top.rotation[1], top.rotation[2]], z = top.rotation[3];
            const axis = [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)];
            // From the centre of mass to the contact: up along the axis to the middle of the ball, then down.
            const r = [0.0015 * axis[0], 0.0015 * axis[1], 0.0015 * axis[2] - 0.015];
            const jellett = -1.35e-6 * (top.spin[0] * r[0] + top.spin[1] * r[1] + top.spin[2] * r[2]);
            const tilt = Math.acos(Math.max(-1, Math.min(1, axis[2]))) * 180 / Math.PI;
            memory.jellett ??= 1.35e-6 * start * (0.015 * 0.995 - 0.0015 * (0.09983 * 0.09983 + 0.995 * 0.995));
            return [
                { name: "Jellett's number, of its start", known: '100 %, slowly less', now: `${number(100 * jellett / memory.jellett, 4)} %` },
                { name: 'tilt', known: 'from 6° to 180°', now: `${number(tilt, 3)}°` },
                { name: 'height of the centre of mass', known: `${withUnit(0.0135, 'm')} to ${withUnit(0.0165, 'm')}`, now: withUnit(top.position[2], 'm') },
                { name: 'spin about the vertical', now: `${number(top.spin[2], 3)} rad/s` },
            ];
        },
        question: 'Seen from above the top spins counter-clockwise. After it has turned over: which way does it spin, seen from above, and which way about its own stem?',
        answer: ['From above still counter-clockwise: the angular momentum about the vertical can hardly change. About its own stem, which now points down, it has changed its sense: on the way, when it lay on its side, it did not spin about the stem at all.',
            'Here the arm against turning on the spot, 0.07 mm, takes a little of Jellett’s number away.'],
    },
    {
        id: 'stack',
        title: 'Why stacks are hard',
        summary: 'Every box has to know of all the others.',
        idea: ['The lowest box of a stack carries all the others. A method that looks at one contact after the other has to pass that message down and up again, many times; if it stops early, the stack sinks, sways or slides. It is worst when heavy boxes lie on light ones.',
            'The first run solves for all contacts at once; the second one takes small steps with a few sweeps each, as games do: fast, and nearly right.'],
        formula: 'force on the floor = weight of all boxes',
        sliders: [
            { key: 'count', name: 'boxes', range: [2, 30], grain: 1, value: 10 },
            { key: 'ratio', name: 'mass of the top box, in those of the others', range: [1, 1000], isLogarithmic: true, value: 1 },
        ],
        scene: ({ count, ratio }) => ({
            tippe: 1, name: 'Why stacks are hard', gravity: [0, 0, -g], materials: { stone: { friction: 0.5 } },
            bodies: [floor('stone'), ...Array.from({ length: count }, (_, k) => {
                const mass = k === count - 1 ? Number(ratio) : 1;
                return { name: `box_${k + 1}`, mass, inertia: [mass / 150, mass / 150, mass / 150], material: 'stone', shapes: [{ type: 'box', size: [0.2, 0.2, 0.2] }], position: [0, 0, 0.1 + 0.2 * k] };
            })],
            simulation: { stepper: 'anitescu', step: 1 / 60, until: 20 },
        }),
        twin: 'small-steps',
        measure: ({ values: { count, ratio }, contacts, step, overview, row, run }) => {
            const table = run.head.bodies.findIndex(({ name }) => name === 'table');
            const below = contacts.filter(({ bodyA, bodyB }) => bodyA === table || bodyB === table);
            return [
                { name: 'force on the floor', known: withUnit((count - 1 + Number(ratio)) * g, 'N', 5), now: withUnit(sum(below.map(({ normalImpulse }) => normalImpulse)) / step, 'N', 5) },
                { name: 'residual of the contact law', known: '0', now: overview.count > 0 ? number(overview.residual[row], 2) : '' },
                { name: 'deepest overlap', known: '0', now: overview.count > 0 ? withUnit(overview.penetration[row], 'm', 2) : '' },
            ];
        },
        question: 'Push a stack with the mouse in the middle: the boxes above come along. Which contact slips first if you pull the lowest box out quickly?',
        answer: ['Friction is the same share of the load everywhere, but the load is largest at the bottom. The lowest box slides under the second one when the pull exceeds the friction at both of its faces, μ times the weight above and the whole weight; the boxes above get at most the acceleration μ g, whatever you do. A quick pull therefore leaves them standing, as with a tablecloth.'],
    },
];
