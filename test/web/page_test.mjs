// The replay page in a browser: it draws, moves, plays, pauses and scrubs, shows bodies that come later, and says what
// is wrong instead of staying blank.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { finish, folder, knuckle, launch, openPage, test, tool } from "./harness.mjs";

const browser = await launch();
const tower = join(folder, "tower.html");
try {
	knuckle("run", "tower", "--time", "2", "--out", tower);
} catch (error) {
	console.log(`FAILED  'knuckle run --out tower.html': ${error.stderr}`);
	console.log("0 passed, 1 failed");
	process.exit(1);
}

// Pixels of the canvas at a moment, as brightness 0..255.
async function pixels(page, time) {
	return page.evaluate(async (t) => {
		const image = new Image();
		image.src = window.knuckle.shoot(t, "image/png");
		await image.decode();
		const canvas = document.createElement("canvas");
		canvas.width = image.width;
		canvas.height = image.height;
		const context = canvas.getContext("2d");
		context.drawImage(image, 0, 0);
		const data = context.getImageData(0, 0, image.width, image.height).data;
		const grey = [];
		for (let i = 0; i < data.length; i += 4) {
			grey.push((data[i] + data[i + 1] + data[i + 2]) / 3);
		}
		return grey;
	}, time);
}

function spread(values) {
	const mean = values.reduce((a, b) => a + b, 0) / values.length;
	return Math.sqrt(values.reduce((a, b) => a + (b - mean) * (b - mean), 0) / values.length);
}

// Share of pixels that differ visibly.
function difference(a, b) {
	assert.equal(a.length, b.length);
	return a.filter((value, i) => Math.abs(value - b[i]) > 12).length / a.length;
}

async function ready(page) {
	await page.evaluate(() => window.knuckle.ready);
}

async function trouble(page) {
	const box = page.locator("#trouble");
	await box.waitFor({ state: "visible" });
	return box.innerText();
}

await test("the tower's page is under 6 MB", async () => {
	assert.ok(statSync(tower).size < 6e6, `${statSync(tower).size} bytes`);
});

const { page, complaints } = await openPage(browser, tower, "#play=0");

await test("it opens and knows the run", async () => {
	await ready(page);
	assert.equal(await page.title(), "tower – Knuckle");
	assert.equal(await page.evaluate(() => window.knuckle.frames), 121);
	assert.ok(Math.abs((await page.evaluate(() => window.knuckle.end)) - 2) < 1e-9);
	assert.match(await page.locator("#title").innerText(), /800 bodies/);
});

await test("it draws: the canvas is not blank", async () => {
	const picture = await pixels(page, 0);
	assert.ok(spread(picture) > 10, `spread ${spread(picture)}`);
	assert.ok(new Set(picture.map(Math.round)).size > 40);
});

await test("the measures are plotted", async () => {
	assert.deepEqual(await page.locator(".plot h2").evaluateAll((heads) => heads.map((h) => h.firstChild.textContent)),
		["energy", "penetration", "contacts", "displacement"]);
	const inked = await page.locator(".plot canvas").first().evaluate((canvas) =>
		canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((v, i) => i % 4 === 3 && v > 0));
	assert.ok(inked);
});

await test("play moves time, pause holds it", async () => {
	await page.evaluate(() => window.knuckle.seek(0));
	await page.locator("#play").click();
	await page.waitForFunction(() => window.knuckle.time() > 0.05);
	assert.equal(await page.evaluate(() => window.knuckle.playing()), true);
	await page.locator("#play").click();
	assert.equal(await page.evaluate(() => window.knuckle.playing()), false);
	const held = await page.evaluate(() => window.knuckle.time());
	await page.waitForTimeout(300);
	assert.equal(await page.evaluate(() => window.knuckle.time()), held);
});

await test("the slider scrubs, and the plots' line follows", async () => {
	const lineAt = () => page.locator(".plot .now").first().evaluate((line) => line.getBoundingClientRect().left);
	const scrub = (value) => page.locator("#scrub").evaluate((slider, v) => {
		slider.value = String(v);
		slider.dispatchEvent(new Event("input"));
	}, value);
	await scrub(0.5);
	await page.waitForFunction(() => document.querySelector("#clock").textContent.startsWith("0.500"));
	const early = await lineAt();
	await scrub(1.5);
	await page.waitForFunction(() => document.querySelector("#clock").textContent.startsWith("1.500"));
	assert.ok(Math.abs((await page.evaluate(() => window.knuckle.time())) - 1.5) < 1e-9);
	assert.ok((await lineAt()) > early + 20);
});

await test("a click in a plot seeks", async () => {
	const over = page.locator(".plot .u-over").first();
	const box = await over.boundingBox();
	await over.click({ position: { x: 0.25 * box.width, y: 20 } });
	assert.ok(Math.abs((await page.evaluate(() => window.knuckle.time())) - 0.5) < 0.05);
});

// Pixels of a page's canvas that are rather orange than anything else.
async function orange(other, time) {
	return other.evaluate(async (t) => {
		const image = new Image();
		image.src = window.knuckle.shoot(t, "image/png");
		await image.decode();
		const canvas = document.createElement("canvas");
		canvas.width = image.width;
		canvas.height = image.height;
		const context = canvas.getContext("2d");
		context.drawImage(image, 0, 0);
		const data = context.getImageData(0, 0, image.width, image.height).data;
		let count = 0;
		for (let i = 0; i < data.length; i += 4) {
			count += data[i] > 150 && data[i] > 1.5 * data[i + 1] && data[i + 1] > 1.1 * data[i + 2] ? 1 : 0;
		}
		return count;
	}, time);
}

await test("active joints are shown in orange, of a run and of its recording", async () => {
	const run = ["run", "pegs", "--stepper", "adaptive", "--time", "0.2", "--dt", "0.01", "--set", "dofs=24", "--set", "active=6"];
	const html = join(folder, "active.html"), knt = join(folder, "active.knt"), again = join(folder, "again.html");
	knuckle(...run, "--out", html);
	knuckle(...run, "--out", knt);
	knuckle("convert", knt, again);
	for (const path of [html, again]) {
		const { page: other } = await openPage(browser, path, "#play=0");
		await ready(other);
		const all = await orange(other, 0), some = await orange(other, 0.2);
		assert.ok(some > 20 && all > 2 * some, `${all} pixels before the first step, ${some} after`);
		await other.keyboard.press("a");
		assert.ok((await orange(other, 0.2)) !== some);
		await other.close();
	}
});

await test("keys step by one frame", async () => {
	await page.evaluate(() => window.knuckle.seek(1));
	await page.keyboard.press("ArrowRight");
	const time = await page.evaluate(() => window.knuckle.time());
	assert.ok(time > 1.005 && time < 1.03, String(time));
	await page.keyboard.press("ArrowLeft");
	assert.ok(Math.abs((await page.evaluate(() => window.knuckle.time())) - 1) < 1e-9);
});

await test("pointing at a brick tells its name", async () => {
	const canvas = await page.locator("#view").boundingBox();
	await page.mouse.move(canvas.x + canvas.width / 2, canvas.y + canvas.height / 2);
	await page.locator("#hint").waitFor({ state: "visible" });
	assert.match(await page.locator("#hint b").innerText(), /\S/);
});

await test("the tower's page logged nothing and asked no network", async () => {
	assert.deepEqual(complaints, []);
});
await page.close();

await test("a falling run moves on the screen", async () => {
	const file = join(folder, "dominoes.html");
	knuckle("run", "dominoes", "--time", "2", "--out", file);
	const { page: other, complaints: said } = await openPage(browser, file, "#ui=0&play=0");
	await ready(other);
	const first = await pixels(other, 0);
	assert.ok(difference(first, await pixels(other, 2)) > 0.005);
	// the same moment is the same picture
	assert.equal(difference(first, await pixels(other, 0)), 0);
	assert.deepEqual(said, []);
	await other.close();
});

await test("a converted recording plays", async () => {
	const recording = join(folder, "run.knt"), file = join(folder, "run.html");
	knuckle("run", "pendulum", "--time", "1", "--out", recording);
	knuckle("convert", recording, file, "--fps", "25");
	const { page: other, complaints: said } = await openPage(browser, file, "#ui=0&play=0");
	await ready(other);
	assert.equal(await other.evaluate(() => window.knuckle.frames), 26);
	assert.ok(difference(await pixels(other, 0), await pixels(other, 0.5)) > 0.001);
	assert.deepEqual(said, []);
	await other.close();
});

await test("the page of a run that was interrupted plays what there was", async () => {
	const file = join(folder, "cut.html");
	const run = spawn(tool, ["run", "pendulum", "--steps", "100000000", "--out", file, "--json", join(folder, "cut.json")], { stdio: "ignore" });
	const ended = new Promise((done) => run.on("exit", done));
	const wait = (time) => new Promise((done) => setTimeout(done, time));
	for (let i = 0; i < 600 && !existsSync(`${file}.part`); ++i) {
		await wait(50);
	}
	await wait(500);
	run.kill("SIGINT");
	assert.equal(await ended, 130);
	assert.ok(!existsSync(`${file}.part`));
	const { steps } = JSON.parse(readFileSync(join(folder, "cut.json"), "utf8"));
	const { page: other, complaints: said } = await openPage(browser, file, "#ui=0&play=0");
	await ready(other);
	assert.ok(Math.abs((await other.evaluate(() => window.knuckle.end)) - steps * 0.01) < 0.02, `${steps} steps`);
	assert.deepEqual(said, []);
	await other.close();
});

// --- trouble -------------------------------------------------------------------------------------------------------

const text = readFileSync(tower, "latin1");
const data = text.lastIndexOf('id="recording">') + 15;

async function expectTrouble(name, content, pattern) {
	await test(name, async () => {
		const file = join(folder, "broken.html");
		writeFileSync(file, content, "latin1");
		const { page: other } = await openPage(browser, file);
		assert.match(await trouble(other), pattern);
		await assert.rejects(other.evaluate(() => window.knuckle.ready));
		await other.close();
	});
}

const middle = Math.floor((data + text.lastIndexOf("</script>")) / 2);
const changed = text[middle] === "A" ? "B" : "A";
await expectTrouble("a changed byte is noticed", text.slice(0, middle) + changed + text.slice(middle + 1), /damaged: its checksum/);
await expectTrouble("a cut page is noticed", text.slice(0, middle), /damaged: it has \d+ of its \d+ bytes/);
await expectTrouble("a foreign character is noticed", text.slice(0, middle) + "!" + text.slice(middle + 1), /damaged: a character/);
await expectTrouble("an empty recording is noticed", text.slice(0, data) + "</script>", /no recording/);

await test("a comparison shows its runs side by side on one clock, with plots", async () => {
	const file = join(folder, "compared.html");
	knuckle("compare", "pendulum", "--steppers", "velocity,reduced", "--time", "1", "--out", file);
	const { page: report, complaints } = await openPage(browser, file, "", { width: 900, height: 600 });
	await report.waitForFunction(() => window.compared?.runs === 2);
	await report.locator("#time").evaluate((slider) => {
		slider.value = "0.5";
		slider.dispatchEvent(new Event("input"));
	});
	const times = () => [...document.querySelectorAll("iframe")].map((frame) => frame.contentWindow.knuckle.time());
	await report.waitForFunction(`(${times})().every((t) => Math.abs(t - 0.5) < 0.02)`);
	assert.ok((await report.locator("#plots svg").count()) >= 3);
	assert.deepEqual(complaints, []);
	await report.close();
});
await browser.close();

await test("without WebGL the page says so", async () => {
	const plain = await launch("--disable-3d-apis");
	const { page: other } = await openPage(plain, tower);
	assert.match(await trouble(other), /WebGL/);
	await plain.close();
});

finish();
