// The page of tippe export --html, without a network: what it shows is what the recording holds.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { closePage, columns, findBarriers, frameOf, inPlace, meaningOf, openPage, readTable, screenshots, seek, serve, shownState, tippe, tryTippe, waitForFrame } from './support.mjs';

tippe('run', 'falling_rod', '--quiet', '--out', 'rod.h5', '--csv', 'rod.csv', '--contacts', 'rod_contacts.csv');
tippe('export', 'rod.h5', '--html', 'rod.html', '--reports', 'rod_reports.csv');
const states = readTable('rod.csv'), contacts = readTable('rod_contacts.csv'), reports = readTable('rod_reports.csv');
const step = 0.0025;
const contactsAt = frame => contacts.filter(contact => Math.abs(contact.time - states[frame].time) < step / 4);

async function checkState(page, frame, name) {
    const shown = await shownState(page, frame);
    columns.forEach((column, i) => {
        const truth = states[frame][`${name}.${column}`], size = Math.max(1, Math.abs(truth));
        assert.ok(Math.abs(shown[i].value - truth) < 1e-6 * size, `${column} of frame ${frame}: ${shown[i].value}, not ${truth}`);
        assert.ok(Math.abs(meaningOf(shown[i].text) - truth) < 2e-5 * size, `${column} of frame ${frame} reads ${shown[i].text}, not ${truth}`);
    });
}

test('what the stepper leaves out is said', async () => {
    tippe('run', 'bouncing_ball', '--stepper', 'penalty', '--until', '0.1', '--quiet', '--out', 'ball.h5');
    tippe('export', 'ball.h5', '--html', 'ball.html');
    const page = await openPage(pathToFileURL(inPlace('ball.html')).href, { offline: true });
    assert.equal(await page.textContent('#panel-run .notice'), 'penalty does not use restitution.');
    assert.deepEqual(await findBarriers(page), []);
    await closePage(page);
});

test('an overview forgets its first rows', async () => {
    const { Overview } = await import('../../viewer/src/source.js'), overview = new Overview(), width = 38;
    overview.append(Float64Array.from({ length: 100 * width }, (_, k) => Math.floor(k / width)));
    overview.dropBefore(70);
    assert.deepEqual([overview.first, overview.count, overview.time[0], overview.residual[29], overview.rowOf(75), overview.frameOf(5)], [70, 30, 70, 99, 5, 75]);
    overview.append(new Float64Array(width).fill(100));
    assert.deepEqual([overview.count, overview.time[30]], [31, 100]);
});

// A servo, a gyroscope and a stepper that chooses: what a recording has of them is on its page, in one file and from the program.
test('coordinates, sensors and methods of a recording are plotted', async t => {
    writeFileSync(inPlace('arm.json'), JSON.stringify({
        tippe: 1, name: 'Arm', gravity: [0, 0, -9.81], materials: { m: { friction: 0.5 } },
        bodies: [
            { name: 'floor', kind: 'fixed', material: 'm', shapes: [{ type: 'plane', normal: [0, 0, 1], offset: 0 }] },
            { name: 'arm', density: 800, material: 'm', shapes: [{ type: 'box', size: [0.6, 0.1, 0.1] }], position: [0.3, 0, 0.6] },
            { name: 'ball', density: 800, material: 'm', shapes: [{ type: 'sphere', radius: 0.1 }], position: [2, 0, 0.1], velocity: [1, 0, 0] },
        ],
        joints: [{ name: 'hinge', type: 'revolute', bodies: ['floor', 'arm'], anchor: [0, 0, 0.6], axis: [0, 1, 0], servo: { target: 0.4, stiffness: 400, damping: 40 } }],
        sensors: [{ name: 'gyro', type: 'gyroscope', body: 'arm' }],
        simulation: { stepper: 'auto', step: 0.01, until: 0.5 },
    }));
    tippe('run', 'arm.json', '--quiet', '--out', 'arm.h5', '--csv', 'arm.csv', '--joints', 'arm_joints.csv');
    tippe('export', 'arm.h5', '--html', 'arm.html');
    const joints = readTable('arm_joints.csv'), sensors = readTable('arm.csv');
    const check = async page => {
        const choose = async words => {
            const value = await page.locator('#panel-plots select option', { hasText: words }).first().getAttribute('value');
            await page.selectOption('#panel-plots select', value);
        };
        await page.evaluate(() => globalThis.tippe.showTab('plots'));
        await choose('hinge: value and target');
        await choose('gyro.y');
        const read = title => page.waitForFunction(words => {
            const plot = globalThis.tippe.plots.plots.find(({ options }) => options.title === words);
            return plot?.series?.length > 0 && plot.series.map(({ name, x, y }) => ({ name, x: [...x], y: [...y] }));
        }, title).then(handle => handle.jsonValue());
        const [value, target] = await read('hinge: value and target'), [gyro] = await read('gyro.y');
        assert.equal(value.y.length, joints.length);
        joints.forEach((row, k) => assert.ok(Math.abs(value.y[k] - row['hinge.q']) < 1e-12 && Math.abs(value.x[k] - row.time) < 1e-12 && target.y[k] === 0.4, `${k}`));
        sensors.forEach((row, k) => assert.ok(Math.abs(gyro.y[k] - row['gyro.y']) < 1e-12));
        await page.evaluate(() => globalThis.tippe.showTab('run'));
        await page.waitForFunction(() => !document.querySelector('.carriers').hidden && /mirtich|anitescu|bender|chakraborty|stewart/.test(document.querySelector('.carriers .legend-row').textContent));
        assert.deepEqual(await findBarriers(page), []);
    };
    await t.test('in one file', async () => {
        const page = await openPage(pathToFileURL(inPlace('arm.html')).href, { offline: true });
        await check(page);
        await closePage(page);
    });
    await t.test('from the program', async () => {
        const server = await serve('arm.h5'), page = await openPage(server.address);
        await check(page);
        await closePage(page);
        await server.stop();
    });
    await t.test('while it runs', async () => {
        const server = await serve('arm.json'), page = await openPage(server.address);
        await page.waitForFunction(() => globalThis.tippe.run.lastFrame >= 50 && !globalThis.tippe.live.status.running);
        await check(page);
        await closePage(page);
        await server.stop();
    });
});

// A video as browsers record it: a segment of unknown size, an Info without a length. What comes after it stays as it is.
test('a video gets its length', async () => {
    const { withLength } = await import('../../viewer/src/webm.js');
    const begin = [0x1a, 0x45, 0xdf, 0xa3, 0x81, 0x00, 0x18, 0x53, 0x80, 0x67, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    const info = [0x2a, 0xd7, 0xb1, 0x83, 0x0f, 0x42, 0x40], rest = [0x1f, 0x43, 0xb6, 0x75, 0x81, 0x05];
    const made = withLength(Uint8Array.from([...begin, 0x15, 0x49, 0xa9, 0x66, 0x80 | info.length, ...info, ...rest]), 2.5);
    const size = [0x01, 0, 0, 0, 0, 0, 0, info.length + 11];
    assert.deepEqual([...made.subarray(0, begin.length + 12)], [...begin, 0x15, 0x49, 0xa9, 0x66, ...size]);
    const at = begin.length + 12 + info.length;
    assert.deepEqual([...made.subarray(at, at + 3)], [0x44, 0x89, 0x88]);
    assert.equal(new DataView(made.buffer).getFloat64(at + 3), 2500);
    assert.deepEqual([...made.subarray(at + 11)], rest);
    assert.deepEqual(withLength(made, 9), made, 'it has one already');
    for (const other of [[], [0], [0x1a, 0x45], begin, [0, 0, 0, 1, 2, 3]]) {
        assert.deepEqual([...withLength(Uint8Array.from(other), 1)], other);
    }
});

// The same form in millimetres and in kilometres: faces of a cube stay flat, a ball is smooth.
test('creases do not depend on the size', async () => {
    const { creaseNormals } = await import('../../viewer/src/creases.js'), { BoxGeometry, SphereGeometry } = await import('../../viewer/node_modules/three/build/three.module.js');
    for (const size of [1e-3, 1, 1e3]) {
        const flat = creaseNormals(new BoxGeometry(size, size, size), 0.55).attributes.normal.array;
        assert.ok(flat.length === 3 * 36 && flat.every(part => Math.abs(Math.abs(part) - Math.round(Math.abs(part))) < 1e-6));
        const { position, normal } = creaseNormals(new SphereGeometry(size, 64, 32), 0.55).attributes;
        for (let i = 0; i < position.count; ++i) {
            const along = [0, 1, 2].reduce((sum, k) => sum + position.array[3 * i + k] * normal.array[3 * i + k], 0) / size;
            assert.ok(along > 0.995, `${along}`);
        }
    }
});

test('a run in one file plays by itself', async () => {
    const page = await openPage(pathToFileURL(inPlace('rod.html')).href, { offline: true });
    await page.waitForFunction(() => Number(document.getElementById('app').dataset.frame) > 0);
    await closePage(page);
});

test('a run in one file', async t => {
    const page = await openPage(pathToFileURL(inPlace('rod.html')).href, { width: 1200, height: 720, offline: true, still: true });

    await t.test('opens at the start', async () => {
        assert.equal(await frameOf(page), 0);
        assert.match(await page.textContent('h1'), /Falling rod/);
        assert.match(await page.textContent('.facts'), /stewart-trinkle · step 2.5 ms · 1 body/);
    });

    await t.test('shows the states of the recording wherever one scrubs', async () => {
        await page.click('role=tab[name="Bodies"]');
        await page.click('.row:has-text("rod")');
        for (const share of [0.13, 0.5, 0.77, 1]) {
            const box = await page.locator('.timeline').boundingBox();
            await page.mouse.click(box.x + 14 + share * (box.width - 28), box.y + box.height / 3);
            const expected = Math.round(share * (states.length - 1));
            await page.waitForFunction(wanted => Math.abs(Number(document.getElementById('app').dataset.frame) - wanted) <= 1, expected);
            const frame = await frameOf(page);
            await checkState(page, frame, 'rod');
            assert.ok(Math.abs(parseFloat(await page.textContent('.time')) - states[frame].time) < 1e-9);
        }
    });

    await t.test('draws the body where it is', async () => {
        for (const frame of [0, 160, 260]) {
            await seek(page, frame);
            const [drawn, matrix] = await page.evaluate(() => {
                const { model } = globalThis.tippe.run;
                const [batch] = model.batches.values();
                return [Array.from(model.placements.subarray(7, 14)), Array.from(batch.copies.matrices.subarray(12, 15))];
            });
            columns.slice(0, 7).forEach((column, i) => assert.ok(Math.abs(drawn[i] - states[frame][`rod.${column}`]) < 1e-6));
            ['x', 'y', 'z'].forEach((column, i) => assert.ok(Math.abs(matrix[i] - states[frame][`rod.${column}`]) < 1e-6));
        }
    });

    await t.test('steps by keys', async () => {
        await seek(page, 100);
        await page.locator('.stage-box canvas').focus();
        await page.keyboard.press('ArrowRight');
        await waitForFrame(page, 101);
        await page.keyboard.press('ArrowLeft');
        await page.keyboard.press('Shift+ArrowLeft');
        await waitForFrame(page, 90);
        await page.keyboard.press('End');
        await waitForFrame(page, states.length - 1);
        await page.keyboard.press('Home');
        await waitForFrame(page, 0);
    });

    await t.test('lists the contacts of the recording with their forces', async () => {
        await page.keyboard.press('Escape');
        await page.keyboard.press('3');
        const touching = [...new Set(contacts.map(contact => Math.round(contact.time / step)))];
        for (const frame of [touching[0], touching[40], touching[75], touching.at(-1)]) {
            await seek(page, frame);
            const expected = contactsAt(frame);
            assert.ok(expected.length > 0);
            const rows = await page.$$eval('.contacts tbody tr', found => found.map(row => [...row.cells].map(cell => cell.textContent)));
            assert.equal(rows.length, expected.length);
            const kinds = await page.$$eval('.contacts tbody .dot', found => found.map(dot => dot.title).sort());
            assert.deepEqual(kinds, expected.map(contact => contact.state).sort());
            const largest = Math.max(...expected.map(contact => contact.normal_impulse / step));
            const [value, unit] = rows[0][2].split(' ');
            const scale = { N: 1, kN: 1e3, mN: 1e-3 }[unit];
            assert.ok(Math.abs(meaningOf(value) * scale - largest) < 0.01 * largest, `${rows[0][2]} is not ${largest}`);
            const shown = await page.evaluate(() => globalThis.tippe.arrows.shown);
            assert.equal(shown.points, expected.length);
            assert.ok(shown.arrows >= expected.filter(contact => contact.normal_impulse / step > 1).length);
        }
    });

    await t.test('answers where the largest force is, and when it slips', async () => {
        await page.keyboard.press('5');
        const force = contact => Math.hypot(contact.normal_impulse, contact.friction_impulse_x, contact.friction_impulse_y, contact.friction_impulse_z) / step;
        const largest = contacts.reduce((a, b) => (force(b) > force(a) ? b : a));
        const found = await page.evaluate(() => globalThis.tippe.run.largest.force);
        assert.ok(Math.abs(found.value - force(largest)) < 1e-9 * force(largest));
        assert.ok(Math.abs(states[found.frame].time - largest.time) < step / 4);
        await page.click('.findings dd:first-of-type .go');
        await waitForFrame(page, found.frame);
        await page.waitForSelector('.contacts tr.selected');
        assert.match(await page.textContent('.contacts tr.selected'), new RegExp(`rodon table.*${largest.state === 'sliding' ? 'm/s' : '–'}`));
        const marked = await page.evaluate(() => ({ key: globalThis.tippe.arrows.highlighted, selected: globalThis.tippe.run.selected }));
        assert.equal(marked.selected, 1);
        assert.match(marked.key, /^(0 1|1 0) /);
        const sliding = new Set(contacts.filter(contact => contact.state === 'sliding').map(contact => Math.round(contact.time / step)));
        const spans = await page.evaluate(() => globalThis.tippe.run.slidingSpans());
        const frames = spans.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, k) => from + k));
        assert.deepEqual(frames, [...sliding].sort((a, b) => a - b));
        await seek(page, 0);
        await page.keyboard.press('s');
        await waitForFrame(page, frames[0]);
        await page.keyboard.press('5');
        assert.match(await page.textContent('.findings'), /Were the laws of contact met\?Yes/);
    });

    await t.test('plots what the steps reported, with the cursor of the replay', async () => {
        await page.keyboard.press('1');
        await seek(page, 222);
        const plots = await page.evaluate(() => globalThis.tippe.plots.plots.map(plot => ({
            title: plot.options.title, cursor: plot.cursor, series: plot.series.map(one => ({ name: one.name, y: Array.from(one.y.subarray(0, one.count)) })),
        })));
        for (const plot of plots) {
            assert.ok(Math.abs(plot.cursor - states[222].time) < 1e-12);
        }
        const kinetic = plots[0].series.find(one => one.name === 'kinetic').y;
        assert.equal(kinetic.length, reports.length);
        reports.forEach((report, k) => assert.equal(kinetic[k], report.kinetic_after));
        assert.deepEqual(plots[1].series[0].y, reports.map(report => report.residual));
        assert.deepEqual(plots[2].series[0].y, reports.map(report => report.penetration));
    });

    await t.test('plots any state of a body and the forces of its contacts', async () => {
        await page.evaluate(() => globalThis.tippe.run.select(1));
        await page.selectOption('.add select', { label: 'rod: velocity' });
        await page.selectOption('.add select', { label: 'rod: contact forces' });
        await page.waitForFunction(() => globalThis.tippe.plots.plots.slice(-2).every(plot => plot.series.length > 0));
        const [velocity, forces] = await page.evaluate(() => globalThis.tippe.plots.plots.slice(-2).map(plot => plot.series.map(one => Array.from(one.y))));
        states.forEach((state, k) => assert.ok(Math.abs(velocity[1][k] - state['rod.vy']) < 1e-6 * Math.max(1, Math.abs(state['rod.vy']))));
        states.forEach((_, k) => {
            const sum = contactsAt(k).reduce((total, contact) => total + contact.normal_impulse / step, 0);
            assert.ok(Math.abs(forces[0][k] - sum) < 1e-5 * Math.max(1, sum));
        });
    });

    await t.test('plays', async () => {
        await seek(page, 0);
        await page.click('.play');
        await page.waitForFunction(() => Number(document.getElementById('app').dataset.frame) > 20);
        await page.click('.play');
        assert.equal(await page.evaluate(() => globalThis.tippe.player.isPlaying), false);
    });

    await t.test('selects the body one clicks, follows it and shows its trail', async () => {
        await page.keyboard.press('Escape');
        await seek(page, 60);
        const at = await page.evaluate(() => {
            const { stage, run } = globalThis.tippe;
            stage.draw();
            return stage.project(run.model.positionOf(1));
        });
        const box = await page.locator('.stage-box').boundingBox();
        await page.mouse.click(box.x + at.x, box.y + at.y);
        await page.waitForFunction(() => globalThis.tippe.run.selected === 1);
        await page.keyboard.press('f');
        await page.keyboard.press('t');
        await page.waitForFunction(() => globalThis.tippe.trails.trails.size === 1);
        await seek(page, 200);
        const away = await page.evaluate(() => {
            const { stage, run } = globalThis.tippe;
            return stage.controls.target.distanceTo(run.model.positionOf(1));
        });
        assert.ok(away < 1e-6);
        await page.keyboard.press('v');
    });

    await t.test('has help and two themes', async () => {
        await page.keyboard.press('?');
        await page.waitForSelector('.help');
        await page.keyboard.press('Escape');
        assert.equal(await page.locator('.help').count(), 0);
        const before = await page.evaluate(() => document.documentElement.dataset.theme);
        await page.keyboard.press('d');
        assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), before);
    });
    await closePage(page);
});

test('each contact shows when it slides', async () => {
    tippe('run', 'disc_slip', '--quiet', '--out', 'slip.h5', '--contacts', 'slip.csv');
    tippe('export', 'slip.h5', '--html', 'slip.html');
    const rows = readTable('slip.csv'), page = await openPage(pathToFileURL(inPlace('slip.html')).href, { offline: true });
    await page.keyboard.press('3');
    await page.waitForFunction(() => globalThis.tippe.contacts.lanes.lanes.length > 0);
    const lanes = await page.evaluate(() => globalThis.tippe.contacts.lanes.lanes.map(({ names, states, starts }) => ({ names, states: Array.from(states), starts })));
    const stepOf = await page.evaluate(() => globalThis.tippe.run.frameTime);
    assert.equal(lanes.length, new Set(rows.map(row => [row.bodyA, row.bodyB].sort().join())).size);
    for (const { names, states: shown, starts } of lanes) {
        const own = rows.filter(row => names.includes(row.bodyA) && names.includes(row.bodyB));
        const sliding = new Set(own.filter(row => row.state === 'sliding').map(row => Math.round(row.time / stepOf)));
        shown.forEach((state, k) => assert.equal(state === 1, sliding.has(k)));
        assert.ok(starts.length > 0 && starts.every(frame => sliding.has(frame) && !sliding.has(frame - 1)));
    }
    await closePage(page);
});

// A weight that hangs: its joint carries it, whatever the stepper.
test('joints show what they carry', async () => {
    writeFileSync(inPlace('weight.json'), JSON.stringify({
        tippe: 1, name: 'Weight', gravity: [0, 0, -10],
        bodies: [{ name: 'weight', mass: 2, inertia: [0.1, 0.1, 0.1], shapes: [{ type: 'box', size: [0.2, 0.2, 0.2] }], position: [0, 0, 0] }],
        joints: [{ name: 'hook', type: 'ball', bodies: [null, 'weight'], anchor: [0, 0, 1] }],
        simulation: { stepper: 'anitescu', step: 0.01, until: 0.5 },
    }));
    tippe('run', 'weight.json', '--quiet', '--out', 'weight.h5');
    const server = await serve('weight.h5');
    const page = await openPage(server.address);
    await seek(page, 30);
    await page.keyboard.press('3');
    await page.waitForSelector('.joints tbody tr');
    assert.match(await page.textContent('.joints tbody tr'), /hookthe world – weight20 N/);
    assert.deepEqual(await page.evaluate(() => globalThis.tippe.arrows.shown), { points: 0, arrows: 1, cones: 0 });
    const direction = await page.evaluate(() => {
        const { joints, player, stage } = globalThis.tippe, point = stage.up.clone();
        return [...joints.reactionOf(player.view, 0, point).force.toArray(), ...point.toArray()];
    });
    [0, 0, 20, 0, 0, 1].forEach((value, i) => assert.ok(Math.abs(direction[i] - value) < 1e-4));
    await page.dblclick('.joints tbody tr');
    await page.waitForFunction(() => globalThis.tippe.plots.plots.at(-1).series.length === 2);
    const [force, torque] = await page.evaluate(() => globalThis.tippe.plots.plots.at(-1).series.map(one => Array.from(one.y)));
    assert.equal(force.length, 51);
    force.slice(1).forEach(value => assert.ok(Math.abs(value - 20) < 1e-6));
    torque.forEach(value => assert.ok(Math.abs(value) < 1e-6));
    await page.keyboard.press('5');
    assert.match(await page.textContent('.findings'), /hook carries most: 20 N/);
    await closePage(page);
    await server.stop();
});

test('wide and narrow', async () => {
    for (const [name, width, height, scheme] of [['wide', 1440, 900, 'light'], ['narrow', 390, 844, 'dark']]) {
        const page = await openPage(pathToFileURL(inPlace('rod.html')).href, { width, height, scheme, offline: true });
        await seek(page, 200);
        await page.waitForTimeout(600);
        await page.screenshot({ path: `${screenshots}/${name}.png`, timeout: 120000 });
        const layout = await page.evaluate(() => ({
            overflow: document.documentElement.scrollWidth - innerWidth,
            hidden: [...document.querySelectorAll('.controls button, .tabs button, .tools button')].filter(button => {
                const { left, right, top, bottom } = button.getBoundingClientRect();
                return left < 0 || right > innerWidth || top < 0 || bottom > innerHeight;
            }).length,
            stage: document.querySelector('.stage').getBoundingClientRect().height,
        }));
        assert.ok(layout.overflow <= 0);
        assert.equal(layout.hidden, 0);
        assert.ok(layout.stage > 200);
        await closePage(page);
    }
});

test('steps to be wary of are marked', async () => {
    tippe('run', 'stack40', '--quiet', '--until', '0.5', '--stepper', 'bender-schmitt', '--set', 'budget=1000', '--out', 'rough.h5');
    tippe('export', 'rough.h5', '--html', 'rough.html', '--reports', 'rough.csv');
    const rough = readTable('rough.csv');
    const page = await openPage(pathToFileURL(inPlace('rough.html')).href, { offline: true });
    const found = await page.evaluate(() => {
        const { run } = globalThis.tippe;
        return { tolerance: run.tolerance, kinds: Array.from({ length: run.overview.count }, (_, row) => run.concernOf(row)) };
    });
    const isBeyond = row => row.residual > found.tolerance || row.violations > 0;
    const expected = rough.map(row => (row.undone || row.failure_count > 0 ? 'error' : row.fallback !== '' || isBeyond(row) ? 'warning' : null));
    assert.deepEqual(found.kinds, expected);
    assert.ok(expected.some(kind => kind !== null), 'the run was to be a rough one');
    await closePage(page);
});

test('steps that another method took are told from those that were not solved', async () => {
    tippe('run', 'coins', '--quiet', '--until', '1', '--out', 'coins.h5');
    tippe('export', 'coins.h5', '--html', 'coins.html', '--reports', 'coins.csv');
    const rows = readTable('coins.csv'), taken = rows.filter(row => row.fallback !== '').length;
    assert.ok(taken > 0 && rows.every(row => row.failure_count === 0 && !row.undone && row.violations === 0));
    const page = await openPage(pathToFileURL(inPlace('coins.html')).href, { offline: true });
    assert.equal(await page.getAttribute('.badge', 'aria-label'), `${taken} steps by another method`);
    await page.evaluate(() => globalThis.tippe.showTab('run'));
    const said = await page.locator('.findings').textContent();
    assert.match(said, new RegExp(`Did every solve succeed\\?Yes\\. Another method took ${taken} frames`));
    await closePage(page);
});

test('a recording that is too large is thinned, and what is asked for is kept', async () => {
    tippe('export', 'rod.h5', '--html', 'thin.html', '--every', '7');
    const page = await openPage(pathToFileURL(inPlace('thin.html')).href, { offline: true });
    const kept = Math.floor((states.length - 1) / 7) + 1;
    assert.equal(await page.evaluate(() => globalThis.tippe.run.lastFrame), kept - 1);
    await seek(page, 20);
    const drawn = await page.evaluate(() => [globalThis.tippe.run.timeOf(20), ...globalThis.tippe.run.model.placements.subarray(7, 10)]);
    [states[140].time, states[140]['rod.x'], states[140]['rod.y'], states[140]['rod.z']].forEach((truth, i) => assert.ok(Math.abs(drawn[i] - truth) < 1e-6));
    await closePage(page);
});

test('a page that is damaged or cut short says so', async () => {
    const whole = readFileSync(inPlace('rod.html'), 'utf8');
    const frames = whole.indexOf('>', whole.indexOf('data-tippe="frames"')), head = whole.indexOf('>', whole.indexOf('data-tippe="head"'));
    const cases = [
        ['frames', `${whole.slice(0, frames + 200)}${'A'.repeat(80)}${whole.slice(frames + 280)}`, '.message', /damaged or was cut short/],
        ['head', `${whole.slice(0, head + 1)}{${whole.slice(head + 1)}`, '.message', /damaged or was cut short/],
        ['end', whole.slice(0, whole.lastIndexOf('<script>')), '.incomplete', /ends too early/],
    ];
    for (const [name, text, place, message] of cases) {
        writeFileSync(inPlace(`${name}.html`), text);
        const page = await openPage(pathToFileURL(inPlace(`${name}.html`)).href, { offline: true, ready: place });
        assert.match(await page.textContent(place), message);
        await closePage(page);
    }
});

test('what cannot be shown is refused', () => {
    assert.equal(tryTippe('export', 'nothing.h5', '--html', 'out.html').status, 2);
    assert.equal(tryTippe('export', 'rod.csv', '--html', 'out.html').status, 2);
});
