// Frames of a run: blocks are fetched when they are needed, a few ahead, and the oldest forgotten.

const contactWords = 18;

// What is known of one frame. States are x y z qw qx qy qz (vx vy vz wx wy wz) for each moving body.
class FrameView {
    constructor(frame, states, width, floats, integers, contactCount, reactions) {
        this.frame = frame;
        this.states = states;
        this.width = width;
        this.contactFloats = floats;
        this.contactIntegers = integers;
        this.contactCount = contactCount;
        this.reactions = reactions;
    }

    contact(i) {
        const f = this.contactFloats, n = this.contactIntegers, at = i * contactWords;
        return {
            point: [f[at], f[at + 1], f[at + 2]],
            normal: [f[at + 3], f[at + 4], f[at + 5]],
            gap: f[at + 6],
            normalImpulse: f[at + 7],
            frictionImpulse: [f[at + 8], f[at + 9], f[at + 10]],
            torsionalImpulse: f[at + 11],
            slidingSpeed: f[at + 12],
            bodyA: n[at + 13],
            bodyB: n[at + 14],
            state: n[at + 15],
            feature: `${n[at + 17] >>> 0}/${n[at + 16] >>> 0}`,
        };
    }
}

// Frames as they came. A view of one is made when it is asked for: views of all of them would take more room than their numbers.
class FrameBlock {
    constructor(buffer, shape) {
        this.byteLength = buffer.byteLength;
        Object.assign(this, shape);
    }

    view(k) {
        const { numbers, offsets, states, width, floats, integers, reactions } = this, count = numbers.length;
        const from = offsets[k] * contactWords, to = offsets[k + 1] * contactWords;
        const part = list => list.subarray(k * list.length / count, (k + 1) * list.length / count);
        return new FrameView(numbers[k], part(states), width, floats.subarray(from, to), integers.subarray(from, to), offsets[k + 1] - offsets[k], part(reactions));
    }

    // The view of a frame, or null.
    find(frame) {
        const k = this.numbers.indexOf(frame);
        return k < 0 ? null : this.view(k);
    }

    forEach(take) {
        for (let k = 0; k < this.numbers.length; ++k) {
            take(this.view(k));
        }
    }
}

export function decodeBlock(buffer) {
    const head = new Uint32Array(buffer, 0, Math.min(8, buffer.byteLength >> 2));
    const [magic, count, moving, width, contactTotal, joints] = head;
    const words = 8 + 2 * count + 1 + count * moving * width + contactTotal * contactWords + 6 * count * joints;
    if (magic !== 0x31465054 || buffer.byteLength !== 4 * words) {
        throw new Error('this is not a block of frames, or not a whole one');
    }
    let at = 8;
    const numbers = new Uint32Array(buffer, 4 * at, count);
    at += count;
    const offsets = new Uint32Array(buffer, 4 * at, count + 1);
    at += count + 1;
    const states = new Float32Array(buffer, 4 * at, count * moving * width);
    at += states.length;
    const floats = new Float32Array(buffer, 4 * at, contactTotal * contactWords);
    const integers = new Int32Array(buffer, 4 * at, contactTotal * contactWords);
    at += floats.length;
    const reactions = new Float32Array(buffer, 4 * at, count * joints * 6);
    return new FrameBlock(buffer, { numbers, offsets, states, width, floats, integers, reactions });
}

export class FrameCache {
    #blocks = new Map(); // in order of use
    #pending = new Map();
    #bytes = 0;
    #epoch = 0;

    constructor(source, limit = 256e6) {
        this.source = source;
        this.limit = limit;
        this.onError = () => {};
    }

    clear() {
        this.#blocks.clear();
        this.#pending.clear();
        this.#bytes = 0;
        this.#epoch += 1;
    }

    #find(frame, stride, withContacts) {
        const request = this.source.blockOf(frame, stride, withContacts);
        const block = this.#blocks.get(request.key);
        const view = block?.find(frame);
        if (view) {
            this.#blocks.delete(request.key);
            this.#blocks.set(request.key, block);
        }
        return { request, view };
    }

    // The frame if it is here; otherwise null.
    peek(frame, stride = 1, withContacts = true) {
        return this.#find(frame, stride, withContacts).view ?? null;
    }

    async get(frame, stride = 1, withContacts = true) {
        const { request, view } = this.#find(frame, stride, withContacts);
        if (view) {
            return view;
        }
        const pendingKey = `${request.key}/${request.count}`;
        if (!this.#pending.has(pendingKey)) {
            this.#pending.set(pendingKey, this.#load(request, pendingKey));
        }
        const block = await this.#pending.get(pendingKey);
        return block?.find(frame) ?? null;
    }

    async #load(request, pendingKey) {
        const epoch = this.#epoch;
        try {
            const block = await this.source.readBlock(request);
            if (epoch !== this.#epoch) {
                return null;
            }
            this.#drop(request.key);
            this.#blocks.set(request.key, block);
            this.#bytes += block.byteLength;
            for (const key of this.#blocks.keys()) {
                if (this.#bytes <= this.limit || key === request.key) {
                    break;
                }
                this.#drop(key);
            }
            return block;
        } catch (error) {
            if (epoch === this.#epoch) {
                this.onError(error);
            }
            return null;
        } finally {
            if (epoch === this.#epoch) {
                this.#pending.delete(pendingKey);
            }
        }
    }

    // Blocks whose frames a live run has forgotten.
    forgetBefore(frame) {
        for (const [key, { numbers }] of this.#blocks) {
            if (numbers[numbers.length - 1] < frame) {
                this.#drop(key);
            }
        }
    }

    #drop(key) {
        const block = this.#blocks.get(key);
        if (block) {
            this.#bytes -= block.byteLength;
            this.#blocks.delete(key);
        }
    }

    // Fetches what comes next, unless it is here or on its way.
    prefetch(frame, stride = 1, withContacts = true) {
        if (frame >= this.source.firstFrame && frame < this.source.frameCount && this.#pending.size < 4) {
            this.get(frame, stride, withContacts);
        }
    }
}
