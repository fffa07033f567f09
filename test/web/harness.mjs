// What the browser tests share: the tool, Chromium (playwright-core drives it), pages in a folder of their own, and a
// count of what passed.
//
// KN_TOOL names the tool. Without Chromium or the npm packages the tests are skipped (77), and say so.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const tool = process.env.KN_TOOL ?? join(root, "build", "release", "knuckle");
// packages live beside apps/web/package.json
export const fromWeb = createRequire(join(root, "apps", "web", "package.json"));
export const folder = mkdtempSync(join(tmpdir(), "knuckle-web-"));

process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

export function skip(why) {
	console.log(`skipped: ${why}`);
	process.exit(77);
}

export function findProgram(...names) {
	for (const name of names) {
		for (const place of (process.env.PATH ?? "").split(delimiter)) {
			try {
				accessSync(join(place, name), constants.X_OK);
				return join(place, name);
			} catch {
				// not there
			}
		}
	}
	return null;
}

export function packageOrSkip(name) {
	try {
		return fromWeb(name);
	} catch {
		return skip(`the npm package ${name} is not installed (npm ci in apps/web)`);
	}
}

export function knuckle(...words) {
	return execFileSync(tool, words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

// While the browser is at work.
export async function knuckleBeside(...words) {
	return (await promisify(execFile)(tool, words, { encoding: "utf8" })).stdout;
}

// Seconds after which a thing that is waited for counts as not coming, and a test as hanging. Far beyond what a busy machine
// needs: drawing is done in software, beside whatever else runs.
const COMES = 200, PATIENCE = 400;

// Looks until what is seen is good, and gives it; after COMES seconds what was last seen is told.
export async function eventually(look, good = Boolean) {
	const start = Date.now();
	for (;;) {
		const seen = await look();
		if (good(seen)) {
			return seen;
		}
		assert.ok(Date.now() - start < 1000 * COMES, `still ${JSON.stringify(seen)} after ${COMES} s`);
		await new Promise((done) => setTimeout(done, 100));
	}
}

const SOFTWARE = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"];

export async function launch(...more) {
	const { chromium } = packageOrSkip("playwright-core");
	const executablePath = findProgram("chromium", "chromium-browser", "google-chrome-stable", "google-chrome");
	if (!executablePath) {
		skip("Chromium is not installed (Debian package chromium)");
	}
	const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
	const graphics = more.includes("--disable-3d-apis") ? [] : SOFTWARE;
	return chromium.launch({ executablePath, args: [...sandbox, ...graphics, "--disable-dev-shm-usage", ...more] });
}

// The page of a file, and everything that it complains about.
export async function openPage(browser, file, hash = "", viewport = { width: 520, height: 500 }) {
	return openUrl(browser, pathToFileURL(file).href + hash, viewport);
}

// Asking any other server than the page's own is a complaint too.
export async function openUrl(browser, url, viewport = { width: 520, height: 500 }) {
	const page = await browser.newPage({ viewport });
	const complaints = listen(page, url);
	await page.goto(url);
	return { page, complaints };
}

// What a page complains about from now on; it is waited for with patience.
export function listen(page, url) {
	page.setDefaultTimeout(1000 * COMES);
	const own = url.startsWith("http") ? new URL(url).origin : null;
	const complaints = [];
	page.on("console", (message) => {
		// the browser's own remarks on how it draws are none of ours
		if (["error", "warning"].includes(message.type()) && !/GPU stall|software fallback/i.test(message.text())) {
			complaints.push(message.text());
		}
	});
	page.on("pageerror", (error) => complaints.push(String(error)));
	page.on("request", (request) => {
		if (!/^(file|data|blob):/.test(request.url()) && !(own && request.url().startsWith(own + "/"))) {
			complaints.push(`asked the network for ${request.url()}`);
		}
	});
	return complaints;
}

let passed = 0, failed = 0;

export async function test(name, body) {
	let clock;
	const start = Date.now();
	try {
		const late = new Promise((_, fail) => (clock = setTimeout(() => fail(new Error(`no end after ${PATIENCE} s`)), 1000 * PATIENCE)));
		await Promise.race([body(), late]);
		passed += 1;
		console.log(`ok      ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
	} catch (error) {
		failed += 1;
		console.log(`FAILED  ${name}\n${error.stack ?? error}`);
	} finally {
		clearTimeout(clock);
	}
}

export function finish() {
	console.log(`${passed} passed, ${failed} failed`);
	process.exit(failed === 0 && passed > 0 ? 0 : 1);
}
