// tippe view of a scene: it is simulated while it is shown, and obeys.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import test from 'node:test';
import { closePage, findBarriers, inPlace, openPage, readTable, seek, serve, tippe, until, waitForFrame } from './support.mjs';

const status = page => page.evaluate(() => globalThis.tippe.live.status);
const height = (page, body) => page.evaluate(index => globalThis.tippe.run.model.positionOf(index).z, body);

test('a scene is simulated while it is shown', async t => {
    tippe('run', 'stack10', '--quiet', '--until', '0.5', '--csv', 'stack.csv');
    const truth = readTable('stack.csv');
    const server = await serve('stack10');
    const page = await openPage(server.address, { width: 1100, height: 680 });

    await t.test('runs, and gives what tippe run gives', async () => {
        await until(page, () => globalThis.tippe.run.lastFrame > 20);
        await page.click('.play');
        await until(page, () => !globalThis.tippe.live.status.running);
        await seek(page, 12);
        const shown = await page.evaluate(() => globalThis.tippe.run.source.readBodyState(3, 12));
        const name = await page.evaluate(() => globalThis.tippe.run.nameOf(globalThis.tippe.run.model.bodyOfMoving[3]));
        ['x', 'y', 'z'].forEach((column, i) => assert.equal(shown[i], truth[12][`${name}.${column}`]));
    });

    await t.test('steps once', async () => {
        await page.locator('.stage-box canvas').focus();
        await page.keyboard.press('End');
        const last = await page.evaluate(() => globalThis.tippe.run.lastFrame);
        await waitForFrame(page, last);
        await page.keyboard.press('ArrowRight');
        await waitForFrame(page, last + 1);
        assert.equal((await status(page)).frames, last + 2);
        assert.equal((await status(page)).running, false);
    });

    await t.test('takes another stepper and another step', async () => {
        await page.selectOption('.live select', 'stewart-trinkle');
        await until(page, () => globalThis.tippe.run.stepper === 'stewart-trinkle');
        await page.fill('.live input', '0.004');
        await page.keyboard.press('Enter');
        await page.locator('.stage-box canvas').focus();
        await until(page, () => globalThis.tippe.run.step === 0.004);
        const last = await page.evaluate(() => globalThis.tippe.run.lastFrame);
        const before = await page.evaluate(frame => globalThis.tippe.run.timeOf(frame), last);
        await page.keyboard.press('ArrowRight');
        await waitForFrame(page, last + 1);
        const after = await page.evaluate(frame => globalThis.tippe.run.timeOf(frame), last + 1);
        assert.ok(Math.abs(after - before - 0.004) < 1e-12);
        assert.match(await page.textContent('.facts'), /stewart-trinkle · step 4 ms/);
    });

    await t.test('a step that makes no sense is told, and does not stay', async () => {
        for (const [step, words] of [['-3', /seconds above zero/], ['100', /a number of seconds from 1e-7 to 10/]]) {
            await page.fill('.live input', step);
            await page.keyboard.press('Enter');
            await page.waitForSelector('.message');
            assert.match(await page.textContent('.message'), words);
            assert.equal(await page.inputValue('.live input'), '0.004');
            await page.click('.message button');
        }
        page.complaints.length = 0; // the browser reports the answer 400
        await page.locator('.stage-box canvas').focus();
    });

    await t.test('the tab Run follows', async () => {
        const said = await page.textContent('#panel-run .about');
        const frames = await page.evaluate(() => globalThis.tippe.run.source.frameCount);
        assert.match(said, new RegExp(`Stepperstewart-trinkle.*Step4 ms.*Frames${frames}`));
    });

    await t.test('starts again, and plays', async () => {
        assert.equal((await status(page)).running, false);
        await page.keyboard.press('r');
        await until(page, () => globalThis.tippe.live.status.epoch === 1 && globalThis.tippe.live.status.running);
        await until(page, () => globalThis.tippe.run.lastFrame > 3);
        await page.keyboard.press(' ');
        await until(page, () => !globalThis.tippe.live.status.running);
    });

    await t.test('stands when it is started and at once set back', async () => {
        await page.evaluate(async () => {
            const { live, player } = globalThis.tippe;
            live.toggle();
            player.seek(2, { pause: true });
            await live.send({ speed: 1 }); // both orders have been obeyed
        });
        await waitForFrame(page, 2);
        await page.waitForTimeout(300);
        const { frames } = await status(page);
        await page.waitForTimeout(300);
        assert.equal((await status(page)).frames, frames);
    });

    await t.test('refuses orders that make no sense', async () => {
        for (const order of ['{"step": -1}', '{"step": "x"}', '{"stepper": "none"}', '{"drag": {"body": 1}}', '{"what": 1}', '[]', '{', '{"speed": 1e99}']) {
            const answer = await page.evaluate(async body => (await fetch('command', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })).status, order);
            assert.equal(answer, 400, order);
        }
        page.complaints.length = 0; // the browser reports each of them
    });
    await closePage(page);
    assert.equal((await server.stop()).code, 0);
});

test('a body can be dragged', async () => {
    writeFileSync(inPlace('ball.json'), JSON.stringify({
        tippe: 1, name: 'Ball', gravity: [0, 0, -9.81], materials: { m: { friction: 0.5 } },
        bodies: [
            { name: 'floor', kind: 'fixed', material: 'm', shapes: [{ type: 'plane', normal: [0, 0, 1], offset: 0 }] },
            { name: 'ball', density: 1000, material: 'm', shapes: [{ type: 'sphere', radius: 0.3 }], position: [0, 0, 0.3] },
        ],
        simulation: { stepper: 'anitescu', step: 0.005, until: 1000 },
    }));
    const server = await serve('ball.json');
    const page = await openPage(server.address, { width: 900, height: 640 });
    await until(page, () => globalThis.tippe.run.lastFrame > 10);
    assert.ok(Math.abs(await height(page, 1) - 0.3) < 1e-3);
    const account = () => page.locator('.plot', { hasText: 'Energy account' }).textContent();
    assert.doesNotMatch(await account(), /external work/);
    const at = await page.evaluate(() => globalThis.tippe.stage.project(globalThis.tippe.run.model.positionOf(1)));
    const box = await page.locator('.stage-box').boundingBox();
    await page.mouse.move(box.x + at.x, box.y + at.y);
    await page.mouse.down();
    await page.mouse.move(box.x + at.x, box.y + at.y - 60, { steps: 4 });
    await page.mouse.move(box.x + at.x, box.y + at.y - 140, { steps: 6 });
    await until(page, () => globalThis.tippe.run.model.positionOf(1).z > 0.36);
    await page.mouse.up();
    await until(page, () => globalThis.tippe.run.model.positionOf(1).z < 0.31);
    assert.match(await account(), /external work/);

    // A run that stands goes on when a body of it is pulled.
    await page.keyboard.press(' ');
    await until(page, () => !globalThis.tippe.live.status.running);
    const now = await page.evaluate(() => globalThis.tippe.stage.project(globalThis.tippe.run.model.positionOf(1)));
    await page.mouse.move(box.x + now.x, box.y + now.y);
    await page.mouse.down();
    await page.mouse.move(box.x + now.x, box.y + now.y - 140, { steps: 6 });
    await until(page, () => globalThis.tippe.live.status.running && globalThis.tippe.run.model.positionOf(1).z > 0.36);
    await page.mouse.up();
    await closePage(page);
    assert.equal((await server.stop()).code, 0);
});

// Where bodies are on the stage, in its widths and heights: within 0 to 1 they are seen.
// As a picture shows them: when the page has drawn it, and before another frame comes.
const placesOf = page => page.evaluate(() => new Promise(resolve => {
    requestAnimationFrame(() => requestAnimationFrame(() => {
        const { stage, run } = globalThis.tippe;
        resolve(run.model.bodyOfMoving.map(body => {
            const { x, y } = stage.project(run.model.positionOf(body));
            return [x / stage.container.clientWidth, y / stage.container.clientHeight];
        }));
    }));
}));

test('the camera keeps bodies in view until it is taken', async () => {
    for (const [scene, size] of [['falling_rod', { width: 1100, height: 700 }], ['bouncing_ball', { width: 1100, height: 700 }], ['tippe_top', { width: 390, height: 844, touch: true }], ['double_pendulum', { width: 390, height: 844, touch: true }]]) {
        const server = await serve(scene);
        const page = await openPage(server.address, size);
        let looks = 0;
        for (const enough of [5, 150, 300, 390]) {
            await page.waitForFunction(wanted => globalThis.tippe.run.lastFrame >= wanted || globalThis.tippe.run.lastFrame > 5 && !globalThis.tippe.live.status.running, enough);
            for (const place of await placesOf(page)) {
                assert.ok(place.every(at => at > 0.02 && at < 0.98), `${scene}: a body is at ${place} after ${enough} frames`);
                ++looks;
            }
        }
        assert.ok(looks >= 4);
        // Taken by hand, the camera stays; V gives it back.
        await page.evaluate(() => globalThis.tippe.stage.controls.dispatchEvent({ type: 'start' }));
        assert.equal(await page.evaluate(() => globalThis.tippe.stage.director.isOn), false);
        await page.keyboard.press('v');
        assert.equal(await page.evaluate(() => globalThis.tippe.stage.director.isOn), true);
        await closePage(page);
        await server.stop();
    }
});

test('a short run waits for the first picture', async () => {
    const server = await serve('falling_rod');
    const ask = async () => (await (await fetch(`${server.address}live?after=0&version=0`)).json()).frames;
    assert.equal(await ask(), 1);
    await new Promise(resolve => setTimeout(resolve, 300));
    assert.equal(await ask(), 1);
    const page = await openPage(server.address);
    await until(page, () => globalThis.tippe.run.lastFrame >= 400 && !globalThis.tippe.live.status.running);
    assert.match(await page.textContent('#panel-run .about'), /Frames401/);
    // A second page of a run that has ended does not start it again.
    const second = await openPage(server.address);
    await new Promise(resolve => setTimeout(resolve, 500));
    assert.equal(await ask(), 401);
    await closePage(second);
    await closePage(page);
    await server.stop();
});

test('fingers find what they touch', async () => {
    const server = await serve('card_house');
    const page = await openPage(server.address, { width: 390, height: 844, touch: true });
    await until(page, () => document.querySelector('.badge.good') !== null);
    assert.match(await page.getAttribute('.badge', 'aria-label'), /^laws met to \d/);
    assert.ok(await page.$eval('h1', title => title.scrollWidth <= title.clientWidth), 'the title is cut');
    for (const tab of ['plots', 'bodies', 'contacts', 'run']) {
        await page.evaluate(name => globalThis.tippe.showTab(name), tab);
        const small = await page.$$eval('button, select, input', all => all.filter(one => one.offsetParent !== null).map(one => {
            const { width, height } = one.getBoundingClientRect();
            return [one.title || one.textContent || one.tagName, Math.round(width), Math.round(height)];
        }).filter(([, width, height]) => width < 44 || height < 44));
        assert.deepEqual(small, [], tab);
    }
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await closePage(page);
    await server.stop();
});

test('auto tells which method carried which body when', async () => {
    writeFileSync(inPlace('drop.json'), JSON.stringify({
        tippe: 1, name: 'Drop', gravity: [0, 0, -9.81], materials: { m: { friction: 0.4, restitution: 0.5 } },
        bodies: [
            { name: 'floor', kind: 'fixed', material: 'm', shapes: [{ type: 'plane', normal: [0, 0, 1], offset: 0 }] },
            { name: 'ball', density: 500, material: 'm', shapes: [{ type: 'sphere', radius: 0.1 }], position: [0, 0, 0.5] },
        ],
        simulation: { stepper: 'auto', step: 0.01, until: 1000 },
    }));
    const server = await serve('drop.json');
    const page = await openPage(server.address);
    await page.evaluate(() => globalThis.tippe.showTab('run'));
    // In flight first, then something that knows impacts.
    await until(page, () => globalThis.tippe.findings.carriers.chart.lanes[0]?.pieces.length > 1);
    const methods = await page.evaluate(() => globalThis.tippe.findings.carriers.chart.lanes[0].pieces.map(({ method }) => method));
    assert.equal(methods[0], 'free-flight');
    assert.ok(methods.slice(1).some(method => method !== 'free-flight'));
    assert.equal(await page.locator('.carriers').isVisible(), true);
    // What rests is carried by nobody, and the legend says what its colour means.
    await until(page, () => /at rest, left alone/.test(document.querySelector('.carriers .legend-row').textContent));
    await closePage(page);
    await server.stop();
});

test('the laws are held to the residual that was asked for', async () => {
    tippe('run', 'stack10', '--quiet', '--until', '0.1', '--set', 'certificate=1e-3', '--out', 'asked.h5');
    tippe('export', 'asked.h5', '--reports', 'asked.csv');
    const server = await serve('stack10', '--set', 'certificate=1e-3');
    const page = await openPage(server.address);
    await until(page, () => globalThis.tippe.run.lastFrame > 20);
    const asked = Number(readTable('asked.csv')[3].residual_limit);
    assert.equal(asked, 1e-3);
    assert.equal(await page.evaluate(() => globalThis.tippe.run.tolerance), asked);
    await closePage(page);
});

test('a target that is set after the end of the scene is seen', async () => {
    writeFileSync(inPlace('short_arm.json'), JSON.stringify({
        tippe: 1, name: 'Arm', gravity: [0, 0, -9.81], bodies: [{ name: 'arm', density: 500, shapes: [{ type: 'box', size: [0.4, 0.1, 0.1] }], position: [0.2, 0, 0] }],
        joints: [{ name: 'elbow', type: 'revolute', bodies: [null, 'arm'], anchor: [0, 0, 0], axis: [0, 1, 0], limits: [-1, 1], servo: { target: 0, stiffness: 1e4, damping: 500 } }],
        simulation: { stepper: 'anitescu', step: 0.01, until: 0.1 },
    }));
    const server = await serve('short_arm.json');
    const page = await openPage(server.address);
    await until(page, () => globalThis.tippe.run.lastFrame >= 10 && !globalThis.tippe.player.live.status.running);
    await page.evaluate(() => globalThis.tippe.showTab('change'));
    await page.locator('#panel-change input[aria-label="elbow"]').fill('0.75');
    await until(page, async () => Math.abs((await globalThis.tippe.run.source.readCoordinates()).values[0] - 0.5) < 0.01);

    // Who has stopped it does not want it to go on.
    await page.evaluate(() => globalThis.tippe.player.live.send({ running: false }));
    await until(page, () => !globalThis.tippe.player.live.status.running);
    const frames = await page.evaluate(() => globalThis.tippe.run.lastFrame);
    await page.locator('#panel-change input[aria-label="elbow"]').fill('0.5');
    await page.waitForTimeout(300);
    assert.equal(await page.evaluate(() => globalThis.tippe.run.lastFrame), frames);
    await closePage(page);
    await server.stop();
});

test('couplings with a servo have sliders, and show their sums', async () => {
    const jaw = (name, y) => ({ name, density: 500, shapes: [{ type: 'sphere', radius: 0.1 }], position: [0, y, 0] });
    const slide = (name, body, y) => ({ name, type: 'prismatic', bodies: [null, body], anchor: [0, y, 0], axis: [1, 0, 0] });
    writeFileSync(inPlace('jaws.json'), JSON.stringify({
        tippe: 1, name: 'Jaws', gravity: [0, 0, 0], bodies: [jaw('a', 0), jaw('b', 1)], joints: [slide('p', 'a', 0), slide('q', 'b', 1)],
        couplings: [
            { name: 'even', of: [['p', 1], ['q', -1]], value: 0 },
            { name: 'grip', of: [['p', 1], ['q', 2]], limits: [-1, 1], servo: { target: 0, stiffness: 1e4, damping: 500 } },
        ],
        simulation: { stepper: 'anitescu', step: 0.01, until: 1000 },
    }));
    const server = await serve('jaws.json');
    const page = await openPage(server.address);
    await page.evaluate(() => globalThis.tippe.showTab('change'));
    assert.equal(await page.locator('#panel-change .driven').count(), 1); // the one that is held has none
    await page.locator('#panel-change input[aria-label="grip"]').fill('0.8'); // 0.6, from -1 to 1
    await until(page, async () => {
        const { values: [p, q] } = await globalThis.tippe.run.source.readCoordinates();
        return Math.abs(p - 0.2) < 1e-3 && Math.abs(q - 0.2) < 1e-3;
    });
    await until(page, () => /^now (60\d|59\d) mm/.test(document.querySelector('#panel-change .reading').textContent));
    assert.deepEqual(await findBarriers(page), []);
    await closePage(page);
    await server.stop();
});

test('servos have sliders, and what a stepper leaves out is said', async () => {
    writeFileSync(inPlace('arm.json'), JSON.stringify({
        tippe: 1, name: 'Arm', gravity: [0, 0, -9.81], materials: { m: { friction: 0.5, restitution: 0.4 } },
        bodies: [
            { name: 'floor', kind: 'fixed', material: 'm', shapes: [{ type: 'plane', normal: [0, 0, 1], offset: -1 }] },
            { name: 'arm', density: 500, material: 'm', shapes: [{ type: 'box', size: [0.4, 0.1, 0.1] }], position: [0.2, 0, 0] },
        ],
        joints: [{ name: 'elbow', type: 'revolute', bodies: [null, 'arm'], anchor: [0, 0, 0], axis: [0, 1, 0], limits: [-1, 1], servo: { target: 0, stiffness: 1e4, damping: 500 } }],
        simulation: { stepper: 'stewart-trinkle', step: 0.01, until: 1000 },
    }));
    const server = await serve('arm.json');
    const page = await openPage(server.address);
    await page.evaluate(() => globalThis.tippe.showTab('change'));
    assert.equal(await page.textContent('#panel-change .notice'), 'stewart-trinkle does not use restitution.');
    await page.locator('#panel-change input[aria-label="elbow"]').fill('0.75'); // half of the way from -1 to 1, and half of the rest
    await until(page, async () => Math.abs((await globalThis.tippe.run.source.readCoordinates()).values[0] - 0.5) < 0.01);
    await until(page, () => /^now 50\d mrad|^now 49\d mrad|^now 500 mrad/.test(document.querySelector('#panel-change .reading').textContent));
    await page.check('#panel-change input[value="anitescu"]');
    await until(page, () => document.querySelector('#panel-change .notice').hidden);

    // The same as plots: value and target, and the effort that carries the weight.
    await page.click('#panel-change button[title="Plot elbow"]');
    assert.equal(await page.locator('#panel-plots .plot').filter({ hasText: 'elbow' }).count(), 2);
    await until(page, async () => {
        const { data } = await globalThis.tippe.run.coordinateSeries(0), [value, , target, effort] = data.slice(-4);
        return Math.abs(value - 0.5) < 0.01 && Math.abs(target - 0.5) < 1e-9 && Math.abs(effort + 2 * 9.81 * 0.2 * Math.cos(value)) < 0.05;
    });
    assert.deepEqual(await findBarriers(page), []);
    await closePage(page);
    await server.stop();
});
