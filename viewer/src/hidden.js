// Which bodies of a crowd the camera can see. Software that draws shades all that it is given, also what is behind
// something else; of a pile of ten thousand balls four in five are.
//
// The picture is a field of bits. From front to back, a body is seen if a pixel of the disc around it is still free;
// then the disc within it is taken. The disc around is a little larger and the one within a little smaller than they are
// seen: in doubt a body is drawn.

const bins = 4096; // of depth

export class Visibility {
    // Batches of shapes.js; each has the radii within and around its form.
    constructor(batches) {
        this.batches = batches;
        this.total = batches.reduce((sum, { bodies }) => sum + bodies.length, 0);
        this.depths = new Float32Array(this.total);
        this.bin = new Uint16Array(this.total);
        this.order = new Uint32Array(this.total);
        this.starts = new Uint32Array(bins + 1);
        this.batchOf = new Uint16Array(this.total);
        this.copyOf = new Uint32Array(this.total);
        let at = 0;
        batches.forEach((batch, b) => {
            batch.shown = new Uint32Array(batch.bodies.length);
            for (let i = 0; i < batch.bodies.length; ++i, ++at) {
                this.batchOf[at] = b;
                this.copyOf[at] = i;
            }
        });
    }

    #sort(view) {
        const { depths, starts } = this;
        let low = Infinity, high = -Infinity, at = 0;
        for (const { copies: { matrices }, bodies } of this.batches) {
            for (let m = 12; m < 16 * bodies.length; m += 16, ++at) {
                const depth = -(view[2] * matrices[m] + view[6] * matrices[m + 1] + view[10] * matrices[m + 2] + view[14]);
                depths[at] = depth;
                low = Math.min(low, depth);
                high = Math.max(high, depth);
            }
        }
        starts.fill(0);
        const scale = (bins - 1) / Math.max(high - low, 1e-30);
        for (let k = 0; k < this.total; ++k) {
            this.bin[k] = (depths[k] - low) * scale;
            ++starts[this.bin[k] + 1];
        }
        for (let k = 0; k < bins; ++k) {
            starts[k + 1] += starts[k];
        }
        for (let k = 0; k < this.total; ++k) {
            this.order[starts[this.bin[k]]++] = k;
        }
    }

    // Tells each batch which of its copies to draw. `width` and `height` in pixels. What is not seen may still cast a shadow.
    find(camera, width, height, castsShadows) {
        const view = camera.matrixWorldInverse.elements, projection = camera.projectionMatrix.elements;
        this.width = width;
        this.height = height;
        this.words = Math.ceil(width / 32);
        if (this.field?.length !== this.words * height) {
            this.field = new Int32Array(this.words * height);
        }
        this.field.fill(0);
        this.#sort(view);
        const perMetre = projection[5] * height / 2;
        for (const batch of this.batches) {
            batch.shownCount = 0;
            batch.hiddenFrom = batch.bodies.length;
        }
        for (let k = 0; k < this.total; ++k) {
            const place = this.order[k], batch = this.batches[this.batchOf[place]], i = this.copyOf[place];
            const { matrices } = batch.copies, m = 16 * i + 12, depth = this.depths[place], around = batch.around[i];
            let isSeen = depth > -around;
            if (depth > 2 * around) {
                const size = perMetre / depth;
                const x = (view[0] * matrices[m] + view[4] * matrices[m + 1] + view[8] * matrices[m + 2] + view[12]) * size + width / 2;
                const y = (view[1] * matrices[m] + view[5] * matrices[m + 1] + view[9] * matrices[m + 2] + view[13]) * size + height / 2;
                // Towards the rim of the picture a ball is seen as an ellipse.
                const slant = 1 + ((x - width / 2) ** 2 + (y - height / 2) ** 2) / (2 * perMetre * perMetre);
                isSeen = this.#sweep(x, y, around * size * slant + 1, false);
                if (isSeen) {
                    this.#sweep(x, y, batch.within[i] * size - 0.5, true);
                }
            }
            batch.shown[isSeen ? batch.shownCount++ : --batch.hiddenFrom] = i;
        }
        for (const batch of this.batches) {
            batch.copies.show(batch.shown, batch.shownCount, castsShadows, camera.position);
        }
    }

    // Goes through the pixels of a disc: true at the first that is free, or with `takes` takes them all.
    #sweep(x, y, radius, takes) {
        const { field, words, width, height } = this;
        const bottom = Math.max(0, Math.ceil(y - radius - 0.5)), top = Math.min(height - 1, Math.floor(y + radius - 0.5));
        for (let row = bottom; row <= top; ++row) {
            const half = Math.sqrt(Math.max(0, radius * radius - (row + 0.5 - y) ** 2));
            const from = Math.max(0, Math.ceil(x - half - 0.5)), to = Math.min(width - 1, Math.floor(x + half - 0.5));
            for (let at = from; at <= to; at += 32 - (at & 31)) {
                const word = row * words + (at >> 5), mask = maskOf(at & 31, Math.min(31, (at & 31) + to - at));
                if (takes) {
                    field[word] |= mask;
                } else if ((field[word] & mask) !== mask) {
                    return true;
                }
            }
        }
        return false;
    }
}

// The bits of a word between two places, both included.
const maskOf = (from, to) => (-1 >>> (31 - to)) & (-1 << from);
