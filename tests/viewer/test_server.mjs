// tippe view of recordings: who may ask, what it answers, and runs that are large, cut short or damaged.

import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import net from 'node:net';
import test from 'node:test';
import { closePage, columns, inPlace, openPage, program, place, readTable, scenes, seek, serve, shownState, tippe, tryTippe } from './support.mjs';

// Bytes as they are, and what comes back.
function ask(port, text) {
    return new Promise((resolve, reject) => {
        const socket = net.connect(port, '127.0.0.1', () => socket.write(text));
        let answer = '';
        socket.on('data', data => { answer += data.toString('latin1'); });
        socket.on('close', () => resolve(answer));
        socket.on('error', reject);
        socket.setTimeout(20000, () => socket.destroy(new Error(`no answer to ${text.slice(0, 80)}`)));
    });
}

const statusOf = answer => Number(answer.split(' ')[1]);

tippe('run', 'falling_rod', '--quiet', '--out', 'rod.h5', '--csv', 'rod.csv', '--contacts', 'contacts.csv');

test('only who knows the address is answered', async t => {
    const server = await serve('rod.h5');
    const { port, pathname } = new URL(server.address);
    const get = (path, host = `127.0.0.1:${port}`, more = '') => ask(port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`);
    const cases = [
        ['the page', pathname, undefined, '', 200],
        ['by its other name', pathname, `localhost:${port}`, '', 200],
        ['no secret', '/', undefined, '', 404],
        ['a wrong secret', `/${'0'.repeat(32)}/`, undefined, '', 404],
        ['half a secret', pathname.slice(0, 20), undefined, '', 404],
        ['another host', pathname, 'evil.example', '', 421],
        ['another port', pathname, '127.0.0.1:1', '', 421],
        ['another origin', pathname, undefined, 'Origin: http://evil.example\r\n', 403],
        ['from another site', pathname, undefined, 'Sec-Fetch-Site: cross-site\r\n', 403],
        ['files of the machine', `${pathname}../../etc/passwd`, undefined, '', 404],
        ['files, encoded', `${pathname}%2e%2e/etc/passwd`, undefined, '', 404],
        ['a frame that is not there', `${pathname}frames?first=100000&count=1`, undefined, '', 404],
        ['too many frames', `${pathname}frames?first=0&count=999999999999`, undefined, '', 404],
        ['no number', `${pathname}frames?first=-1&count=1`, undefined, '', 400],
        ['a body that is not there', `${pathname}body?body=7&first=0&count=1`, undefined, '', 404],
        ['two hosts', pathname, undefined, 'Host: other\r\n', 400],
        ['a body in chunks', pathname, undefined, 'Transfer-Encoding: chunked\r\n', 501],
        ['a long field', pathname, undefined, `A: ${'x'.repeat(100000)}\r\n`, 431],
        ['a long address', `${pathname}${'x'.repeat(3000)}`, undefined, '', 414],
        ['a question with a body', pathname, undefined, 'Content-Length: 5\r\n', 400],
    ];
    for (const [name, path, host, more, status] of cases) {
        await t.test(name, async () => assert.equal(statusOf(await get(path, host, more)), status));
    }
    const odd = [
        ['no protocol', `GET ${pathname}\r\n\r\n`, 400],
        ['an old protocol', `GET ${pathname} HTTP/0.9\r\nHost: 127.0.0.1:${port}\r\n\r\n`, 505],
        ['no host', `GET ${pathname} HTTP/1.1\r\n\r\n`, 400],
        ['bytes', '\x00\x01\x02\xff\r\n\r\n', 400],
        ['another method', `DELETE ${pathname} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`, 405],
        ['a body too large', `POST ${pathname}command HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 9999999\r\n\r\n`, 413],
        ['orders to a recording', `POST ${pathname}command HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`, 404],
        ['a form', `POST ${pathname}command HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}`, 415],
    ];
    for (const [name, text, status] of odd) {
        // What is no request at all may be cut off without a word.
        await t.test(name, async () => {
            const found = statusOf(await ask(port, text));
            assert.ok(found === status || status === 400 && Number.isNaN(found), `${found}`);
        });
    }
    await t.test('silent connections shut nobody out', async () => {
        const silent = Array.from({ length: 300 }, () => net.connect(Number(port), '127.0.0.1'));
        await Promise.all(silent.map(socket => new Promise(resolve => { socket.on('connect', resolve); socket.on('error', resolve); })));
        const start = performance.now();
        assert.equal(statusOf(await get(pathname)), 200);
        assert.ok(performance.now() - start < 3000);
        // And they are not kept for ever.
        await Promise.race(silent.map(socket => new Promise(resolve => socket.on('close', resolve))));
        silent.forEach(socket => socket.destroy());
    });
    await t.test('listens on loopback alone', () => {
        const hex = Number(port).toString(16).toUpperCase().padStart(4, '0');
        const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n').filter(line => line.includes(`:${hex} `) && line.includes(' 0A '));
        assert.equal(lines.length, 1);
        assert.match(lines[0], /0100007F:/);
        const six = readFileSync('/proc/net/tcp6', 'utf8').split('\n').filter(line => line.includes(`:${hex} `) && line.includes(' 0A '));
        assert.equal(six.length, 0);
    });
    await t.test('does not answer the rest of what is too large', async () => {
        const page = await ask(port, `GET ${pathname} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
        assert.match(page, /Content-Security-Policy: frame-ancestors 'none'/);
        assert.match(page, /default-src 'none'; script-src 'sha256-/);
    });
    const { code } = await server.stop();
    assert.equal(code, 0);
});

test('a recording is shown to the last bit', async () => {
    const states = readTable('rod.csv');
    const server = await serve('rod.h5');
    const page = await openPage(server.address);
    await page.keyboard.press('2');
    await page.click('.row:has-text("rod")');
    for (const frame of [0, 7, 153, 400]) {
        await seek(page, frame);
        const shown = await shownState(page, frame);
        columns.forEach((column, i) => assert.equal(shown[i].value, states[frame][`rod.${column}`]));
    }
    const contacts = readTable('contacts.csv');
    const rows = await page.evaluate(() => globalThis.tippe.run.contactSeries(1));
    assert.equal(rows.length, contacts.length);
    rows.forEach((row, k) => {
        assert.equal(row.normalImpulse, contacts[k].normal_impulse);
        assert.equal(row.point[0], contacts[k].px);
        assert.equal(['separated', 'sliding', 'sticking'][row.state], contacts[k].state);
    });
    await closePage(page);
    await server.stop();
});

// Of a run that plays, by the median time from one to the next.
async function picturesPerSecond(page, seconds) {
    await page.evaluate(() => globalThis.tippe.player.setPlaying(true));
    await page.waitForTimeout(3000); // to find the pixels that this machine can take
    const median = await page.evaluate(async duration => {
        const { render } = globalThis.tippe.stage.renderer.info, times = [];
        const end = performance.now() + 1000 * duration;
        for (let last = performance.now(), drawn = render.frame; performance.now() < end || times.length < 3;) {
            await new Promise(requestAnimationFrame);
            if (render.frame !== drawn) {
                drawn = render.frame;
                times.push(performance.now() - last);
                last = performance.now();
            }
        }
        return times.sort((a, b) => a - b)[times.length >> 1];
    }, seconds);
    await page.evaluate(() => globalThis.tippe.player.setPlaying(false));
    return 1000 / median;
}

test('ten thousand bodies', async () => {
    tippe('run', `${scenes}/bench/spherepile.json`, '--stepper', 'free-flight', '--until', '0.4', '--quiet', '--out', 'many.h5', '--csv', 'many.csv');
    const server = await serve('many.h5');
    const page = await openPage(server.address, { width: 800, height: 600 });
    await page.waitForTimeout(200);
    const header = readFileSync(inPlace('many.csv'), 'utf8').split('\n', 30);
    const names = header[0].split(','), last = header[29].split(',').map(Number);
    await seek(page, 28);
    const facts = await page.evaluate(() => {
        const { stage, run, player } = globalThis.tippe;
        const times = [];
        for (let k = 0; k < 10; ++k) {
            const start = performance.now();
            run.model.place(player.view.states, player.view.width);
            times.push(performance.now() - start);
        }
        return {
            calls: stage.renderer.info.render.calls, triangles: stage.renderer.info.render.triangles, bodies: run.model.bodyOfMoving.length, place: times.sort((a, b) => a - b)[5],
            at: Array.from(run.model.positionOf(run.model.bodyOfMoving[9999]).toArray()),
        };
    });
    assert.equal(facts.bodies, 10000);
    assert.ok(facts.calls <= 40, `${facts.calls} draw calls`);
    assert.ok(facts.place < 100, `placing takes ${facts.place} ms`);
    // Without a graphics card a ball is two triangles, and what is behind others is left out.
    assert.ok(facts.triangles > 1000 && facts.triangles < 12000, `${facts.triangles} triangles`);
    const column = names.length - 13;
    facts.at.forEach((value, i) => assert.ok(Math.abs(value - last[column + i]) < 1e-5));
    const speed = await picturesPerSecond(page, 6);
    console.log(`# ten thousand bodies: ${facts.calls} draw calls, ${facts.triangles} triangles, placed in ${facts.place.toFixed(1)} ms, ${speed.toFixed(1)} pictures a second`);
    // Pixels that were given up for speed come back.
    await page.waitForFunction(() => globalThis.tippe.stage.renderer.getPixelRatio() === globalThis.tippe.stage.quality.rest[0]);
    assert.equal(await page.evaluate(() => globalThis.tippe.stage.sun.castShadow), true);
    await closePage(page);
    await server.stop();
});

// Of a run with far more frames than are ever read at once, only what is looked at is fetched.
test('a long run streams', async () => {
    tippe('run', 'chain', '--quiet', '--until', '60', '--stepper', 'free-flight', '--out', 'long.h5');
    const server = await serve('long.h5');
    const page = await openPage(server.address, { width: 800, height: 600 });
    let bytes = 0;
    page.on('response', async response => {
        if (response.url().includes('/frames?')) {
            bytes += Number(response.headers()['content-length'] ?? 0);
        }
    });
    const last = await page.evaluate(() => globalThis.tippe.run.lastFrame);
    assert.ok(last > 20000);
    await seek(page, Math.round(last * 0.9));
    await seek(page, Math.round(last * 0.4));
    const whole = last * 51 * 28;
    assert.ok(bytes > 0 && bytes < whole / 10, `${bytes} of ${whole} bytes were fetched`);
    await closePage(page);
    await server.stop();
});

test('a run that was killed is shown as far as it came', async () => {
    const child = spawn(program, ['run', 'chain', '--quiet', '--until', '10000', '--out', 'killed.h5'], { cwd: place });
    await new Promise(resolve => setTimeout(resolve, 3000));
    const ended = new Promise(resolve => child.on('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    tippe('repair', 'killed.h5');
    const server = await serve('killed.h5');
    const page = await openPage(server.address, { width: 800, height: 600 });
    const last = await page.evaluate(() => globalThis.tippe.run.lastFrame);
    assert.ok(last > 2);
    await seek(page, last);
    await page.keyboard.press('5');
    assert.match(await page.textContent('.notice'), /did not reach its end/);
    await closePage(page);
    await server.stop();
});

test('damaged recordings are refused with a message', () => {
    const whole = readFileSync(inPlace('rod.h5'));
    for (const size of [100, 2000, Math.round(whole.length / 2), whole.length - 50]) {
        copyFileSync(inPlace('rod.h5'), inPlace('cut.h5'));
        truncateSync(inPlace('cut.h5'), size);
        for (const words of [['view', '--no-browser', 'cut.h5'], ['export', 'cut.h5', '--html', 'cut.html']]) {
            const { status, stderr } = tryTippe(...words);
            assert.equal(status, 2, `${words[0]} of ${size} bytes`);
            assert.match(stderr, /cut\.h5: /);
        }
    }
    writeFileSync(inPlace('noise.h5'), Buffer.concat([whole.subarray(0, 8), Buffer.alloc(5000, 0xa5)]));
    assert.equal(tryTippe('view', '--no-browser', 'noise.h5').status, 2);
    assert.equal(tryTippe('view', '--no-browser', 'nothing.json').status, 2);
});

// A text of a recording may hold anything; it is shown, not run.
test('names cannot smuggle markup into the page', async () => {
    const scene = JSON.parse(readFileSync(`${scenes}/falling_rod.json`, 'utf8'));
    scene.name = '</script><img src=x onerror=alert(1)>';
    scene.about = '<script>document.title = "taken"</script>';
    writeFileSync(inPlace('sly.json'), JSON.stringify(scene));
    tippe('run', 'sly.json', '--quiet', '--until', '0.05', '--out', 'sly.h5');
    tippe('export', 'sly.h5', '--html', 'sly.html');
    const page = await openPage(`file://${inPlace('sly.html')}`, { width: 800, height: 600, offline: true });
    assert.equal(await page.textContent('h1'), scene.name);
    assert.notEqual(await page.title(), 'taken');
    assert.equal(await page.locator('img').count(), 0);
    await closePage(page);
});
