// knuckle render: pictures of the asked size that show something, films with the asked frames, and clear words when
// Chromium or ffmpeg is missing.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { findProgram, finish, folder, knuckle, skip, test, tool } from "./harness.mjs";

const chromium = findProgram("chromium", "chromium-browser", "google-chrome-stable", "google-chrome");
if (!chromium) {
	skip("Chromium is not installed (Debian package chromium)");
}
const temporary = join(folder, "temporary");
mkdirSync(temporary);
process.env.TMPDIR = temporary;

function run(environment, ...words) {
	const done = spawnSync(tool, words, { encoding: "utf8", env: { ...process.env, ...environment } });
	return { status: done.status, out: done.stdout, err: done.stderr };
}

await test("a picture of a scene", async () => {
	const file = join(folder, "pyramid.png");
	knuckle("render", "pyramid", "--set", "small=1", "--time", "0.1", "--size", "320x200", "--out", file);
	const bytes = readFileSync(file);
	assert.equal(bytes.subarray(1, 4).toString("latin1"), "PNG");
	assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [320, 200]);
	// an empty canvas of this size packs into a few hundred bytes
	assert.ok(bytes.length > 8000, `${bytes.length} bytes`);
});

await test("a picture of a recording at a moment, as asked", async () => {
	const recording = join(folder, "run.knt"), early = join(folder, "early.jpg"), late = join(folder, "late.jpg");
	knuckle("run", "pendulum", "--time", "1", "--out", recording);
	for (const [time, file] of [["0", early], ["0.4", late]]) {
		knuckle("render", recording, "--time", time, "--size", "200x160", "--view", "-90,0,0.5", "--theme", "dark", "--out", file);
	}
	assert.equal(readFileSync(early).readUInt16BE(0), 0xffd8);
	assert.notDeepEqual(readFileSync(early), readFileSync(late));
});

await test("a film has the frames that were asked for", async () => {
	if (!findProgram("ffmpeg")) {
		console.log("        (ffmpeg is not installed: not tried)");
		return;
	}
	const film = join(folder, "film.mp4");
	knuckle("render", "pendulum", "--time", "0.5", "--size", "160x120", "--fps", "10", "--out", film);
	const told = execFileSync("ffprobe", ["-v", "error", "-count_frames", "-show_entries",
		"stream=codec_name,width,height,pix_fmt,nb_read_frames", "-of", "default=nw=1", film], { encoding: "utf8" });
	for (const line of ["codec_name=h264", "width=160", "height=120", "pix_fmt=yuv420p", "nb_read_frames=6"]) {
		assert.ok(told.includes(line), told);
	}
});

await test("without Chromium or ffmpeg it says which package to install, and leaves nothing", async () => {
	const bare = join(folder, "bare"), half = join(folder, "half"), out = join(folder, "never.mp4");
	mkdirSync(bare);
	mkdirSync(half);
	symlinkSync(chromium, join(half, "chromium"));
	const none = run({ PATH: bare }, "render", "pendulum", "--time", "0.1", "--out", out);
	assert.equal(none.status, 3);
	assert.match(none.err, /Debian package chromium/);
	const noFilm = run({ PATH: half }, "render", "pendulum", "--time", "0.1", "--out", out);
	assert.equal(noFilm.status, 3);
	assert.match(noFilm.err, /Debian package ffmpeg/);
	assert.ok(!existsSync(out) && !existsSync(`${out}.part`));
});

await test("a browser that ends at once is an error, not a hang", async () => {
	const fake = join(folder, "fake"), out = join(folder, "never.png");
	mkdirSync(fake);
	symlinkSync("/bin/true", join(fake, "chromium"));
	const ended = run({ PATH: fake }, "render", "pendulum", "--time", "0.1", "--out", out);
	assert.equal(ended.status, 1);
	assert.match(ended.err, /Chromium: /);
	assert.ok(!existsSync(out) && !existsSync(`${out}.part`));
});

await test("what cannot be rendered is refused", async () => {
	const cases = [
		[["render"], 2, /render what/],
		[["render", "pendulum"], 2, /--out/],
		[["render", "pendulum", "--out", "x.gif"], 2, /\.mp4/],
		[["render", "pendulum", "--out", "x.mp4", "--size", "161x120"], 2, /even/],
		[["render", "pendulum", "--out", "x.png", "--size", "0x0"], 2, /--size/],
		[["render", "pendulum", "--out", "x.png", "--view", "12"], 2, /--view/],
		[["render", join(folder, "none.knt"), "--out", join(folder, "x.png")], 3, /none\.knt/],
	];
	for (const [words, status, pattern] of cases) {
		const done = run({}, ...words);
		assert.equal(done.status, status, words.join(" "));
		assert.match(done.err, pattern);
	}
});

await test("no temporary folder is left", async () => {
	assert.deepEqual(readdirSync(temporary).filter((name) => name.startsWith("knuckle-")), []);
});

finish();
