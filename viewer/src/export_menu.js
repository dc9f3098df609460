// Pictures, videos and tables of what the page shows, as files.

import { element, icon } from './dom.js';
import { withLength } from './webm.js';

const mostRows = 200000; // of a table

function save(blob, name) {
    const link = element('a', { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const fileName = run => (run.head.name || 'run').toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^_|_$/g, '') || 'run';

// The table of `tippe run --csv`: its columns, its digits.
export async function makeTable(run) {
    const moving = run.model.bodyOfMoving.map(body => run.head.bodies[body]);
    const parts = ['x', 'y', 'z', 'qw', 'qx', 'qy', 'qz', 'vx', 'vy', 'vz', 'wx', 'wy', 'wz'];
    const series = await Promise.all(run.model.bodyOfMoving.map(body => run.bodySeries(body)));
    const { first = 0, stride = 1, data } = series[0] ?? { data: new Float64Array(0) };
    const rows = Math.min(mostRows, Math.floor(data.length / 13));
    const lines = [['time', ...moving.flatMap(body => parts.map(part => `${body.name}.${part}`))].join(',')];
    for (let k = 0; k < rows; ++k) {
        lines.push([run.timeOf(first + k * stride), ...series.flatMap(one => Array.from(one.data.subarray(13 * k, 13 * k + 13)))].join(','));
    }
    return `${lines.join('\n')}\n`;
}

export class ExportMenu {
    constructor(page) {
        this.page = page;
        this.list = element('div.menu', { role: 'menu', hidden: true },
            this.#item('Picture (PNG)', () => this.savePicture()),
            this.videoItem = this.#item('Video (WebM): start', () => this.toggleVideo()),
            this.#item('Table of states (CSV)', () => this.saveTable()));
        this.button = element('button.icon', { type: 'button', title: 'Save a picture, a video or a table', 'aria-label': 'Save', 'aria-haspopup': 'menu', 'aria-expanded': 'false', onclick: () => this.#toggle() }, icon('save'));
        this.root = element('div.menu-box', {}, this.button, this.list);
        addEventListener('pointerdown', event => !this.root.contains(event.target) && this.#toggle(false), { signal: page.ending.signal });
    }

    #item(title, action) {
        return element('button', { type: 'button', role: 'menuitem', onclick: () => { this.#toggle(false); action(); } }, title);
    }

    #toggle(to = this.list.hidden) {
        this.list.hidden = !to;
        this.button.setAttribute('aria-expanded', to ? 'true' : 'false');
    }

    savePicture() {
        const { stage, run } = this.page;
        stage.invalidate();
        stage.draw(); // what is read has to be drawn in the same turn
        stage.renderer.domElement.toBlob(blob => blob && save(blob, `${fileName(run)}.png`), 'image/png');
    }

    toggleVideo() {
        if (this.recorder) {
            this.recorder.stop();
            return;
        }
        const type = ['video/webm;codecs=vp9', 'video/webm', 'video/mp4'].find(one => globalThis.MediaRecorder?.isTypeSupported(one));
        if (!type) {
            this.page.tell('This browser records no videos.');
            return;
        }
        const pieces = [], begun = performance.now();
        this.recorder = new MediaRecorder(this.page.stage.renderer.domElement.captureStream(60), { mimeType: type, videoBitsPerSecond: 8e6 });
        this.recorder.ondataavailable = ({ data }) => pieces.push(data);
        this.recorder.onstop = async () => {
            const seconds = (performance.now() - begun) / 1000;
            this.recorder = null;
            this.videoItem.textContent = 'Video (WebM): start';
            this.button.classList.remove('recording');
            const bytes = new Uint8Array(await new Blob(pieces).arrayBuffer());
            save(new Blob([withLength(bytes, seconds)], { type }), `${fileName(this.page.run)}.${type.includes('mp4') ? 'mp4' : 'webm'}`);
        };
        this.recorder.start(250);
        this.videoItem.textContent = 'Video: stop and save';
        this.button.classList.add('recording');
    }

    async saveTable() {
        save(new Blob([await makeTable(this.page.run)], { type: 'text/csv' }), `${fileName(this.page.run)}.csv`);
    }
}
