// The playground in a browser: the core's bits, what one does there, links, broken and hostile scenes, lessons.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import test, { after } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { closePage, findBarriers, openPage, scenes, screenshots, until } from './support.mjs';

const site = process.env.TIPPE_SITE;
if (!site || !existsSync(join(site, 'index.html'))) {
    console.log('skipped: make playground has not been called');
    process.exit(77);
}

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json', '.jpg': 'image/jpeg' };
const server = createServer((request, response) => {
    const path = new URL(request.url, 'http://here').pathname, file = join(site, path === '/' ? 'index.html' : path);
    if (!existsSync(file) || !statSync(file).isFile()) {
        response.writeHead(404).end();
        return;
    }
    response.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'text/plain' }).end(readFileSync(file));
}).listen(0, '127.0.0.1');
await new Promise(resolve => server.once('listening', resolve));
after(() => server.close());
const address = path => `http://127.0.0.1:${server.address().port}/${path}`;

const isLong = process.env.TIPPE_LONG === '1';
// A thousand steps of these take longer than all others together.
const slow = ['brick_wall', 'coins', 'marbles_spheres', 'discs66', 'bottle', 'euler_disc', 'thrust_bearing', 'stack40', 'lens', 'rattleback', 'rattleback_symmetric', 'disc_pyramid'];

test('it is small', () => {
    const walk = folder => readdirSync(folder, { withFileTypes: true }).flatMap(entry => (entry.isDirectory() ? walk(join(folder, entry.name)) : [join(folder, entry.name)]));
    const size = walk(site).reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
    console.log(`# ${(size / 1e6).toFixed(2)} MB compressed`);
    assert.ok(size < 4e6);
});

// Processor time of the browser, all its processes together, in seconds; other programs on the machine do not change it much.
async function processorTime(page) {
    const session = await page.context().browser().newBrowserCDPSession();
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    await session.detach();
    return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

test('a body moves soon', async () => {
    const page = await openPage(address(''), { width: 1280, height: 800 });
    await until(page, () => globalThis.tippe.player.frame > 1);
    const moved = await page.evaluate(() => performance.now());
    console.log(`# a body moves ${(moved / 1000).toFixed(2)} s after the address was opened; the browser has taken ${(await processorTime(page)).toFixed(2)} s of processor time`);
    await closePage(page);
});

test('a worker that is ready before the page is heard', async () => {
    await closePage(await openPage(address('#scene=falling_rod'), { late: '**/playground.js' }));
});

// What is in use once what is not has been collected: the page's objects and arrays in MB, those of the core, nodes, and what is on the graphics card.
async function inUse(page, session) {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize, backingStorageSize = 0 } = await session.send('Runtime.getHeapUsage'), { nodes } = await session.send('Memory.getDOMCounters');
    const more = await page.evaluate(async () => ({
        first: globalThis.tippe.run.firstFrame, last: globalThis.tippe.run.lastFrame, core: (await globalThis.playground.carrier.memory()) / 1e6,
        drawn: Object.values(globalThis.tippe.stage.renderer.info.memory).reduce((sum, count) => sum + count),
    }));
    return { heap: (usedSize + backingStorageSize) / 1e6, nodes, ...more };
}

// TIPPE_LONG=1 runs for ten minutes; else for as long as it takes to forget the first frames.
test('memory stays level', { timeout: 900000 }, async () => {
    const page = await openPage(address('#scene=cradle'), { width: 800, height: 600 }), session = await page.context().newCDPSession(page);
    // The scene has an end; the run goes on beyond it. Frames are short, so that many come.
    await page.evaluate(() => {
        globalThis.tippe.live.send({ speed: 100 });
        setInterval(() => globalThis.tippe.live.status.running || globalThis.tippe.live.send({ running: true }), 200);
    });
    const minutes = isLong ? 10 : 0, seen = [];
    for (let k = 0; k <= 2 * minutes || seen.length < 2; ++k) {
        await page.waitForTimeout(isLong ? 30000 : 2000);
        seen.push(await inUse(page, session));
        const { first, last, heap, core, nodes, drawn } = seen.at(-1);
        console.log(`# frames ${first} to ${last}, page ${heap.toFixed(0)} MB, core ${core.toFixed(0)} MB, ${nodes} nodes, ${drawn} things drawn`);
    }
    const [middle, end] = [seen[Math.floor((seen.length - 1) / 2)], seen.at(-1)];
    assert.ok(end.last > middle.last);
    assert.ok(end.core <= 400 && end.heap <= 200, 'the bounds of docs/playground.md');
    if (isLong) {
        assert.ok(end.core <= 1.1 * middle.core + 5 && end.heap <= 1.1 * middle.heap + 5, 'it still grows after five minutes');
        assert.ok(end.nodes <= 1.2 * middle.nodes + 200 && end.drawn <= middle.drawn + 5, 'nodes or pictures pile up');
    }
    await closePage(page);
});

test('the same bits as the program', { timeout: 1700000 }, async () => {
    const page = await openPage(address('#scene=falling_rod'));
    const list = JSON.parse(readFileSync(join(site, 'scenes.json'), 'utf8'));
    assert.ok(list.length > 45);
    let compared = 0;
    for (const { file: name, files: meshes } of list) {
        const steps = slow.includes(name) && !isLong ? 60 : 1000;
        const path = [join(scenes, `${name}.json`), join(scenes, 'rattleback', `${name}.json`)].find(existsSync);
        const { stdout } = await promisify(execFile)(process.env.TIPPE_SCENE_HASH, [String(steps), path]);
        const here = await page.evaluate(async ([scene, count, others]) => {
            const files = {};
            for (const file of [`${scene}.json`, ...others]) {
                files[file] = new Uint8Array(await (await fetch(`scenes/${file}`)).arrayBuffer());
            }
            globalThis.other ??= new globalThis.playground.carrier.constructor();
            return globalThis.other.hash(files, `${scene}.json`, count);
        }, [name, steps, meshes]);
        assert.match(here, /^[0-9a-f]{16}$/, name);
        assert.equal(here, stdout.trim(), name);
        compared += 1;
    }
    console.log(`# ${compared} scenes`);
    await closePage(page);
});

test('one plays', async t => {
    const page = await openPage(address('#scene=block_ramp&stepper=anitescu&step=0.01'), { width: 1200, height: 760 });
    await until(page, () => globalThis.tippe.run.lastFrame > 10 && globalThis.tippe.run.stepper === 'anitescu' && globalThis.tippe.run.step === 0.01);

    await t.test('a slider changes the run that goes on', async () => {
        const speed = () => page.evaluate(async () => {
            const { run } = globalThis.tippe;
            return Math.hypot(...(await run.source.readBodyState(0, run.lastFrame)).slice(7, 10));
        });
        assert.ok(await speed() < 1e-9);
        await page.evaluate(() => globalThis.tippe.showTab('change'));
        await page.locator('#panel-change input[aria-label="friction"]').fill('0.05');
        await until(page, async () => {
            const { run } = globalThis.tippe;
            return Math.hypot(...(await run.source.readBodyState(0, run.lastFrame)).slice(7, 10)) > 0.3;
        });
    });

    await t.test('goes on from the past', async () => {
        await page.click('.play');
        await until(page, () => !globalThis.tippe.live.status.running);
        await page.evaluate(() => globalThis.tippe.player.seek(5, { pause: true }));
        await until(page, () => document.getElementById('app').dataset.frame === '5');
        await page.locator('.stage-box canvas').first().focus();
        await page.keyboard.press('b');
        await until(page, () => globalThis.tippe.run.lastFrame === 5);
    });

    await t.test('two steppers side by side', async () => {
        await page.click('button[title="Two steppers side by side"]');
        await page.waitForSelector('.twin-label select');
        await page.selectOption('.twin-label select', 'penalty');
        await until(page, () => globalThis.playground.twin?.isReady && globalThis.playground.twin.stepper === 'penalty');
        await until(page, () => globalThis.playground.twin.apart.size > 10 && globalThis.playground.twin.epoch === globalThis.tippe.live.status.epoch);
        // Both slide down with the same friction: what the sliders were set to is told to both. A frame may be gone by the time it is asked for.
        const [first, second] = await until(page, async () => {
            const { twin, page: one } = globalThis.playground, time = Math.min(twin.run.timeOf(twin.run.lastFrame), one.run.timeOf(one.run.lastFrame));
            const at = async run => Math.hypot(...(await run.source.readBodyState(0, run.frameAt(time))).slice(7, 10));
            try {
                return time > 0.1 && [await at(one.run), await at(twin.run)];
            } catch {
                return false;
            }
        });
        assert.ok(first > 0.01 && Math.abs(first - second) < 0.2 * first + 0.05, `${first} ${second}`);
        await page.waitForTimeout(500);
        await page.screenshot({ path: join(screenshots, 'playground_twin.png') });
    });

    await t.test('a link opens the same in a fresh browser', async () => {
        const hash = await page.evaluate(() => globalThis.playground.link());
        const other = await openPage(address(hash), { width: 390, height: 800, touch: true });
        await until(other, () => globalThis.playground.twin?.isReady);
        const there = await other.evaluate(() => ({ stepper: globalThis.tippe.run.stepper, step: globalThis.tippe.run.step, twin: globalThis.playground.twin.stepper, name: globalThis.playground.opened.name }));
        assert.deepEqual(there, { stepper: 'anitescu', step: 0.01, twin: 'penalty', name: 'block_ramp' });
        await until(other, () => globalThis.tippe.run.source.readSettings().then(({ values }) => values.some(([friction]) => Math.abs(friction - 0.08) < 0.011)));
        await other.screenshot({ path: join(screenshots, 'playground_phone.png') });
        await closePage(other);
    });
    await closePage(page);
});

test('scenes are edited, and mistakes are marked', async () => {
    const page = await openPage(address('#scene=falling_rod'), { width: 1200, height: 760 });
    await page.evaluate(() => globalThis.tippe.showTab('scene'));
    const write = text => page.evaluate(words => {
        const { view } = globalThis.playground.editor;
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: words } });
    }, text);
    const good = await page.evaluate(() => globalThis.playground.editor.text);
    await write(good.replace('"mass"', '"maß"'));
    await page.waitForSelector('.problems li');
    assert.match(await page.textContent('.problems li'), /^10:\d+ unknown key "maß"/);
    assert.equal(await page.locator('.cm-lintRange-error').count(), 1);
    assert.equal(await page.locator('.editor .primary').isDisabled(), true);
    await page.screenshot({ path: join(screenshots, 'playground_editor.png') });
    await write(good.replace('"friction": 0.6', '"friction": 0.25'));
    await page.waitForFunction(() => document.querySelectorAll('.problems li').length === 0);
    await page.click('.editor .primary');
    await until(page, () => globalThis.tippe.run.head.settings?.values.some(([friction]) => friction === 0.25));
    // Another tab's link to what was written.
    const hash = await page.evaluate(() => globalThis.playground.link());
    const other = await openPage(address(hash));
    assert.match(await other.evaluate(() => globalThis.playground.editor.text), /"friction": 0.25/);
    await closePage(other);
    await closePage(page);
});

test('broken and hostile input is told, and the page goes on', async () => {
    const page = await openPage(address('#scene=falling_rod'), { width: 1000, height: 700 });
    const said = async words => {
        await until(page, pattern => new RegExp(pattern).test(document.querySelector('.message')?.textContent ?? ''), words);
        await page.evaluate(() => document.querySelector('.message').remove());
    };
    const drop = (name, text) => page.evaluate(([file, words]) => {
        const data = new DataTransfer();
        data.items.add(new File([words], file));
        dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true }));
    }, [name, text]);
    await drop('a.txt', 'hello');
    await said('ends in .json');
    await drop('a.json', '{ "tippe": 1, ');
    await said('line 1');
    const bodies = Array.from({ length: 20001 }, (_, k) => ({ name: `b${k}`, mass: 1, inertia: [1, 1, 1], shapes: [{ type: 'sphere', radius: 0.1 }], position: [k, 0, 0] }));
    await drop('many.json', JSON.stringify({ tippe: 1, bodies, simulation: { stepper: 'anitescu', step: 0.01, until: 1 } }));
    await said('up to 20000 bodies');
    for (const hash of ['#1zzzz', '#scene=nowhere', '#1']) {
        await page.evaluate(words => { location.hash = words; }, hash);
        await said('damaged|no scene');
    }
    assert.equal(await page.evaluate(() => globalThis.tippe.run.head.name), 'Falling rod');

    // Work without end in the worker: the page says so, ends it and starts the scene anew.
    await page.evaluate(() => { globalThis.playground.carrier.hash(globalThis.playground.opened.files, globalThis.playground.opened.scene, 1e9, true).catch(() => {}); });
    await page.waitForSelector('.message button.plain');
    await page.click('.message button.plain');
    await said('the step was stopped');
    await until(page, () => globalThis.tippe.run.lastFrame === 0);
    await page.keyboard.press('Escape');
    await page.click('.play');
    await until(page, () => globalThis.tippe.run.lastFrame > 5);
    await closePage(page);
});

test('pictures, videos and tables are files', async t => {
    const page = await openPage(address('#scene=cradle'), { width: 700, height: 560 });
    await until(page, () => globalThis.tippe.run.lastFrame > 20);
    const choose = async words => {
        await page.click('button[aria-label="Save"]');
        await page.click(`.menu button:has-text("${words}")`);
    };
    const saved = async words => {
        const coming = page.waitForEvent('download');
        await choose(words);
        const download = await coming;
        return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
    };

    await t.test('a picture', async () => {
        const { name, bytes } = await saved('Picture');
        assert.equal(name, 'newton_s_cradle.png');
        assert.equal(bytes.toString('latin1', 1, 4), 'PNG');
        assert.ok(bytes.readUInt32BE(16) >= 200 && bytes.length > 5000);
    });

    await t.test('a video that has a length and plays', async () => {
        await page.keyboard.press('r');
        await choose('Video');
        await page.waitForTimeout(2500);
        const { name, bytes } = await saved('stop and save');
        assert.match(name, /^newton_s_cradle\.(webm|mp4)$/);
        // In a player: the length, other pictures at other times, and the end.
        const seen = await page.evaluate(async text => {
            const video = document.createElement('video'), data = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
            const heard = what => new Promise((resolve, reject) => { video.addEventListener(what, resolve, { once: true }); video.addEventListener('error', () => reject(new Error(video.error.message)), { once: true }); });
            video.muted = true;
            video.src = URL.createObjectURL(new Blob([data], { type: 'video/webm' }));
            await heard('loadeddata');
            const length = video.duration, looks = [];
            for (const share of [0.2, 0.35, 0.5, 0.65]) {
                const isThere = heard('seeked');
                video.currentTime = share * length;
                await isThere;
                const canvas = document.createElement('canvas'), context = canvas.getContext('2d');
                [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
                context.drawImage(video, 0, 0);
                looks.push(context.getImageData(0, 0, canvas.width, canvas.height).data);
            }
            const differences = looks.map(look => look.reduce((sum, value, k) => sum + (Math.abs(value - looks[0][k]) > 40 ? 1 : 0), 0));
            video.playbackRate = 4;
            video.play();
            await heard('ended');
            return { length, end: video.currentTime, width: video.videoWidth, changed: Math.max(...differences) };
        }, bytes.toString('base64'));
        console.log(`# ${name}: ${(bytes.length / 1e3).toFixed(0)} kB, ${seen.length.toFixed(2)} s, ${seen.changed} colours changed`);
        assert.ok(seen.length > 2 && seen.length < 20 && seen.end > 1, JSON.stringify(seen));
        assert.ok(seen.width > 200 && seen.changed > 200, 'nothing moves in it');
    });

    await t.test('a table', async () => {
        await page.evaluate(() => globalThis.tippe.live.hold());
        await until(page, () => !globalThis.tippe.live.status.running);
        const { name, bytes } = await saved('Table');
        assert.equal(name, 'newton_s_cradle.csv');
        const [head, ...rows] = bytes.toString().trim().split('\n').map(line => line.split(','));
        assert.equal(head[0], 'time');
        assert.equal(rows.length, await page.evaluate(() => globalThis.tippe.run.lastFrame - globalThis.tippe.run.firstFrame + 1));
        assert.ok(rows.every(row => row.length === head.length && row.every(cell => Number.isFinite(Number(cell)))));
    });
    await closePage(page);
});

test('a body is dragged, by the mouse and while the run stands', async () => {
    const page = await openPage(address('#scene=card_house'), { width: 1000, height: 700 });
    await until(page, () => globalThis.tippe.run.lastFrame > 10);
    await page.click('.play');
    await until(page, () => !globalThis.tippe.live.status.running);
    const before = await page.evaluate(() => Array.from(globalThis.tippe.run.model.placements));
    const at = await page.evaluate(() => globalThis.tippe.stage.project(globalThis.tippe.run.model.positionOf(globalThis.tippe.run.model.bodyOfMoving.at(-1))));
    const box = await page.locator('.stage-box').boundingBox();
    await page.mouse.move(box.x + at.x, box.y + at.y);
    await page.mouse.down();
    await page.mouse.move(box.x + at.x + 90, box.y + at.y - 60, { steps: 8 });
    await until(page, old => globalThis.tippe.live.status.running && globalThis.tippe.run.model.placements.some((value, k) => Math.abs(value - old[k]) > 0.01), before);
    await page.mouse.up();
    await closePage(page);
});

// Whoever reads by ear or by keyboard: in each tab and each dialog, in the light and in the dark.
test('nothing keeps anybody out', async t => {
    await t.test('the playground', async () => {
        const page = await openPage(address('#scene=card_house'), { width: 1200, height: 760 });
        await until(page, () => globalThis.tippe.run.lastFrame > 10);
        await page.emulateMedia({ reducedMotion: 'reduce' }); // colours change at once
        await page.click('.play');
        for (const scheme of ['light', 'dark']) {
            for (const tab of ['plots', 'bodies', 'contacts', 'law', 'run', 'change', 'scene']) {
                await page.evaluate(name => globalThis.tippe.showTab(name), tab);
                await page.waitForTimeout(100);
                assert.deepEqual(await findBarriers(page), [], `${tab}, ${scheme}`);
            }
            for (const name of ['Scenes', 'button[title="A link to this"]', 'button[title^="Keyboard"]', 'button[aria-label="Save"]', 'button[title="Two steppers side by side"]']) {
                await page.click(name.startsWith('button') ? name : `button:has-text("${name}")`);
                await page.waitForTimeout(200);
                assert.deepEqual(await findBarriers(page), [], `${name}, ${scheme}`);
                await page.keyboard.press('Escape');
                await page.evaluate(() => document.querySelectorAll('.help, .message').forEach(node => node.remove()));
            }
            await page.click('button[title="Two steppers side by side"]');
            await page.click('button[title^="Light or dark"]');
        }
        await closePage(page);
    });
    for (const [path, size] of [['lesson-cone.html', { width: 1200, height: 760 }], ['lesson-bounce.html', { width: 390, height: 844, touch: true }], ['lessons.html', { width: 390, height: 844, touch: true, ready: 'main' }]]) {
        await t.test(path, async () => {
            const page = await openPage(address(path), size);
            await page.waitForTimeout(500);
            assert.deepEqual(await findBarriers(page), []);
            await closePage(page);
        });
    }
});

test('a phone has eight lessons', async t => {
    const ids = readdirSync(site).map(file => /^lesson-(.*)\.html$/.exec(file)?.[1]).filter(Boolean);
    assert.equal(ids.length, 8);
    for (const id of ids) {
        await t.test(id, async () => {
            const page = await openPage(address(`lesson-${id}.html`), { width: 390, height: 844, touch: true });
            await until(page, () => document.querySelectorAll('.measure tbody tr').length > 1);
            await until(page, () => [...document.querySelectorAll('.measure tbody td:last-child')].some(cell => /\d/.test(cell.textContent)));
            assert.ok(await page.locator('.lesson input[type=range]').count() >= 2);
            const narrow = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
            assert.ok(narrow, 'it is wider than the phone');
            await page.screenshot({ path: join(screenshots, `lesson_${id}.png`) });
            await closePage(page);
        });
    }
});

// What the lessons say is known is what their runs give.
test('known answers', async () => {
    const page = await openPage(address('lesson-slope.html'));
    await page.click('.presets button:nth-child(2)');
    await until(page, () => globalThis.playground.editor.text.includes('"degrees": 27') && globalThis.tippe.run.lastFrame > 50);
    const rate = await page.evaluate(async () => {
        const { run } = globalThis.tippe, frame = run.lastFrame;
        return Math.hypot(...(await run.source.readBodyState(0, frame)).slice(7, 10)) / run.timeOf(frame);
    });
    const a = 27 * Math.PI / 180;
    assert.ok(Math.abs(rate - 9.81 * (Math.sin(a) - 0.5 * Math.cos(a))) < 1e-6, `${rate}`);
    await closePage(page);
});

test('known answers stand beside what the runs give', async () => {
    for (const [id, ...names] of [['rod', 'touches after', 'spin after the impact'], ['bounce', 'first impact after', 'height of the first bounce'], ['cone', 'normal force', 'friction'], ['stack', 'force on the floor']]) {
        const page = await openPage(address(`lesson-${id}.html`));
        for (const name of names) {
            const words = await until(page, wanted => {
                const row = [...document.querySelectorAll('.measure tbody tr')].find(one => one.children[0].textContent === wanted);
                const [known, now] = row ? [1, 2].map(k => row.children[k].textContent) : [];
                return now && /[1-9]/.test(now) && globalThis.tippe.run.lastFrame > 3 ? [known, now] : false;
            }, name);
            const [known, now] = words.map(word => [Number.parseFloat(word.replace('−', '-')), word.replace(/^[−\d. ]+/, '')]);
            assert.equal(now[1], known[1], `${id}, ${name}`);
            assert.ok(Math.abs(now[0] - known[0]) < 0.01 * Math.abs(known[0]), `${id}, ${name}: ${known[0]} and ${now[0]}`);
        }
        await closePage(page);
    }
});
