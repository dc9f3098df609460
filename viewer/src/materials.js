// What holds between the materials of two bodies: the table of docs/recordings.md, /shapes.

const columns = ['static', 'dynamic', 'torsional', 'et', 'eo', 'restitution'];

export class Materials {
    // `table` has `materials` (names) and `pairs`; `bodies` has the shapes of each body with their materials.
    constructor(table, bodies) {
        this.names = table?.materials ?? [];
        this.pairs = table?.pairs ?? [];
        this.ofBody = bodies.map(({ shapes = [] }) => [...new Set(shapes.filter(shape => shape.material !== undefined).map(shape => shape.material))]);
    }

    // Another table of the same materials.
    update({ pairs }) {
        this.pairs = pairs ?? this.pairs;
    }

    between(a, b) {
        const [low, high] = a < b ? [a, b] : [b, a];
        const row = this.pairs[high * (high + 1) / 2 + low];
        return row ? Object.fromEntries(columns.map((name, i) => [name, row[i]])) : null;
    }

    // Of two bodies with one material each; null where there are more, and nobody knows which of them touch.
    betweenBodies(a, b) {
        const first = this.ofBody[a] ?? [], second = this.ofBody[b] ?? [];
        return first.length === 1 && second.length === 1 ? this.between(first[0], second[0]) : null;
    }
}
