// Where the page's run comes from: data within the page itself, or the program that serves it. The other
// side of app/page/run_data.h.

import { decodeBlock } from './frames.js';

export const columns = ['time', 'residual', 'penetration', 'kinetic', 'potential', 'externalWork', 'frictionLoss',
    'impactLoss', 'contacts', 'iterations', 'failures', 'coneViolation', 'dissipationViolation', 'jointDrift',
    'fallback', 'note', 'converged', 'undone', 'substeps', 'forceMax', 'forceBody', 'forceOther', 'forceFrame', 'sliding',
    'sticking', 'slideSpeed', 'slideBody', 'slideOther', 'reactionMax', 'reactionJoint', 'reactionFrame', 'energyIncrease', 'energyExcess',
    'residualLimit', 'energyLimit', 'driftLimit', 'penetrationLimit', 'violations'];

const contactWidth = 19;
const stateWidth = 13;
const reactionWidth = 6;

// Columns of the overview that grow by rows.
export class Overview {
    constructor() {
        this.count = 0;
        this.stride = 1;
        this.first = 0; // frame of the first row
        this.capacity = 0;
        for (const name of columns) {
            this[name] = new Float64Array(0);
        }
    }

    clear() {
        this.count = 0;
    }

    append(numbers) {
        const rows = Math.floor(numbers.length / columns.length);
        if (this.count + rows > this.capacity) {
            this.capacity = Math.max(1024, 2 * this.capacity, this.count + rows);
            for (const name of columns) {
                const grown = new Float64Array(this.capacity);
                grown.set(this[name].subarray(0, this.count));
                this[name] = grown;
            }
        }
        columns.forEach((name, column) => {
            const to = this[name];
            for (let row = 0; row < rows; ++row) {
                to[this.count + row] = numbers[row * columns.length + column];
            }
        });
        this.count += rows;
    }

    // Forgets the rows of earlier frames. Of runs with a row per frame.
    dropBefore(frame) {
        const dropped = Math.max(0, Math.min(this.count, frame - this.first));
        for (const name of columns) {
            this[name].copyWithin(0, dropped, this.count);
        }
        this.count -= dropped;
        this.first += dropped;
    }

    rowOf(frame) {
        return Math.max(0, Math.min(this.count - 1, Math.ceil((frame - this.first) / this.stride)));
    }

    frameOf(row) {
        return this.first + row * this.stride;
    }
}

// Within the page ------------------------------------------------------------------------------------

const damaged = new Error('this file is damaged or was cut short');

async function inflate(text) {
    try {
        const letters = atob(text);
        const packed = new Uint8Array(letters.length);
        // Uint8Array.from would ask a function for every byte: a quarter of a second for ten thousand bodies.
        for (let i = 0; i < letters.length; ++i) {
            packed[i] = letters.charCodeAt(i);
        }
        const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
        return new Uint8Array(await new Response(stream).arrayBuffer());
    } catch {
        throw damaged;
    }
}

async function unpack(script) {
    const shuffled = await inflate(script.textContent);
    const word = Number(script.dataset.word);
    const words = Math.floor(shuffled.length / word);
    const bytes = new Uint8Array(shuffled.length);
    for (let k = 0; k < word; ++k) {
        for (let i = 0; i < words; ++i) {
            bytes[i * word + k] = shuffled[k * words + i];
        }
    }
    bytes.set(shuffled.subarray(words * word), words * word);
    return bytes.buffer;
}

class FileSource {
    constructor(scripts) {
        const named = name => scripts.filter(script => script.dataset.tippe === name);
        try {
            this.head = JSON.parse(named('head')[0].textContent);
            this.labels = JSON.parse(named('labels')[0].textContent);
        } catch {
            throw damaged;
        }
        this.overviewScript = named('overview')[0];
        this.blocks = named('frames').map(script => {
            const [first, count] = script.dataset.about.split(' ').map(Number);
            return { first, count, script, frames: null };
        });
        this.series = new Map(named('series').map(script => [script.dataset.about, script]));
        this.frameCount = this.head.kept;
        if (!this.overviewScript || this.blocks.reduce((sum, { count }) => sum + count, 0) !== this.frameCount) {
            throw damaged;
        }
        this.firstFrame = 0;
        this.isLive = false;
        this.isExact = false;
    }

    async readOverview(overview, onProgress) {
        overview.append(new Float64Array(await unpack(this.overviewScript)));
        onProgress();
    }

    async readLabels() {
        return this.labels;
    }

    // Blocks are those of the file, whatever is asked for.
    blockOf(frame) {
        const index = this.blocks.findIndex(block => frame >= block.first && frame < block.first + block.count);
        const block = this.blocks[index];
        return { key: `${index}`, first: block.first, count: block.count, stride: 1, script: block.script };
    }

    async readBlock(request) {
        const decoded = decodeBlock(await unpack(request.script));
        decoded.numbers.forEach((_, k) => { decoded.numbers[k] = request.first + k; });
        return decoded;
    }

    async #walk(take) {
        for (const block of this.blocks) {
            const decoded = await this.readBlock(this.blockOf(block.first));
            decoded.forEach(take);
        }
    }

    async readBodySeries(moving) {
        const data = new Float64Array(this.frameCount * stateWidth);
        await this.#walk(view => {
            const start = moving * view.width;
            data.set(view.states.subarray(start, start + stateWidth), view.frame * stateWidth);
        });
        return { first: 0, stride: 1, data };
    }

    async readJointSeries(joint) {
        const data = new Float64Array(this.frameCount * reactionWidth);
        await this.#walk(view => data.set(view.reactions.subarray(joint * reactionWidth, (joint + 1) * reactionWidth), view.frame * reactionWidth));
        return { first: 0, stride: 1, data };
    }

    async #readSeries(about) {
        const script = this.series.get(about);
        return { first: 0, stride: 1, data: script ? new Float64Array(await unpack(script)) : new Float64Array(0) };
    }

    readCoordinateSeries(coordinate) {
        return this.#readSeries(`coordinate ${coordinate}`);
    }

    readSensorSeries(value) {
        return this.#readSeries(`sensor ${value}`);
    }

    readCarrierSeries(moving) {
        return this.#readSeries(`carrier ${moving}`);
    }

    async readBodyState(moving, frame) {
        const view = (await this.readBlock(this.blockOf(frame))).find(frame);
        return Float64Array.from(view.states.subarray(moving * view.width, moving * view.width + stateWidth));
    }

    async readContactSeries(body) {
        const rows = [];
        await this.#walk(view => {
            for (let i = 0; i < view.contactCount; ++i) {
                const contact = view.contact(i);
                if (contact.bodyA === body || contact.bodyB === body) {
                    rows.push({ frame: view.frame, ...contact });
                }
            }
        });
        return rows;
    }
}

// From someone who answers -----------------------------------------------------------------------------

// The program that serves the page.
export class ServerCarrier {
    async #get(path) {
        const response = await fetch(path, { cache: 'no-store' });
        if (!response.ok) {
            throw new Error((await response.text()).trim() || `${response.status}`);
        }
        return response;
    }

    async ask(path) {
        return (await this.#get(path)).arrayBuffer();
    }

    // Calls `take` with each piece as it comes.
    async stream(path, take) {
        const reader = (await this.#get(path)).body.getReader();
        for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
            take(piece.value);
        }
    }

    async wait(after, version) {
        return (await this.#get(`live?after=${after}&version=${version}`)).json();
    }

    async command(order) {
        const response = await fetch('command', {
            method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(order),
        });
        if (!response.ok) {
            throw new Error((await response.text()).trim());
        }
    }
}

export class AskedSource {
    #exact = new Map();

    constructor(carrier) {
        this.carrier = carrier;
    }

    async #json(path) {
        return JSON.parse(new TextDecoder().decode(await this.carrier.ask(path)));
    }

    async open() {
        this.head = await this.#json('head');
        this.frameCount = this.head.frames;
        this.firstFrame = this.head.first;
        this.isLive = this.head.mode === 'live';
        this.isExact = true;
        const moving = this.head.bodies.filter(body => body.moving >= 0).length;
        const meanContacts = this.head.contacts / Math.max(1, this.head.frames);
        const size = 28 * moving + 72 * (this.isLive ? moving : meanContacts);
        this.blockFrames = 2 ** Math.max(0, Math.min(8, Math.round(Math.log2(1e6 / (size + 1)))));
        return this;
    }

    // Rows as they come; `stride` frames a row where there are very many.
    async readOverview(overview, onProgress, first = 0, end = this.frameCount) {
        const rowBytes = columns.length * 8;
        let rest = new Uint8Array(0);
        await this.carrier.stream(`overview?first=${first}&count=${end - first}&stride=${overview.stride}`, piece => {
            const joined = new Uint8Array(rest.length + piece.length);
            joined.set(rest);
            joined.set(piece, rest.length);
            const whole = Math.floor(joined.length / rowBytes) * rowBytes;
            overview.append(new Float64Array(joined.slice(0, whole).buffer));
            rest = joined.slice(whole);
            onProgress();
        });
    }

    readLabels() {
        return this.#json('labels');
    }

    readSettings() {
        return this.#json('settings');
    }

    // Of all joints at the newest frame of a live run: values, speeds, efforts.
    async readCoordinates() {
        const numbers = new Float64Array(await this.carrier.ask('coordinates')), count = numbers.length / 3;
        return { values: numbers.subarray(0, count), speeds: numbers.subarray(count, 2 * count), efforts: numbers.subarray(2 * count) };
    }

    blockOf(frame, stride, withContacts) {
        const span = this.blockFrames * stride;
        const index = Math.floor(frame / span);
        const first = Math.max(index * span, Math.ceil(this.firstFrame / stride) * stride);
        const count = Math.min(Math.floor((index * span + span - 1 - first) / stride) + 1,
            Math.floor((this.frameCount - 1 - first) / stride) + 1);
        return { key: `${stride}/${index}/${withContacts ? 1 : 0}`, first, count, stride, withContacts };
    }

    async readBlock({ first, count, stride, withContacts }) {
        return decodeBlock(await this.carrier.ask(`frames?first=${first}&count=${count}&stride=${stride}&contacts=${withContacts ? 1 : 0}`));
    }

    async #readSeries(what) {
        const first = this.firstFrame, count = this.frameCount - first;
        const stride = Math.max(1, Math.ceil(count / 20000));
        return { first, stride, data: new Float64Array(await this.carrier.ask(`${what}&first=${first}&count=${count}&stride=${stride}`)) };
    }

    readBodySeries(moving) {
        return this.#readSeries(`body?body=${moving}`);
    }

    readJointSeries(joint) {
        return this.#readSeries(`joint?joint=${joint}`);
    }

    // The method that carried a body: its place among the labels, or -1 for the stepper itself.
    readCarrierSeries(moving) {
        return this.#readSeries(`carrier?body=${moving}`);
    }

    // Of a coordinate of a joint: value, speed, target, effort.
    readCoordinateSeries(coordinate) {
        return this.#readSeries(`coordinate?coordinate=${coordinate}`);
    }

    readSensorSeries(value) {
        return this.#readSeries(`sensor?sensor=${value}`);
    }

    async readBodyState(moving, frame) {
        const key = `${moving} ${frame}`;
        if (!this.#exact.has(key)) {
            if (this.#exact.size > 4096) {
                this.#exact.clear();
            }
            this.#exact.set(key, new Float64Array(await this.carrier.ask(`body?body=${moving}&first=${frame}&count=1&stride=1`)));
        }
        return this.#exact.get(key);
    }

    forget() {
        this.#exact.clear();
    }

    async readContactSeries(body, first = this.firstFrame, end = this.frameCount) {
        const numbers = new Float64Array(await this.carrier.ask(`contacts?body=${body}&first=${first}&count=${end - first}`));
        const rows = [];
        for (let k = 0; k + contactWidth <= numbers.length; k += contactWidth) {
            const n = numbers.subarray(k, k + contactWidth);
            rows.push({
                frame: n[0], bodyA: n[1], bodyB: n[2], feature: `${n[4]}/${n[3]}`,
                point: [n[5], n[6], n[7]], normal: [n[8], n[9], n[10]], gap: n[11], normalImpulse: n[12],
                frictionImpulse: [n[13], n[14], n[15]], torsionalImpulse: n[16], slidingSpeed: n[17], state: n[18],
            });
        }
        return rows;
    }

    wait(after, version) {
        return this.carrier.wait(after, version);
    }

    command(order) {
        return this.carrier.command(order);
    }
}

// Rejects what cannot be a run.
export async function openSource() {
    const scripts = [...document.querySelectorAll('script[data-tippe]')];
    return scripts.length > 0 ? new FileSource(scripts) : new AskedSource(new ServerCarrier()).open();
}
