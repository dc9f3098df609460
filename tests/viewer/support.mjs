// What the tests of the page share: the program, a browser without a network, and tables to hold the page to.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import axe from 'axe-core';
import { chromium } from 'playwright-core';

const { source: axeSource } = axe;
export const program = process.env.TIPPE_PROGRAM;
export const scenes = join(process.env.TIPPE_SOURCE_DIR, 'scenes');
export const screenshots = process.env.TIPPE_SCREENSHOTS;

if (!process.env.TIPPE_CHROMIUM || process.env.TIPPE_CHROMIUM.endsWith('NOTFOUND')) {
    console.log('skipped: there is no Chromium here');
    process.exit(77);
}

export const place = mkdtempSync(join(tmpdir(), 'tippe_page_'));
process.on('exit', () => rmSync(place, { recursive: true, force: true }));
mkdirSync(screenshots, { recursive: true });

export const inPlace = name => join(place, name);

export function tippe(...words) {
    return execFileSync(program, words, { cwd: place, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

export function tryTippe(...words) {
    return spawnSync(program, words, { cwd: place, encoding: 'utf8' });
}

// Rows of a table as objects; numbers where they are.
export function readTable(name) {
    const [head, ...lines] = readFileSync(inPlace(name), 'utf8').trim().split('\n').map(line => line.split(','));
    return lines.map(cells => Object.fromEntries(head.map((key, i) => [key, cells[i] === '' || Number.isNaN(Number(cells[i])) ? cells[i] : Number(cells[i])])));
}

const browsers = [], children = [];

// A page that complains of everything: errors, refusals of its policy, and requests that leave the machine.
export async function openPage(address, { width = 1000, height = 640, scheme = 'light', offline = false, ready = '#app[data-ready]', touch = false, late = null, still = false } = {}) {
    const browser = await chromium.launch({
        executablePath: process.env.TIPPE_CHROMIUM,
        args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-quic', '--no-first-run',
            '--disable-background-networking', '--disable-component-update', '--disable-sync',
            '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
    });
    browsers.push(browser);
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, offline, reducedMotion: still ? 'reduce' : 'no-preference', ...(touch ? { hasTouch: true, isMobile: true } : {}) });
    const page = await context.newPage();
    page.setDefaultTimeout(120000);
    page.complaints = [];
    page.on('console', message => ['error', 'warning'].includes(message.type()) && !/GL Driver|GPU stall/.test(message.text()) && page.complaints.push(message.text()));
    page.on('pageerror', error => page.complaints.push(error.stack));
    page.on('request', request => {
        if (!/^(file:|data:|blob:|http:\/\/127\.0\.0\.1:)/.test(request.url())) {
            page.complaints.push(`asks for ${request.url()}`);
        }
    });
    if (late) { // a file that comes some seconds after the others
        await page.route(late, async route => {
            await new Promise(resolve => setTimeout(resolve, 4000));
            await route.continue();
        });
    }
    await page.goto(address, { timeout: 120000 });
    await page.waitForSelector(ready);
    return page;
}

export async function closePage(page) {
    await page.context().browser().close();
    if (page.complaints.length > 0) {
        throw new Error(`the page complained:\n${page.complaints.join('\n')}`);
    }
}

// What keeps people out who read by ear or by keyboard, as axe-core finds it: ["rule: where"].
export async function findBarriers(page) {
    await page.evaluate(axeSource);
    return page.evaluate(async () => {
        const { violations } = await globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] });
        return violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary.split('\n')[1] ?? ''}`));
    });
}

export const frameOf = page => page.evaluate(() => Number(document.getElementById('app').dataset.frame));

// Waits until a condition holds in the page, and returns what it gave. waitForFunction takes the promise of an asynchronous condition for true.
export async function until(page, condition, argument) {
    for (const end = Date.now() + 120000; ;) {
        const value = await page.evaluate(condition, argument).catch(error => {
            if (!/navigation|context was destroyed/.test(error.message)) {
                throw error;
            }
        });
        if (value) {
            return value;
        }
        if (Date.now() > end) {
            throw new Error(`not in two minutes: ${condition}`);
        }
        await page.waitForTimeout(30);
    }
}

export const waitForFrame = (page, frame) => page.waitForFunction(wanted => document.getElementById('app').dataset.frame === String(wanted), frame);

export async function seek(page, frame) {
    await page.evaluate(wanted => globalThis.tippe.player.seek(wanted, { pause: true }), frame);
    await waitForFrame(page, frame);
}

// The numbers that the page shows of the selected body, as it shows them and as it has them.
export async function shownState(page, frame) {
    await page.waitForFunction(wanted => globalThis.tippe.bodies.frame === wanted && !globalThis.tippe.bodies.busy, frame);
    await page.waitForFunction(() => document.querySelectorAll('#panel-bodies td[data-value]').length === 13);
    return page.$$eval('#panel-bodies td[data-state]', cells => cells
        .map(cell => ({ at: Number(cell.dataset.state), value: Number(cell.dataset.value), text: cell.textContent }))
        .sort((a, b) => a.at - b.at));
}

const digits = { '⁰': 0, '¹': 1, '²': 2, '³': 3, '⁴': 4, '⁵': 5, '⁶': 6, '⁷': 7, '⁸': 8, '⁹': 9, '⁻': '-' };

// What a number on the page means.
export function meaningOf(text) {
    const plain = text.replaceAll('−', '-').replace(/(·?)10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)$/, (_, dot, power) => `${dot ? '' : '1'}e${[...power].map(c => digits[c]).join('')}`);
    return Number(plain);
}

export const columns = ['x', 'y', 'z', 'qw', 'qx', 'qy', 'qz', 'vx', 'vy', 'vz', 'wx', 'wy', 'wz'];

// A program that serves a page, until it is told to stop.
export async function serve(...words) {
    const child = spawn(program, ['view', '--no-browser', ...words], { cwd: place });
    children.push(child);
    const ended = new Promise(resolve => child.on('exit', (code, signal) => resolve({ code, signal })));
    const address = await new Promise((resolve, reject) => {
        let said = '';
        child.stderr.on('data', data => { said += data; });
        child.stdout.once('data', data => resolve(String(data).trim()));
        child.on('exit', () => reject(new Error(said)));
    });
    return { address, child, stop: () => { child.kill('SIGINT'); return ended; } };
}

// Whatever a test that failed has left behind.
after(async () => {
    children.forEach(child => child.kill('SIGKILL'));
    await Promise.allSettled(browsers.map(browser => browser.close()));
});
