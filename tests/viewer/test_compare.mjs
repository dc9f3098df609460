// The page of tippe compare, without a network: what it shows is what --json says, and it says which stepper is right.

import assert from 'node:assert/strict';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { closePage, inPlace, openPage, screenshots, tippe } from './support.mjs';

const open = (name, options = {}) => openPage(pathToFileURL(inPlace(name)).href, { offline: true, ready: '#runs tbody tr', ...options });

// A ball that bounces by half its speed: some steppers are inelastic, and say so.
const words = ['bouncing_ball', '--steppers', 'stewart-trinkle,anitescu,mirtich-canny', '--steps', '0.01,0.005', '--until', '1'];
const { runs, ...known } = JSON.parse(tippe('compare', ...words, '--json', '--out', 'ball.html'));

test('a comparison in one file', async t => {
    const page = await open('ball.html', { width: 1280, height: 900 });

    await t.test('says which stepper is right', async () => {
        const verdict = (await page.textContent('.verdict')).replaceAll('\n', ' ');
        const right = /Right to within 1 %[^:]*: (.*?)\.The cheapest/.exec(verdict)?.[1] ?? '';
        const elsewhere = /Wrong[^:]*: (.*?)\.(?:All|$)/.exec(verdict)?.[1] ?? '';
        const extent = 1; // m, that the ball falls
        for (const stepper of ['stewart-trinkle', 'anitescu', 'mirtich-canny']) {
            const [finest] = runs.filter(run => run.stepper === stepper && !run.is_truth).sort((a, b) => a.step - b.step);
            const isRight = finest[known.leading_error] < 0.01 * extent;
            assert.equal(right.includes(stepper), isRight, verdict);
            assert.equal(elsewhere.includes(stepper), !isRight, verdict);
        }
        assert.ok(elsewhere.includes('stewart-trinkle'), 'an inelastic stepper cannot be right here');
        assert.match(await page.textContent('.notes'), /stewart-trinkle is inelastic/);
    });

    await t.test('has a row per run and plots them', async () => {
        assert.equal(await page.locator('#runs tbody tr').count(), runs.length);
        const series = await page.evaluate(() => globalThis.comparison.work.series.map(({ name, x, y }) => ({ name, x: Array.from(x), y: Array.from(y) })));
        for (const { name, x, y } of series) {
            const own = runs.filter(run => run.stepper === name && !run.is_truth && run[known.leading_error] > 0);
            assert.deepEqual(y, own.map(run => run[known.leading_error]));
            assert.equal(x.length, own.length);
        }
    });

    await t.test('hides what is clicked', async () => {
        const lines = () => page.evaluate(() => globalThis.comparison.trajectory.series.length);
        const before = await lines();
        await page.click('#runs tbody tr:nth-child(1)');
        assert.equal(await lines(), before - 1);
        await page.click('#runs tbody tr:nth-child(1)');
        assert.equal(await lines(), before);
    });

    await t.test('tells values where one points', async () => {
        const box = await page.locator('.card:has(.choices) .plot-box').boundingBox();
        await page.locator('.card:has(.choices) .plot-box').scrollIntoViewIfNeeded();
        await page.waitForSelector('.card:has(.choices) .u-over');
        const at = await page.locator('.card:has(.choices) .plot-box').boundingBox();
        await page.mouse.move(at.x + box.width / 2, at.y + box.height / 2);
        await page.waitForFunction(() => /\d/.test(document.querySelector('.card:has(.choices) .legend output').textContent));
    });
    await page.screenshot({ path: `${screenshots}/compare.png`, fullPage: true });
    await closePage(page);
});

test('a comparison on a narrow screen', async () => {
    const page = await open('ball.html', { width: 390, height: 844, scheme: 'dark' });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await page.screenshot({ path: `${screenshots}/compare_narrow.png` });
    await closePage(page);
});
