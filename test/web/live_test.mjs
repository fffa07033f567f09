// The live page under a hand: time runs, stops, steps both ways and is scrubbed; bodies are dragged, thrown at and cut off;
// motors follow their sliders; methods change, a ghost walks beside; the address tells all of it. What is refused, and a
// browser without 3D, is said on the page.
//
// Served by `knuckle view`, as people see it, and from disk as a static site. Skipped where the viewer is not built.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { eventually, finish, folder, knuckle, launch, listen, openUrl, root, test } from "./harness.mjs";
import { ask, built, drop, models, needViewer, open, pixels, ready, showPanel, slide, view } from "./live.mjs";

needViewer();
const browser = await launch();
const server = await view("box-stack", "--set", "boxes=3");
const { page, complaints } = await openUrl(browser, server.url + "&play=0", { width: 420, height: 520 });
await ready(page);
await showPanel(page);

const until = (check, argument) => page.waitForFunction(check, argument);
const said = (pattern, where = page) => where.waitForFunction((source) => {
	const box = document.querySelector("#notice");
	return !box.hidden && new RegExp(source).test(box.textContent);
}, pattern.source);

// --- time --------------------------------------------------------------------------------------------------------------

await test("run, pause, step, back, scrub and restart", async () => {
	await open(page, "pendulum");
	await page.locator("#play").click();
	await until(() => window.knuckle.stepNumber() > 5);
	await page.locator("#play").click();
	assert.equal(await ask(page, "playing"), false);
	const { step: held } = await ask(page, "hash");
	await until((step) => window.knuckle.stepNumber() === step, held);
	await page.waitForTimeout(200); // however long, nothing may come
	assert.equal((await ask(page, "hash")).step, held, "it holds still");
	const at = await ask(page, "position", 1);
	await page.keyboard.press("ArrowRight");
	await until((step) => window.knuckle.stepNumber() === step + 1, held);
	assert.notDeepEqual(await ask(page, "position", 1), at);
	await page.keyboard.press("ArrowLeft");
	await until((step) => window.knuckle.stepNumber() === step, held);
	assert.deepEqual(await ask(page, "position", 1), at);
	await slide(page.locator("#scrub"), 0.02);
	await until(() => window.knuckle.stepNumber() === 2);
	assert.ok((await ask(page, "latest")) > 2, "the future is still there");
	await page.keyboard.press("End");
	await until(() => window.knuckle.stepNumber() === window.knuckle.latest());
	await page.keyboard.press("Home");
	await until(() => window.knuckle.stepNumber() === 0);
	await page.keyboard.press("Space");
	await until(() => window.knuckle.stepNumber() > 2);
	await page.keyboard.press("r");
	await until(() => window.knuckle.latest() < 2);
});

await test("in slow motion time goes a tenth as fast", async () => {
	await open(page, "pendulum");
	await page.selectOption("#speed", "0.1");
	await until(() => location.hash.includes("speed=0.1"));
	// from before it was asked to run until after it has stopped
	const { passed, step } = await page.evaluate(async () => {
		const start = performance.now();
		window.knuckle.play();
		while (window.knuckle.stepNumber() < 10) {
			await new Promise((done) => setTimeout(done, 50));
		}
		window.knuckle.pause();
		const { step } = await window.knuckle.hash();
		return { passed: (performance.now() - start) / 1000, step };
	});
	assert.ok(step >= 10 && (step - 1) * 0.01 <= 0.1 * passed, `${step} steps in ${passed} s`);
	await page.selectOption("#speed", "1");
});

// --- touch -------------------------------------------------------------------------------------------------------------

// The hand on the middle of the first body.
async function reachFirst() {
	await page.evaluate(() => (document.querySelector("#panel").hidden = true));
	const at = await ask(page, "screen", 1), canvas = await page.locator("#view").boundingBox();
	const x = canvas.x + at.x, y = canvas.y + at.y;
	await page.mouse.move(x, y);
	await page.mouse.down();
	return { x, y };
}

await test("dragging a body moves it", async () => {
	await open(page, "box-stack", { boxes: "1" });
	const before = await ask(page, "position", 1);
	const { x, y } = await reachFirst();
	assert.equal(await ask(page, "holds"), 1);
	await page.mouse.move(x + 40, y - 90, { steps: 4 });
	await ask(page, "play");
	// far enough: the spring hangs a little under its load
	await until((z) => window.knuckle.position(1)[2] > z + 0.1, before[2]);
	await page.mouse.up();
	assert.equal(await ask(page, "holds"), 0);
	await ask(page, "pause");
	await showPanel(page);
});

await test("a finger drags a body, and a tap starts the time", async () => {
	const touched = await browser.newContext({ viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true });
	const phone = await touched.newPage(), complained = listen(phone, server.url);
	await phone.goto(server.url.replace("set.boxes=3", "set.boxes=1") + "&play=0");
	await ready(phone);
	const before = await ask(phone, "position", 1);
	const fingers = await touched.newCDPSession(phone);
	const touch = (type, ...points) => fingers.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([px, py]) => ({ x: px, y: py })) });
	await phone.locator("#play").tap();
	await phone.waitForFunction(() => window.knuckle.playing());
	// a plot that comes while the finger is on its way moves everything up, and a browser that waits too long for a page takes
	// a touch back: then the finger reaches again
	await eventually(async () => {
		const { x, y } = await ask(phone, "screen", 1);
		await touch("touchStart", [x, y]);
		await touch("touchMove", [x, y - 60]);
		await touch("touchMove", [x, y - 120]);
		let z = before[2];
		for (let i = 0; i < 50 && z <= before[2] + 0.1 && await ask(phone, "holds") === 1; ++i) {
			await phone.waitForTimeout(100);
			z = (await ask(phone, "position", 1))[2];
		}
		await touch("touchEnd");
		return z;
	}, (z) => z > before[2] + 0.1);
	assert.deepEqual(complained, []);
	await touched.close();
});

await test("balls and boxes are thrown, and are new bodies", async () => {
	await open(page, "box-stack", { boxes: "2" });
	const count = (await ask(page, "actors")).length;
	await page.keyboard.press("b");
	await until((n) => window.knuckle.actors().length === n + 1, count);
	await page.locator("#box").click();
	await until((n) => window.knuckle.actors().length === n + 2, count);
	await ask(page, "step", 40);
	assert.ok((await ask(page, "position", 3)).every(Number.isFinite));
});

await test("with Shift a click pushes", async () => {
	await open(page, "box-stack", { boxes: "1" });
	const before = await ask(page, "position", 1);
	await page.keyboard.down("Shift");
	await reachFirst();
	await page.mouse.up();
	await page.keyboard.up("Shift");
	await ask(page, "step", 20);
	const after = await ask(page, "position", 1);
	assert.ok(Math.hypot(after[0] - before[0], after[1] - before[1]) > 0.05, `${before} ${after}`);
	await showPanel(page);
});

await test("gravity follows its slider, which begins at the scene's own", async () => {
	await open(page, "free-ring");
	assert.equal(await page.locator("#gravity").inputValue(), "0");
	await open(page, "box-stack", { boxes: "1" });
	assert.equal(await page.locator("#gravity").inputValue(), "-9.81");
	await slide(page.locator("#gravity"), 5);
	await ask(page, "step", 50);
	const z = (await ask(page, "position", 1))[2];
	assert.ok(Math.abs(z - 0.5 - 0.5 * 5 * 0.25) < 0.05, String(z));
});

await test("a joint is cut, and what hung on it falls freely", async () => {
	await open(page, "pendulum");
	const before = (await ask(page, "position", 1))[2];
	await page.locator(".tree button").first().click();
	await page.getByRole("button", { name: "cut" }).first().click();
	await ask(page, "step", 60);
	const fell = before - (await ask(page, "position", 1))[2];
	assert.ok(Math.abs(fell - 0.5 * 9.81 * 0.36) < 0.06, String(fell));
});

await test("motors follow their sliders", async () => {
	await open(page, "crank");
	await ask(page, "step", 20);
	const onward = await ask(page, "position", 1);
	await ask(page, "goTo", 0);
	const slider = page.locator('#panel label input[type="range"]:not(#gravity)').first();
	await slide(slider, -6);
	await ask(page, "step", 20);
	const other = await ask(page, "position", 1);
	assert.ok(Math.hypot(...other.map((v, k) => v - onward[k])) > 0.01, `${onward} ${other}`);
});

// --- methods, looks ----------------------------------------------------------------------------------------------------

await test("contact arrows and normals appear and go", async () => {
	await open(page, "box-stack", { boxes: "4" });
	assert.equal(await ask(page, "arrows"), 0);
	await page.locator("#show-contacts").click();
	await ask(page, "step", 3);
	assert.ok((await ask(page, "arrows")) >= 16, String(await ask(page, "arrows")));
	assert.ok((await ask(page, "normals")) >= (await ask(page, "arrows")));
	await page.locator("#show-contacts").click();
	await ask(page, "step", 1);
	assert.equal((await ask(page, "arrows")) + (await ask(page, "normals")), 0);
});

await test("the contact graph has an edge for each pair that touches", async () => {
	await open(page, "box-stack", { boxes: "4" });
	await page.locator("#show-graph").click();
	await ask(page, "step", 3);
	assert.equal(await ask(page, "edges"), 4);
	await page.locator("#show-graph").click();
	await ask(page, "step", 1);
	assert.equal(await ask(page, "edges"), 0);
});

await test("each stepper that is chosen runs, and a ghost is the same scene under another", async () => {
	const ends = {};
	const steppers = await ask(page, "steppers");
	assert.deepEqual([...steppers].sort(), ["adaptive", "impulse", "reduced", "velocity"]);
	await open(page, "pendulum", { links: "3" });
	for (const stepper of steppers) {
		await page.selectOption("#stepper", stepper);
		await until((name) => window.knuckle.described().stepper === name, stepper);
		await ask(page, "step", 30);
		assert.equal(await ask(page, "stepNumber"), 30);
		ends[stepper] = await ask(page, "position", 3);
	}
	await page.selectOption("#stepper", "reduced");
	await until(() => window.knuckle.described().stepper === "reduced");
	await page.selectOption("#ghost", "impulse");
	await until(() => window.knuckle.ghost(1).length === 3);
	await ask(page, "step", 30);
	assert.deepEqual(await ask(page, "position", 3), ends.reduced);
	assert.deepEqual(await ask(page, "ghost", 3), ends.impulse);
	assert.notDeepEqual(ends.impulse, ends.reduced);
	for (const color of ["islands", "layers", "contacts", "joints", "own"]) {
		await page.selectOption("#coloring", color);
		await ask(page, "step", 1);
	}
	await page.locator("#show-joints").click();
	await page.locator("#show-wireframe").click();
	await ask(page, "step", 1);
	await page.locator("#show-wireframe").click();
	await page.locator("#show-joints").click();
	await page.selectOption("#ghost", "");
	await until(() => window.knuckle.ghost(1).length === 0);
});

await test("a parameter that is changed opens the scene anew", async () => {
	await open(page, "box-stack", { boxes: "3" });
	const field = page.locator("#parameters label", { hasText: /^boxes/ }).locator("input");
	await field.fill("5");
	await field.press("Enter");
	await until(() => window.knuckle.described().bodies === 5 && window.knuckle.actors().length === 6);
	assert.match(page.url(), /set\.boxes=5/);
});

await test("F fits the chosen body, C follows it", async () => {
	await open(page, "dominoes", { small: "1" });
	await page.locator(".tree button").nth(2).click();
	await page.locator("#view").focus().catch(() => undefined);
	await page.keyboard.press("f");
	const off = async () => {
		const { x, y } = await ask(page, "screen", 3), canvas = await page.locator("#view").boundingBox();
		return Math.hypot(x - canvas.width / 2, y - canvas.height / 2);
	};
	await eventually(off, (far) => far < 12);
	await page.keyboard.press("c");
	await ask(page, "step", 120);
	await eventually(off, (far) => far < 12);
	await page.keyboard.press("c");
});

await test("walls in the way let the eye through", async () => {
	await open(page, "silo", { small: "1" });
	await ask(page, "step", 60);
	// balls are teal and boxes ochre, walls are grey
	const vivid = async () => (await pixels(page, await ask(page, "shoot", 0, "image/png")))
		.filter(([r, g, b]) => Math.max(r, g, b) - Math.min(r, g, b) > 24).length;
	const above = await vivid();
	const level = await openUrl(browser, `${server.url.replace(/#.*/, "")}#scene=silo&set.small=1&play=0&view=-62,2`, { width: 420, height: 520 });
	await ready(level.page);
	await ask(level.page, "step", 60);
	const address = await ask(level.page, "shoot", 0, "image/png");
	const through = (await pixels(level.page, address)).filter(([r, g, b]) => Math.max(r, g, b) - Math.min(r, g, b) > 24).length;
	assert.ok(above > 500 && through > 500, `${above} ${through}`);
	assert.deepEqual(level.complaints, []);
	await level.page.close();
});

await test("the address tells all settings: what it says is what comes back", async () => {
	// the one that the document shows
	const text = readFileSync(join(root, "docs", "viewer.md"), "utf8").match(/^ {4}(#scene=\S+)$/m)[1];
	const first = await openUrl(browser, `${server.url.replace(/#.*/, "")}${text.replace("layers=16", "layers=4")}&play=0`, { width: 420, height: 520 });
	await ready(first.page);
	const described = await ask(first.page, "described");
	assert.deepEqual([described.stepper, described.dt, described.bodies], ["impulse", 0.01, 80]);
	await ask(first.page, "step", 2);
	assert.ok((await ask(first.page, "arrows")) > 0 && (await ask(first.page, "ghost", 1)).length === 3);
	// a hand turns the view, time is slowed, the theme changed
	await first.page.evaluate(() => (document.querySelector("#panel").hidden = true));
	await ask(first.page, "screen", 80); // plots stand
	const canvas = await first.page.locator("#view").boundingBox();
	await first.page.mouse.move(canvas.x + 20, canvas.y + canvas.height - 12);
	await first.page.mouse.down();
	await first.page.mouse.move(canvas.x + 120, canvas.y + canvas.height - 40, { steps: 5 });
	await first.page.mouse.up();
	await first.page.keyboard.press("-");
	await first.page.keyboard.press("t");
	await first.page.keyboard.press("s");
	await first.page.evaluate(() => document.querySelector("#show-penetration").click());
	await first.page.evaluate(() => document.querySelector(".tree input").click());
	// the view swings out, then the address tells where it came to rest
	await eventually(() => ask(first.page, "resting"));
	const seen = await ask(first.page, "eye");
	assert.ok(seen.length === 6 && /eye=/.test(first.page.url()), first.page.url());
	assert.match(first.page.url(), /speed=0\.5/);
	const second = await openUrl(browser, first.page.url(), { width: 420, height: 520 });
	await ready(second.page);
	await ask(second.page, "step", 2);
	const again = await ask(second.page, "eye");
	assert.ok(again.every((v, k) => Math.abs(v - seen[k]) < 1e-3 * Math.hypot(...seen)), `${seen} ${again}`);
	assert.deepEqual(await ask(second.page, "described"), described);
	assert.equal(await second.page.locator("#speed").inputValue(), "0.5");
	assert.match(first.page.url(), /off=shadows,penetration/);
	assert.equal(await second.page.locator('#tools [title^="shadows"]').getAttribute("aria-pressed"), "false");
	const ticks = (where) => where.evaluate(() => [...document.querySelectorAll("#show-penetration, .tree input")].slice(0, 3).map((box) => box.checked));
	assert.deepEqual(await ticks(second.page), [false, false, true]);
	const dark = (where) => where.evaluate(() => document.documentElement.classList.contains("dark"));
	assert.equal(await dark(second.page), await dark(first.page));
	assert.deepEqual([...first.complaints, ...second.complaints], []);
	await first.page.close();
	await second.page.close();
});

await test("the gallery of pictures opens scenes", async () => {
	await page.locator("#pictures").click();
	const card = page.locator("#gallery button", { hasText: "struck-stack" });
	await card.scrollIntoViewIfNeeded();
	await page.waitForFunction(() => [...document.querySelectorAll("#gallery img")].some((image) => image.naturalWidth > 100));
	await card.click();
	await until(() => window.knuckle.described().scene === "struck-stack");
});

// --- what is given away ------------------------------------------------------------------------------------------------

await test("pictures, films, plots and recordings are saved", async () => {
	await open(page, "dominoes", { small: "1" });
	await ask(page, "step", 30);
	await ask(page, "screen", 1); // plots stand
	const save = async (format, act = () => page.locator(`#save-${format}`).click()) => {
		const [file] = await Promise.all([page.waitForEvent("download"), act()]);
		return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
	};
	const start = (bytes, length) => bytes.subarray(0, length).toString("latin1");
	const picture = await save("png");
	assert.deepEqual([picture.name, start(picture.bytes, 4)], ["dominoes.png", "\x89PNG"]);
	const plots = await save("plots-png");
	assert.deepEqual([plots.name, start(plots.bytes, 4)], ["dominoes-plots.png", "\x89PNG"]);
	const table = (await save("plots")).bytes.toString();
	assert.match(table, /^"time s","energy: kinetic J"/);
	assert.ok(table.trim().split("\n").length >= 3);
	const glb = await save("glb"), knt = await save("knt"), csv = await save("csv");
	assert.equal(start(glb.bytes, 4), "glTF");
	assert.equal(start(knt.bytes.subarray(1), 3), "KNT");
	assert.equal(csv.bytes.toString().trim().split("\n").length, 1 + 31 * (await ask(page, "described")).bodies);
	await page.locator("#save-webm").click();
	for (let i = 0; i < 8; ++i) {
		await ask(page, "step", 5);
		await page.waitForTimeout(250);
	}
	const film = await save("webm");
	assert.ok(film.bytes.length > 1000 && start(film.bytes, 4) === "\x1aE\xdf\xa3", `${film.bytes.length} bytes`);
});

// Every word that a plot writes lies within its canvas, and every plot and button within the window.
await test("nothing of the plots and buttons is cut at any width", async () => {
	for (const [width, height] of [[320, 640], [768, 700], [1600, 700], [2560, 600]]) {
		const context = await browser.newContext({ viewport: { width, height } });
		await context.addInitScript(() => {
			window.cut = [];
			const write = CanvasRenderingContext2D.prototype.fillText;
			CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
				const size = this.measureText(text), place = this.getTransform();
				const corners = [[x - size.actualBoundingBoxLeft, y - size.actualBoundingBoxAscent],
					[x + size.actualBoundingBoxRight, y + size.actualBoundingBoxDescent]].map(([a, b]) => place.transformPoint({ x: a, y: b }));
				if (this.canvas.isConnected && corners.some((p) => p.x < -0.5 || p.y < -0.5 || p.x > this.canvas.width + 0.5 || p.y > this.canvas.height + 0.5)) {
					window.cut.push(`${text} at ${corners.map((p) => [p.x, p.y].map(Math.round))} of ${this.canvas.width} x ${this.canvas.height}`);
				}
				return write.call(this, text, x, y, ...more);
			};
		});
		const other = await context.newPage(), complained = listen(other, server.url);
		await other.goto(`${server.url.replace(/#.*/, "")}#scene=heavy-chain&set.small=1&play=0`);
		await ready(other);
		const look = () => {
			const wrong = [...window.cut];
			const boxes = [...document.querySelectorAll("#transport > *, #tools > *, .plot, .plot h2 span")].filter((part) => part.offsetParent)
				.map((part) => ({ part, box: part.getBoundingClientRect() }));
			for (const { part, box } of boxes) {
				if (box.left < -0.5 || box.right > innerWidth + 0.5 || part.scrollWidth > part.clientWidth + 1 && part.matches("#clock, .plot")) {
					wrong.push(`${part.id || part.className || part.textContent} from ${box.left} to ${box.right}`);
				}
			}
			const bar = boxes.filter(({ part }) => part.parentElement.id === "transport");
			bar.slice(1).forEach(({ part, box }, i) => box.left < bar[i].box.right - 0.5 && wrong.push(`${part.id} lies over its neighbour`));
			return { wrong, plots: document.querySelectorAll(".plot").length };
		};
		// plots follow the layout a frame or two later: what stays cut counts
		for (let i = 0; i < 6; ++i) {
			await ask(other, "step", 20);
			await ask(other, "screen", 1);
		}
		const found = await eventually(async () => {
			await other.evaluate(() => { window.cut = []; });
			await ask(other, "step", 1);
			await ask(other, "screen", 1);
			await ask(other, "step", 1);
			return other.evaluate(look);
		}, ({ wrong }) => wrong.length === 0);
		assert.ok(found.plots >= 4, `${found.plots} plots`);
		assert.deepEqual(complained, []);
		await context.close();
	}
});

await test("plots of nothing but zeros are folded away", async () => {
	const plots = () => page.locator(".plot h2").evaluateAll((heads) => heads.map((h) => h.firstChild.textContent));
	await open(page, "box-stack", { boxes: "2" });
	await ask(page, "step", 10);
	await ask(page, "screen", 1); // plots stand
	assert.ok(!(await plots()).includes("joint gap"), String(await plots()));
	assert.ok((await plots()).includes("contacts"));
	await open(page, "pendulum");
	await page.locator(".tree button").first().click();
	await page.getByRole("button", { name: "plot", exact: true }).first().click();
	await ask(page, "step", 10);
	await ask(page, "screen", 1); // plots stand
	const [plotted] = (await ask(page, "described")).joints;
	assert.ok((await plots()).includes(`joint ${plotted.name}`) && !(await plots()).includes("contacts"), String(await plots()));
	assert.match(await page.locator(".plot h2", { hasText: "joint " + plotted.name }).innerText(), /rad$/);
	// what is switched off stays so when curves come and go
	await page.keyboard.press("p");
	await open(page, "box-stack", { boxes: "2" });
	await ask(page, "step", 10);
	await ask(page, "screen", 1);
	assert.equal(await page.locator("#plots").isVisible(), false);
	await page.keyboard.press("p");
	assert.equal(await page.locator("#plots").isVisible(), true);
});

// --- files, trouble ----------------------------------------------------------------------------------------------------

await test("a recording that is dropped plays", async () => {
	const file = join(folder, "drop.knt");
	knuckle("run", "dominoes", "--steps", "40", "--out", file);
	await page.locator('#panel input[type="file"]').setInputFiles(file);
	await page.waitForFunction(() => document.querySelector("#title p").textContent.includes("41 frames"));
	// of a file that was cut, what is whole plays, and is said to be a part
	await page.locator('#panel input[type="file"]').setInputFiles({ name: "cut.knt", mimeType: "", buffer: readFileSync(file).subarray(0, -2000) });
	await page.waitForFunction(() => /what is whole of a damaged file .* \d+ frames/.test(document.querySelector("#title p").textContent));
	await page.locator('#panel input[type="file"]').setInputFiles({ name: "noise.knt", mimeType: "", buffer: Buffer.from("noise") });
	await said(/noise\.knt: the file is not a \.knt trajectory/);
});

await test("a robot and hills are dropped, compiled and run", async () => {
	const urdf = `<robot name="r"><link name="base"/><link name="lever"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
		ixz="0" iyz="0"/></inertial><visual><geometry><box size="1 0.2 0.2"/></geometry></visual></link><joint name="j" type="continuous">
		<parent link="base"/><child link="lever"/></joint></robot>`;
	await drop(page, ["lever.urdf", urdf]);
	await until(() => window.knuckle.actors().includes("lever"));
	await drop(page, ["hills.xml", `<mujoco><asset><hfield name="h" nrow="3" ncol="3" size="2 2 1 0.2" elevation="0 0 0 0 1 0 0 0 0"/></asset>
		<worldbody><geom type="hfield" hfield="h"/><body name="ball" pos="0.9 0.3 1.5"><freejoint/><geom size="0.3"/></body></worldbody></mujoco>`]);
	await until(() => window.knuckle.actors().includes("ball"));
	await ask(page, "step", 60);
	assert.ok((await ask(page, "position", 1))[2] > 0.2, "the ball lies on the hills");
	await drop(page, ["bad.xml", "<mujoco><worldbody><geom type='box' size='-1 1 1'/></worldbody></mujoco>"]);
	await said(/bad\.xml/);
	// the browser itself remarks on an answer that refuses
	complaints.splice(0, complaints.length, ...complaints.filter((text) => !/status of 422/.test(text)));
	await drop(page, ["notes.txt", "hello"]);
	await said(/nothing that this page can show/);
});

await test("colours of a model are as transparent as it says, and its floor has its own", async () => {
	const share = async (opacity) => {
		await drop(page, [`veil${opacity}.xml`, `<mujoco><worldbody><geom type="plane" size="0 0 1" rgba="0.1 0.6 0.1 1"/><body name="veil${opacity}" pos="0 0 1">
			<freejoint/><geom type="box" size="1 1 1" rgba="0.9 0.05 0.05 ${opacity}"/></body></worldbody></mujoco>`]);
		await until((name) => window.knuckle.actors().includes(name), `veil${opacity}`);
		await ask(page, "step", 1);
		const all = await pixels(page, await ask(page, "shoot", 0, "image/png"));
		return [all.filter(([r, g]) => r - g > 90).length / all.length, all.filter(([r, g]) => g - r > 30).length / all.length];
	};
	const [solid, green] = await share(1), [veiled] = await share(0.25), [unseen] = await share(0);
	assert.ok(solid > 0.1 && green > 0.1, `${solid} ${green}`);
	assert.ok(veiled < 0.3 * solid && unseen === 0, `${solid} ${veiled} ${unseen}`);
});

await test("pictures of a model lie on its surfaces, and shininess shows", async () => {
	await drop(page, ["looks.xml", `<mujoco><asset><texture name="t" type="cube" builtin="checker" rgb1="1 0 0" rgb2="0 1 0" width="64" height="64"/>
		<material name="m" texture="t"/><material name="bright" rgba="0.1 0.1 0.6 1" specular="1" shininess="0.9"/>
		<material name="matt" rgba="0.1 0.1 0.6 1" specular="0" shininess="0"/></asset>
		<worldbody><body name="cube" pos="0 0 1"><freejoint/><geom type="box" size="1 1 1" material="m"/></body>
		<body name="ball" pos="2.5 0 1"><freejoint/><geom size="1" material="bright"/></body>
		<body name="dull" pos="-2.5 0 1"><freejoint/><geom size="1" material="matt"/></body></worldbody></mujoco>`]);
	await until(() => window.knuckle.actors().includes("dull"));
	await ask(page, "step", 1);
	await ask(page, "screen", 1); // plots stand: the canvas keeps its size from here on
	const picture = await ask(page, "shoot", 0, "image/png");
	const all = await pixels(page, picture);
	const red = all.filter(([r, g, b]) => r > 60 && r > 3 * g && r > 3 * b).length, green = all.filter(([r, g, b]) => g > 60 && g > 3 * r && g > 3 * b).length;
	assert.ok(red > 0.005 * all.length && green > 0.005 * all.length && red < 2 * green && green < 2 * red, `${red} red, ${green} green of ${all.length}`);
	// white light on the bright ball alone; the head of a PNG tells its width
	const width = Buffer.from(picture.split(",")[1], "base64").readUInt32BE(16);
	const brightest = async (actor) => {
		const { x, y } = await ask(page, "screen", actor), canvas = await page.locator("#view").boundingBox();
		const scale = width / canvas.width;
		const near = all.filter((_, i) => Math.hypot(i % width - x * scale, Math.floor(i / width) - y * scale) < 32 * scale);
		return Math.max(...near.map((rgb) => Math.min(...rgb)));
	};
	const [bright, dull] = [await brightest(2), await brightest(3)];
	assert.ok(bright > dull + 30, `${bright} ${dull}`);
});

await test("what is refused is said, and the page lives on", async () => {
	await page.evaluate(() => window.knuckle.open({ scene: "tower", set: { layers: "-1" } }).catch(() => 0) && 0);
	await said(/layers/);
	await open(page, "slope");
	await ask(page, "step", 3);
	assert.equal(await ask(page, "stepNumber"), 3);
});

await test("nothing was complained about, and no other server was asked", async () => {
	assert.deepEqual(complaints, []);
});
await page.close();

await test("an address of no scene says which was meant", async () => {
	const { page: lost } = await openUrl(browser, `${server.url.replace(/#.*/, "")}#scene=towr`);
	await lost.locator("#trouble").waitFor({ state: "visible" });
	assert.match(await lost.locator("#trouble").innerText(), /did you mean 'tower'/);
	await lost.close();
});

await test("without WebGL the page says so", async () => {
	const plain = await launch("--disable-3d-apis");
	const { page: flat } = await openUrl(plain, server.url);
	await flat.locator("#trouble").waitFor({ state: "visible" });
	assert.match(await flat.locator("#trouble").innerText(), /WebGL/);
	await plain.close();
});
server.stop();

await test("a model file runs, its actuators have sliders, another is dropped with its mesh", async () => {
	const model = await view(join(models, "car.xml"));
	const { page: other, complaints: complained } = await openUrl(browser, model.url + "&play=0", { width: 420, height: 400 });
	await ready(other);
	await showPanel(other);
	const { actuators } = await ask(other, "described"), last = (await ask(other, "actors")).length - 1;
	await ask(other, "step", 20);
	const alone = await ask(other, "position", last);
	await ask(other, "goTo", 0);
	const slider = other.locator('#panel label input[type="range"]:not(#gravity)').first();
	await slide(slider, actuators[0].control < actuators[0].upper ? actuators[0].upper : actuators[0].lower);
	await ask(other, "step", 20);
	const driven = await ask(other, "position", last);
	assert.ok(Math.hypot(...driven.map((v, k) => v - alone[k])) > 1e-3, `${alone} ${driven}`);

	const obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
	const xml = `<mujoco><asset><mesh name="m" file="m.obj"/></asset><worldbody><body name="a"><freejoint/><geom type="mesh" mesh="m"/>
		<body name="b" pos="2 0 0"><joint/><geom size="1"/></body></body></worldbody></mujoco>`;
	await other.locator('#panel input[type="file"]').setInputFiles([["m.obj", obj], ["two.xml", xml]].map(([name, text]) =>
		({ name, mimeType: "text/plain", buffer: Buffer.from(text) })));
	await other.waitForFunction(() => window.knuckle.actors().length === 3);
	assert.deepEqual((await ask(other, "actors")).slice(1), ["a", "b"]);
	// the tree: b hangs on a, and is hidden with it
	const boxes = other.locator(".tree input");
	await boxes.first().evaluate((box) => box.click());
	assert.deepEqual(await boxes.evaluateAll((all) => all.map((box) => box.checked)), [false, false]);
	assert.deepEqual(complained, []);
	await other.close();
	model.stop();
});

await test("the static site takes recordings and compiled scenes, and says that it takes no models", async () => {
	const { page: site, complaints: complained } = await openUrl(browser, `${pathToFileURL(built).href}#scene=slope&play=0`, { width: 420, height: 520 });
	await ready(site);
	await showPanel(site);
	assert.match(await site.locator("#panel").innerText(), /recording \(\.knt\) or a compiled scene \(\.kns\).*models \(\.xml, \.urdf\) need 'knuckle view'/s);
	const compiled = join(folder, "bar.kns"), recording = join(folder, "run.knt");
	knuckle("convert", join(models, "four_bar.xml"), compiled);
	await drop(site, ["bar.kns", readFileSync(compiled)]);
	await site.waitForFunction(() => window.knuckle.actors().length > 3);
	await ask(site, "step", 100);
	const native = JSON.parse(knuckle("run", join(models, "four_bar.xml"), "--steps", "100", "--json", "-"));
	assert.equal((await ask(site, "hash")).hash, native.hash);
	await drop(site, ["four_bar.xml", readFileSync(join(models, "four_bar.xml"))]);
	await said(/cannot compile models: it is a static site/, site);
	await drop(site, ["broken.kns", readFileSync(compiled).subarray(0, 100)]);
	await said(/compiled scene/, site);
	knuckle("run", "pendulum", "--steps", "20", "--out", recording);
	await drop(site, ["run.knt", readFileSync(recording)]);
	await site.waitForFunction(() => document.querySelector("#title p").textContent.includes("21 frames"));
	assert.deepEqual(complained, []);
	await site.close();
});

await browser.close();
finish();
