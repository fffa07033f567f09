// The viewer in a browser: every scene of the catalogue starts, moves and fills its picture, and after 100 steps its state
// is the native one, bit by bit. One picture of each scene is kept in KN_BINARY_DIR/viewer-pictures.
//
// Served by `knuckle view`, as people see it. Skipped where the viewer is not built (target viewer). KN_SCENES=a,b looks at
// these alone.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { finish, knuckleBeside, launch, openUrl, test, tool } from "./harness.mjs";
import { ask, built, needViewer, open, pixels, ready, view } from "./live.mjs";

needViewer();
const pictures = join(process.env.KN_BINARY_DIR ?? dirname(tool), "viewer-pictures");
mkdirSync(pictures, { recursive: true });

await test("page and engine together are under 1.5 MB compressed", async () => {
	const size = gzipSync(readFileSync(built), { level: 9 }).length;
	assert.ok(size < 1.5e6, `${size} bytes`);
	console.log(`        ${size} bytes compressed, ${statSync(built).size} plain`);
});

const browser = await launch();
const server = await view("box-stack", "--set", "boxes=3");
const { page, complaints } = await openUrl(browser, server.url + "&play=0", { width: 400, height: 330 });

// How soon the first paint comes is told, not judged: the machine may be busy with other things.
await test("it starts", async () => {
	await ready(page);
	const paint = await page.evaluate(() => performance.getEntriesByType("paint").find((e) => e.name === "first-contentful-paint").startTime);
	console.log(`        first paint after ${paint.toFixed(0)} ms`);
	assert.equal(await page.title(), "box-stack – Knuckle");
});

// what is built to stand still, at least until its script or its driver begins
const STANDS = /stack|tower|wall|pyramid|pillars|plate|cantilever|house|arch|grid|loop|slope|mass-ratio|capstan|gripper/;
const LOOKED = 40, STEPS = 100;

const poses = () => page.evaluate(() => window.knuckle.actors().map((_, a) => window.knuckle.pose(a)));
const wanted = process.env.KN_SCENES?.split(",");
for (const name of (await ask(page, "scenes")).filter((scene) => !wanted || wanted.includes(scene))) {
	await test(`${name} starts, moves, fills its picture, and is the native run`, async () => {
		const native = knuckleBeside("run", name, "--set", "small=1", "--steps", String(STEPS), "--measure-every", String(STEPS), "--json", "-");
		await open(page, name, { small: "1" });
		const before = await poses();
		await ask(page, "step", LOOKED);
		const after = await poses();
		const moved = Math.max(...after.map((p, a) => (before[a] ? Math.hypot(...p.map((v, k) => v - before[a][k])) : 1)));
		assert.ok(moved > 1e-4 || STANDS.test(name), `${moved}`);
		const part = await ask(page, "share");
		const address = await ask(page, "shoot", 0, "image/png");
		writeFileSync(join(pictures, `${name}.png`), Buffer.from(address.split(",")[1], "base64"));
		assert.ok(part.height >= 0.2 || part.width >= 0.5, `${(100 * part.width).toFixed(0)} % x ${(100 * part.height).toFixed(0)} %`);
		const shades = new Set((await pixels(page, address)).map(([r, g, b]) => (r >> 2 << 12) | (g >> 2 << 6) | (b >> 2)));
		assert.ok(shades.size > 60, "not blank");
		await ask(page, "step", STEPS - LOOKED);
		assert.deepEqual(await ask(page, "hash"), { type: "hash", step: STEPS, hash: JSON.parse(await native).hash });
	});
}

await test("nothing was complained about, and no other server was asked", async () => {
	assert.deepEqual(complaints, []);
});
await page.close();
server.stop();
await browser.close();
finish();
