// Asks the playground's worker where the program's page asks its server.
//
//     const carrier = new WorkerCarrier();
//     await carrier.open({ 'a.json': text }, 'a.json');    throws a SceneProblem if the scene is wrong
//     new AskedSource(carrier)

import { Emitter } from './dom.js';

const pingEvery = 1000;  // ms
const slowAfter = 4000;  // ms without an answer, from which on it is told
const lostAfter = 60000; // ms, after which the worker is ended

// What the reader says of a scene: [{ file, line, column, words }].
export class SceneProblem extends Error {
    constructor(messages) {
        const problems = messages.map(readProblem);
        super(problems.map(({ line, words }) => (line > 0 ? `line ${line}: ${words}` : words)).join('\n'));
        this.problems = problems;
    }
}

export function readProblem(message) {
    const found = /^(?:.*\/)?([^/:]*):(\d+):(\d+): (.*)$/s.exec(message);
    return found ? { file: found[1], line: Number(found[2]), column: Number(found[3]), words: found[4] } : { file: '', line: 0, column: 0, words: message.replace(/^\/scene\//, '') };
}

const textOf = bytes => new TextDecoder().decode(bytes);

// Emits 'slow' when it does not answer, 'awake' when it does again, 'lost' when it was given up.
export class WorkerCarrier extends Emitter {
    #pending = new Map();
    #next = 1;

    // `heard` is what the worker said before.
    constructor(worker = new Worker('worker.js'), heard = []) {
        super();
        this.worker = worker;
        this.ready = new Promise((resolve, reject) => this.#pending.set(0, { resolve, reject }));
        this.ready.catch(() => {});
        this.worker.onmessage = ({ data }) => this.#take(data);
        this.worker.onerror = event => {
            event.preventDefault();
            this.end(`the worker came to an end${event.message ? `: ${event.message}` : ''}`);
        };
        this.heardAt = performance.now();
        heard.forEach(data => this.#take(data));
        this.pulse = setInterval(() => this.#ping(), pingEvery);
    }

    #take({ id, status, bytes, isLost }) {
        this.heardAt = performance.now();
        if (this.isSlow) {
            this.isSlow = false;
            this.emit('awake');
        }
        const waiting = this.#pending.get(id);
        this.#pending.delete(id);
        if (isLost) {
            waiting?.reject(new Error('the core came to an end: this scene may need more memory than a browser gives'));
            this.end('the core came to an end: this scene may need more memory than a browser gives');
            return;
        }
        waiting?.resolve({ status, bytes });
        if (id === 0 && status !== 200) {
            this.end(textOf(bytes));
        }
    }

    #ping() {
        const silence = performance.now() - Math.max(this.heardAt, this.askedAt ?? 0);
        if (!this.isPinging) {
            this.isPinging = true;
            this.askedAt = performance.now();
            this.#request('ping', {}).then(() => { this.isPinging = false; }, () => {});
        } else if (silence > slowAfter && !this.isSlow) {
            this.isSlow = true;
            this.emit('slow');
        }
        if (silence > lostAfter) {
            this.end('a step took longer than a minute: it was ended');
        }
    }

    #request(kind, more) {
        if (this.hasEnded) {
            return Promise.reject(new Error(this.hasEnded));
        }
        const id = this.#next++;
        const answer = new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
        this.worker.postMessage({ id, kind, ...more });
        return answer;
    }

    async #get(kind, more) {
        await this.ready;
        const { status, bytes } = await this.#request(kind, more);
        if (status >= 400) {
            const words = textOf(bytes);
            throw words.startsWith('{"errors"') ? new SceneProblem(JSON.parse(words).errors) : new Error(words.trim());
        }
        return bytes;
    }

    open(files, scene) {
        return this.#get('open', { files, scene });
    }

    check(files, scene) {
        return this.#get('check', { files, scene });
    }

    async hash(files, scene, steps, isAtOnce = false) {
        return textOf(await this.#get('hash', { files, scene, steps, isAtOnce }));
    }

    async memory() {
        return Number(textOf(await this.#get('memory', {})));
    }

    ask(path) {
        const [name, query = ''] = path.split('?');
        return this.#get('ask', { path: name, query });
    }

    async stream(path, take) {
        take(new Uint8Array(await this.ask(path)));
    }

    async wait(after, version) {
        return JSON.parse(textOf(await this.#get('wait', { after, version })));
    }

    async command(order) {
        this.emit('order', order);
        await this.#get('order', { order });
    }

    // Ends the worker, whatever it is at.
    end(reason = 'it was ended') {
        if (this.hasEnded) {
            return;
        }
        this.hasEnded = reason;
        clearInterval(this.pulse);
        this.worker.terminate();
        this.#pending.forEach(({ reject }) => reject(new Error(reason)));
        this.#pending.clear();
        this.emit('lost', reason);
    }
}
