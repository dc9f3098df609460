// The playground in a browser: the core's bits, what one does there, links, broken and hostile scenes, lessons.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import test, { after } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { closePage, openPage, scenes, screenshots } from './support.mjs';

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

const until = (page, condition, ...more) => page.waitForFunction(condition, ...more);
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
    await until(page, () => globalThis.tippe.player.frame > 1, null, { polling: 20 });
    const moved = await page.evaluate(() => performance.now());
    console.log(`# a body moves ${(moved / 1000).toFixed(2)} s after the address was opened; the browser has taken ${(await processorTime(page)).toFixed(2)} s of processor time`);
    await closePage(page);
});

test('a worker that is ready before the page is heard', async () => {
    await closePage(await openPage(address('#scene=falling_rod'), { late: '**/playground.js' }));
});

// TIPPE_LONG=1 runs for ten minutes; else for as long as it takes to forget the first frames.
test('memory stays level', { timeout: 900000 }, async () => {
    const page = await openPage(address('#scene=cradle'), { width: 800, height: 600 });
    // The scene has an end; the run goes on beyond it. Frames are short, so that many come.
    await page.evaluate(() => {
        globalThis.tippe.live.send({ speed: 100 });
        setInterval(() => globalThis.tippe.live.status.running || globalThis.tippe.live.send({ running: true }), 200);
    });
    const look = () => page.evaluate(async () => ({
        first: globalThis.tippe.run.firstFrame, last: globalThis.tippe.run.lastFrame, heap: performance.memory.usedJSHeapSize / 1e6,
        core: (await globalThis.playground.carrier.memory()) / 1e6,
    }));
    const minutes = isLong ? 10 : 0, seen = [];
    for (let k = 0; k <= 2 * minutes || seen.length < 2; ++k) {
        await page.waitForTimeout(isLong ? 30000 : 2000);
        seen.push(await look());
        const { first, last, heap, core } = seen.at(-1);
        console.log(`# frames ${first} to ${last}, page ${heap.toFixed(0)} MB, core ${core.toFixed(0)} MB`);
    }
    const [middle, end] = [seen[Math.floor((seen.length - 1) / 2)], seen.at(-1)];
    assert.ok(end.last > middle.last);
    assert.ok(end.core <= 400 && end.heap <= 500, 'the bounds of docs/playground.md');
    if (isLong) {
        assert.ok(end.core <= 1.1 * middle.core + 5 && end.heap <= 1.3 * middle.heap + 30, 'it still grows after five minutes');
    }
    await closePage(page);
});

test('the same bits as the program', { timeout: 880000 }, async () => {
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
        const handle = await until(page, async () => {
            const { twin, page: one } = globalThis.playground, time = Math.min(twin.run.timeOf(twin.run.lastFrame), one.run.timeOf(one.run.lastFrame));
            const at = async run => Math.hypot(...(await run.source.readBodyState(0, run.frameAt(time))).slice(7, 10));
            try {
                return time > 0.1 && [await at(one.run), await at(twin.run)];
            } catch {
                return false;
            }
        });
        const [first, second] = await handle.jsonValue();
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
            const handle = await until(page, wanted => {
                const row = [...document.querySelectorAll('.measure tbody tr')].find(one => one.children[0].textContent === wanted);
                const [known, now] = row ? [1, 2].map(k => row.children[k].textContent) : [];
                return now && /[1-9]/.test(now) && globalThis.tippe.run.lastFrame > 3 ? [known, now] : false;
            }, name);
            const [known, now] = (await handle.jsonValue()).map(words => [Number.parseFloat(words.replace('−', '-')), words.replace(/^[−\d. ]+/, '')]);
            assert.equal(now[1], known[1], `${id}, ${name}`);
            assert.ok(Math.abs(now[0] - known[0]) < 0.01 * Math.abs(known[0]), `${id}, ${name}: ${known[0]} and ${now[0]}`);
        }
        await closePage(page);
    }
});
