// The viewer in a browser: every scene of the catalogue starts, moves and fills its picture; time runs, stops, steps both
// ways and is scrubbed; a body is dragged; methods change; the state is the native one, bit by bit. One picture of each
// scene is kept in KN_BINARY_DIR/viewer-pictures.
//
// Served by `knuckle view`, as people see it. Skipped where the viewer is not built (target viewer).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { finish, folder, knuckle, launch, openUrl, skip, test, tool } from "./harness.mjs";

const built = join(dirname(tool), "viewer", "index.html");
if (!existsSync(built)) {
	skip("the viewer is not built (cmake --build --preset release --target viewer)");
}
const pictures = join(process.env.KN_BINARY_DIR ?? dirname(tool), "viewer-pictures");
mkdirSync(pictures, { recursive: true });

// Starts `knuckle view` and gives its address.
async function view(...words) {
	const server = spawn(tool, ["view", ...words, "--no-browser"], { stdio: ["ignore", "pipe", "inherit"] });
	const url = await new Promise((done, fail) => {
		let text = "";
		server.stdout.on("data", (data) => {
			text += data;
			if (text.includes("\n")) {
				done(text.split("\n")[0]);
			}
		});
		server.on("exit", (status) => fail(new Error(`knuckle view ended with ${status}`)));
	});
	return { url, stop: () => server.kill("SIGINT") };
}

const ready = (page) => page.evaluate(() => window.knuckle.ready);
const ask = (page, name, ...words) => page.evaluate(([n, w]) => window.knuckle[n](...w), [name, words]);
const share = (page) => ask(page, "share");

// How far the brightest and the darkest parts of a picture are apart, and how many shades it has.
async function shades(page, address) {
	return page.evaluate(async (source) => {
		const image = new Image();
		image.src = source;
		await image.decode();
		const canvas = document.createElement("canvas");
		canvas.width = image.width;
		canvas.height = image.height;
		const context = canvas.getContext("2d");
		context.drawImage(image, 0, 0);
		const data = context.getImageData(0, 0, image.width, image.height).data;
		const found = new Set();
		for (let i = 0; i < data.length; i += 4) {
			found.add((data[i] >> 2 << 12) | (data[i + 1] >> 2 << 6) | (data[i + 2] >> 2));
		}
		return found.size;
	}, address);
}

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

await test("the state after 100 steps is the native one", async () => {
	await ask(page, "open", { scene: "ragdolls", set: { count: "2" } });
	await ask(page, "pause");
	await ask(page, "goTo", 0);
	await ask(page, "step", 100);
	const native = JSON.parse(knuckle("run", "ragdolls", "--set", "count=2", "--steps", "100", "--json", "-"));
	assert.deepEqual(await ask(page, "hash"), { type: "hash", step: 100, hash: native.hash });
});

await test("run, pause, step, back, scrub and restart", async () => {
	await ask(page, "open", { scene: "pendulum", set: {} });
	await page.locator("#play").click();
	await page.waitForFunction(() => window.knuckle.stepNumber() > 5, null, { timeout: 60000 });
	await page.locator("#play").click();
	assert.equal(await ask(page, "playing"), false);
	const { step: held } = await ask(page, "hash");
	await page.waitForFunction((step) => window.knuckle.stepNumber() === step, held);
	await page.waitForTimeout(200);
	assert.equal((await ask(page, "hash")).step, held, "it holds still");
	const at = await ask(page, "position", 1);
	await page.keyboard.press("ArrowRight");
	await page.waitForFunction((step) => window.knuckle.stepNumber() === step + 1, held);
	assert.notDeepEqual(await ask(page, "position", 1), at);
	await page.keyboard.press("ArrowLeft");
	await page.waitForFunction((step) => window.knuckle.stepNumber() === step, held);
	assert.deepEqual(await ask(page, "position", 1), at);
	await page.locator("#scrub").evaluate((slider) => {
		slider.value = "0.02";
		slider.dispatchEvent(new Event("input"));
	});
	await page.waitForFunction(() => window.knuckle.stepNumber() === 2);
	assert.ok((await ask(page, "latest")) > 2, "the future is still there");
	await page.keyboard.press("r");
	await page.waitForFunction(() => window.knuckle.latest() < 2);
});

await test("dragging a body moves it", async () => {
	await ask(page, "open", { scene: "box-stack", set: { boxes: "1" } });
	const before = await ask(page, "position", 1);
	const { x, y } = await ask(page, "screen", 1);
	const canvas = await page.locator("#view").boundingBox();
	await page.mouse.move(canvas.x + x, canvas.y + y);
	await page.mouse.down();
	// far enough: the spring hangs a little under its load
	await page.mouse.move(canvas.x + x + 30, canvas.y + 5, { steps: 4 });
	await ask(page, "play");
	await page.waitForFunction((z) => window.knuckle.position(1)[2] > z + 0.1, before[2], { timeout: 60000 });
	await page.mouse.up();
	await ask(page, "pause");
	const after = await ask(page, "position", 1);
	assert.ok(Math.hypot(...after.map((v, k) => v - before[k])) > 0.1);
});

await test("a thrown ball is a new body", async () => {
	const count = (await ask(page, "actors")).length;
	await page.keyboard.press("b");
	await page.waitForFunction((n) => window.knuckle.actors().length === n + 1, count, { timeout: 20000 });
});

await test("contact arrows appear and go", async () => {
	await ask(page, "open", { scene: "box-stack", set: { boxes: "4" } });
	assert.equal(await ask(page, "arrows"), 0);
	await page.evaluate(() => {
		document.querySelector("#panel").hidden = false;
		document.querySelector("#show-contacts").click();
	});
	await ask(page, "step", 3);
	assert.ok((await ask(page, "arrows")) >= 16, String(await ask(page, "arrows")));
	await page.evaluate(() => document.querySelector("#show-contacts").click());
	await ask(page, "step", 1);
	assert.equal(await ask(page, "arrows"), 0);
});

await test("the contact graph has an edge for each pair that touches", async () => {
	await ask(page, "open", { scene: "box-stack", set: { boxes: "4" } });
	await page.evaluate(() => document.querySelector("#show-graph").click());
	await ask(page, "step", 3);
	assert.equal(await ask(page, "edges"), 4);
	await page.evaluate(() => document.querySelector("#show-graph").click());
	await ask(page, "step", 1);
	assert.equal(await ask(page, "edges"), 0);
});

await test("every stepper runs, islands are coloured, a ghost walks beside", async () => {
	for (const stepper of await ask(page, "steppers")) {
		await ask(page, "open", { scene: "pendulum", stepper, set: {} });
		assert.equal((await ask(page, "described")).stepper, stepper);
		await ask(page, "step", 5);
		assert.equal(await ask(page, "stepNumber"), 5);
	}
	await page.selectOption("#coloring", "islands");
	await page.selectOption("#coloring", "joints");
	await page.selectOption("#ghost", (await ask(page, "steppers"))[0]);
	await ask(page, "step", 5);
	await page.selectOption("#ghost", "");
	await page.selectOption("#coloring", "own");
});

await test("what is refused is said, and the page lives on", async () => {
	await page.evaluate(() => window.knuckle.open({ scene: "tower", set: { layers: "-1" } }).catch(() => 0) && 0);
	await page.locator("#notice").waitFor({ state: "visible", timeout: 20000 });
	assert.match(await page.locator("#notice").innerText(), /layers/);
	await ask(page, "open", { scene: "slope", set: {} });
	await ask(page, "step", 3);
	assert.equal(await ask(page, "stepNumber"), 3);
});

await test("a recording that is dropped plays", async () => {
	const file = join(folder, "drop.knt");
	knuckle("run", "dominoes", "--steps", "40", "--out", file);
	await page.evaluate((open) => (document.querySelector("#panel").hidden = !open), true);
	await page.locator('#panel input[type="file"]').setInputFiles(file, { timeout: 10000 });
	await page.waitForFunction(() => document.querySelector("#title p").textContent.includes("41 frames"), null, { timeout: 30000 });
});

// --- every scene -----------------------------------------------------------------------------------------------------

// what is built to stand still, at least until its script or its driver begins
const STANDS = /stack|tower|wall|pyramid|pillars|plate|cantilever|house|arch|grid|loop|slope|mass-ratio|capstan|gripper/;

// KN_SCENES=a,b looks at these alone
const wanted = process.env.KN_SCENES?.split(",");
for (const name of (await ask(page, "scenes")).filter((scene) => !wanted || wanted.includes(scene))) {
	await test(`${name} starts, moves and fills its picture`, async () => {
		await ask(page, "open", { scene: name, set: { small: "1" } });
		const before = await page.evaluate(() => window.knuckle.actors().map((_, a) => window.knuckle.pose(a)));
		await ask(page, "step", 40);
		const after = await page.evaluate(() => window.knuckle.actors().map((_, a) => window.knuckle.pose(a)));
		const moved = Math.max(...after.map((p, a) => (before[a] ? Math.hypot(...p.map((v, k) => v - before[a][k])) : 1)));
		assert.ok(moved > 1e-4 || STANDS.test(name), `${moved}`);
		const part = await share(page);
		const address = await ask(page, "shoot", 0, "image/png");
		writeFileSync(join(pictures, `${name}.png`), Buffer.from(address.split(",")[1], "base64"));
		assert.ok(part.height >= 0.2 || part.width >= 0.5, `${(100 * part.width).toFixed(0)} % x ${(100 * part.height).toFixed(0)} %`);
		assert.ok((await shades(page, address)) > 60, "not blank");
	});
}

await test("nothing was complained about, and no other server was asked", async () => {
	assert.deepEqual(complaints, []);
});
await page.close();
server.stop();

await test("a model file runs", async () => {
	const model = await view(join(process.env.KN_SOURCE_DIR ?? join(dirname(tool), "..", ".."), "models", "four_bar.xml"));
	const { page: other, complaints: said } = await openUrl(browser, model.url + "&play=0", { width: 400, height: 300 });
	await ready(other);
	await ask(other, "step", 20);
	assert.equal(await ask(other, "stepNumber"), 20);

	// another is dropped, with the mesh that it names
	const obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
	const xml = `<mujoco><asset><mesh name="m" file="m.obj"/></asset><worldbody><body name="a"><freejoint/><geom type="mesh" mesh="m"/>
		<body name="b" pos="2 0 0"><joint/><geom size="1"/></body></body></worldbody></mujoco>`;
	await other.evaluate(() => (document.querySelector("#panel").hidden = false));
	await other.locator('#panel input[type="file"]').setInputFiles([["m.obj", obj], ["two.xml", xml]].map(([name, text]) =>
		({ name, mimeType: "text/plain", buffer: Buffer.from(text) })));
	await other.waitForFunction(() => window.knuckle.actors().length === 3, null, { timeout: 20000 });
	assert.deepEqual((await ask(other, "actors")).slice(1), ["a", "b"]);
	// the tree: b hangs on a, and is hidden with it
	const boxes = other.locator(".tree input");
	await boxes.first().evaluate((box) => box.click());
	assert.deepEqual(await boxes.evaluateAll((all) => all.map((box) => box.checked)), [false, false]);
	assert.deepEqual(said, []);
	await other.close();
	model.stop();
});

await browser.close();
finish();
