// The pictures of the gallery, from runs in the playground. Usage: TIPPE_... TIPPE_SITE=build/playground node pictures.mjs SOURCE_DIRECTORY [NAME...]
// (make pictures). Writes viewer/playground/pictures/NAME.jpg of every scene and lesson, and docs/figures/moving/NAME.webp of some.

import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { openPage } from './support.mjs';

const [, , source, ...wanted] = process.argv;
const site = process.env.TIPPE_SITE, stills = join(source, 'viewer/playground/pictures'), moving = join(source, 'docs/figures/moving');
const width = 320, height = 200, rate = 12; // pictures a second

// Seconds that are shown; the others have a still picture after some.
const films = { tippe_top: 3, card_house: 1.2, cradle: 2.4, brick_wall: 1.6, rattleback: 5, falling_rod: 0.9, coins: 2.5, chain: 2.4, double_pendulum: 3, t_handle: 4, bouncing_ball: 2, stack10: 1, painleve_rod: 0.5, door: 3, heavy_top: 3, four_bar: 2.5, office_toy_1: 2, discs66: 1.5 };
const stillAt = 0.6; // s, or where it is at its end
const startsBest = ['tippe_top']; // the still is of the start

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json' };
const server = createServer((request, response) => {
    const path = new URL(request.url, 'http://here').pathname, file = join(site, path === '/' ? 'index.html' : path);
    try {
        statSync(file);
        response.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'application/octet-stream' }).end(readFileSync(file));
    } catch {
        response.writeHead(404).end();
    }
}).listen(0, '127.0.0.1');
await new Promise(resolve => server.once('listening', resolve));
const address = path => `http://127.0.0.1:${server.address().port}/${path}`;

// Pictures of WebP, one after the other in one file.
function film(pictures, duration) {
    const chunk = (name, data) => {
        const head = Buffer.alloc(8);
        head.write(name, 'latin1');
        head.writeUInt32LE(data.length, 4);
        return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
    };
    const size = Buffer.alloc(10);
    size[0] = 2;
    size.writeUIntLE(width - 1, 4, 3);
    size.writeUIntLE(height - 1, 7, 3);
    const frames = pictures.map(picture => {
        let at = 12;
        while (picture.toString('latin1', at, at + 4) !== 'VP8 ') {
            at += 8 + picture.readUInt32LE(at + 4) + picture.readUInt32LE(at + 4) % 2;
        }
        const place = Buffer.alloc(16);
        place.writeUIntLE(width - 1, 6, 3);
        place.writeUIntLE(height - 1, 9, 3);
        place.writeUIntLE(duration, 12, 3);
        return chunk('ANMF', Buffer.concat([place, picture.subarray(at, at + 8 + picture.readUInt32LE(at + 4) + picture.readUInt32LE(at + 4) % 2)]));
    });
    const body = Buffer.concat([Buffer.from('WEBP'), chunk('VP8X', size), chunk('ANIM', Buffer.alloc(6)), ...frames]);
    return chunk('RIFF', body);
}

const bytesOf = address_ => Buffer.from(address_.split(',')[1], 'base64');

// The stage alone, twice as large as the picture: made smaller, edges are smooth. Lessons keep their forces.
const prepare = (page, withForces = false) => page.evaluate(([w, h, isLesson]) => {
    const { stagePart, stage, arrows } = globalThis.tippe;
    Object.assign(stagePart.style, { position: 'fixed', left: '0', top: '0', width: `${2 * w}px`, height: `${2 * h}px`, zIndex: 9 });
    arrows.showsPoints = arrows.showsForces = isLesson;
    arrows.refresh();
    stage.quality.tick = () => {};
    stage.renderer.setPixelRatio(1);
}, [width, height, withForces]);

const takePictures = (page, frames, type, quality) => page.evaluate(async ([list, kind, q, w, h]) => {
    const { stage, player } = globalThis.tippe, canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [w, h];
    const context = canvas.getContext('2d'), found = [];
    context.imageSmoothingQuality = 'high';
    for (const frame of list) {
        player.seek(frame, { pause: true });
        for (let k = 0; k < 200 && player.view?.frame !== frame; ++k) {
            await new Promise(resolve => setTimeout(resolve, 20));
        }
        stage.renderer.setPixelRatio(1);
        stage.invalidate();
        stage.draw();
        // The middle of it, should the stage not have the form of the picture yet.
        const drawn = stage.renderer.domElement, across = Math.min(drawn.width, drawn.height * w / h), up = across * h / w;
        context.drawImage(drawn, (drawn.width - across) / 2, (drawn.height - up) / 2, across, up, 0, 0, w, h);
        found.push(canvas.toDataURL(kind, q));
    }
    return found;
}, [frames, type, quality, width, height]);

// Before the camera has seen where things go.
async function pictureOfStart() {
    await page.waitForFunction(() => globalThis.tippe.player.view?.frame >= 0);
    await prepare(page);
    await page.waitForTimeout(700);
    return (await takePictures(page, [0], 'image/jpeg', 0.82))[0];
}

[stills, moving].forEach(folder => mkdirSync(folder, { recursive: true }));
const page = await openPage(address('#scene=falling_rod'), { width: 1100, height: 700 });
const list = JSON.parse(readFileSync(join(site, 'scenes.json'), 'utf8')).map(({ file }) => file).filter(file => wanted.length === 0 || wanted.includes(file));
for (const name of list) {
    try {
        const seconds = films[name] ?? stillAt;
        await page.evaluate(scene => globalThis.playground.openNamed(scene, { begins: false }), name);
        const start = startsBest.includes(name) ? await pictureOfStart() : null;
        await page.evaluate(until => globalThis.tippe.live.send({ steps: Math.min(10000, Math.ceil(until / globalThis.tippe.run.step)) }), seconds);
        await page.waitForFunction(until => globalThis.tippe.run.timeOf(globalThis.tippe.run.lastFrame) > until - 2 * globalThis.tippe.run.step, seconds, { timeout: 240000 });
        await prepare(page);
        await page.waitForTimeout(700);
        const count = Math.max(1, Math.round(seconds * rate));
        const frames = await page.evaluate(([n, until]) => Array.from({ length: n }, (_, k) => globalThis.tippe.run.frameAt(k / n * until)), [count, seconds]);
        // The camera sees all of it from the start.
        await takePictures(page, frames.filter((_, k) => k % 4 === 0), 'image/jpeg', 0.5);
        await page.waitForTimeout(1500);
        const [still] = await takePictures(page, [frames[Math.floor(frames.length * 0.6)]], 'image/jpeg', 0.82);
        writeFileSync(join(stills, `${name}.jpg`), bytesOf(start ?? still));
        if (films[name]) {
            const pictures = await takePictures(page, frames, 'image/webp', 0.6);
            writeFileSync(join(moving, `${name}.webp`), film(pictures.map(bytesOf), Math.round(1000 / rate)));
        }
        console.log(name);
    } catch (error) {
        console.log(`${name}: ${error.message.split('\n')[0]}`);
    }
}
const lessonShares = { rod: 0.3, painleve: 0.2, top: 0 }; // of the run, where the picture is taken, from near; half of it otherwise
for (const id of ['cone', 'slope', 'rod', 'painleve', 'pyramid', 'bounce', 'top', 'stack'].filter(one => wanted.length === 0 || wanted.includes(`lesson_${one}`))) {
    await page.goto(address(`lesson-${id}.html`));
    await page.waitForFunction(() => globalThis.tippe?.run.lastFrame > 20, null, { timeout: 120000 });
    await page.waitForTimeout(1500);
    await page.evaluate(() => globalThis.tippe.live.send({ running: false }));
    await prepare(page, true);
    const frame = await page.evaluate(share => Math.floor(share * globalThis.tippe.run.lastFrame), lessonShares[id] ?? 0.5);
    await takePictures(page, [frame], 'image/jpeg', 0.5);
    await page.evaluate(isNear => isNear && globalThis.tippe.stage.director.reset(), id in lessonShares);
    await page.waitForTimeout(1500);
    const [still] = await takePictures(page, [frame], 'image/jpeg', 0.82);
    writeFileSync(join(stills, `lesson_${id}.jpg`), bytesOf(still));
    console.log(`lesson_${id}`);
}
await page.context().browser().close();
server.close();
