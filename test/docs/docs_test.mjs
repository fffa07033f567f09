// The documents tell the truth: every C block of README.md and docs/guide.md compiles and runs against this build, every
// command of README.md, docs/guide.md, docs/cli.md, docs/viewer.md and docs/gallery.md runs, whether it stands in a block or in the text.
//
// A C block is a function of its own, over a small scene with the names that the text uses; blocks of static functions
// stand at file scope. Commands of the tool run as they stand, where SCENE, FILE, OUT... are names of things and what
// brackets hold may be left out; films are made small and long runs short. Studies that take minutes are ended after some seconds;
// until then nothing may go wrong. What is installed is installed into a folder of the test, and used from there. What
// ./dev does cannot run inside itself: it has to know the command, and ./dev test runs `./dev run`.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram, finish, folder, root, skip, test, tool } from "../web/harness.mjs";

const build = process.env.KN_BINARY_DIR ?? join(root, "build", "release");
const compiler = process.env.CC ?? "cc";
const text = (name) => readFileSync(join(root, name), "utf8");
if (!existsSync(join(build, "libknuckle.a"))) {
	skip("this build has no static library");
}

// --- C ---------------------------------------------------------------------------------------------------------------

const PRELUDE = `
#include <stdio.h>
#include <stdlib.h>
#include <knuckle/knuckle.h>
#include <knuckle/articulated.h>
#include <knuckle/io.h>
#include <knuckle/measure.h>
#include <knuckle/record.h>

static knError error;
static knScene* scene;
static knModel* model;
static knWorld* world;
static knBodyId arm, forearm, wheel, body;
static knShapeDef material;
static knWorldDef worldDef;
static knVec3 elbow = { 1.0, 0.0, 1.0 }, gravity = { 0.0, 0.0, -9.81 }, point;
static knMeasures measures;
static int link;
static double q[64], v[64], tau[64], qdd[64], heights[65 * 65];
static knVec3 vertices[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
static knTriangle triangles[4] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 } };
static int vertexCount = 4, triangleCount = 4;

static knBodyId addBox(const char* name, double x) {
	knBodyDef def = knBodyDef_Default();
	material = knShapeDef_Default();
	def.name = name;
	def.frame.p = knV3(x, 0.0, 1.0);
	body = knScene_AddBody(scene, &def, &error);
	knScene_AddBox(scene, body, knV3(0.4, 0.1, 0.1), &material, &error);
	return body;
}

static void begin(void) {
	knSceneDef def = knSceneDef_Default();
	worldDef = knWorldDef_Default();
	scene = knScene_Create(&def, NULL, &error);
	arm = addBox("arm", 0.5);
	forearm = addBox("forearm", 1.5);
	wheel = addBox("wheel", 4.0);
	model = knModel_Create(scene, &error);
	world = knWorld_Create(model, &worldDef, &error);
}
`;

function blocks(name) {
	return [...text(name).matchAll(/```c\n([\s\S]*?)```/g)].map(([, code], i) => ({ name: `${name}, block ${i + 1}`, code }));
}

function program({ code }) {
	const includes = code.match(/^#include.*$/gm) ?? [];
	const rest = code.replace(/^#include.*$/gm, "");
	const functions = /^static /m.test(rest);
	return `${PRELUDE}${includes.join("\n")}\n${functions ? rest : ""}
static void block(void) {
${functions ? "" : rest.replace(/\bknScene\* scene =/, "scene =").replace(/\bknModel\* model =/, "model =").replace(/\bknWorld\* world =/, "world =")}
}

int main(void) {
	begin();
	block();
	if (error.status != KN_OK) {
		fprintf(stderr, "%s: %s\\n", error.element, error.message);
	}
	return error.status != KN_OK;
}
`;
}

// the mesh file that the guide reads: a tetrahedron
const CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]];
writeFileSync(join(folder, "gear.stl"), `solid gear\n${[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map((face) => `facet normal 0 0 0
outer loop
${face.map((k) => `vertex ${CORNERS[k].join(" ")}`).join("\n")}
endloop
endfacet`).join("\n")}\nendsolid gear\n`);

for (const [i, block] of [...blocks("README.md"), ...blocks("docs/guide.md")].entries()) {
	await test(`${block.name} compiles and runs`, async () => {
		const source = join(folder, `block${i}.c`), out = join(folder, `block${i}`);
		writeFileSync(source, program(block));
		const assimp = existsSync("/usr/include/assimp/cimport.h") ? ["-lassimp"] : [];
		const libraries = ["libknuckle_io.a", "libknuckle.a"].map((lib) => join(build, lib)).filter(existsSync);
		execFileSync(compiler, ["-std=c17", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wno-unused", "-Werror", `-I${join(root, "include")}`, source,
			...libraries, "-lexpat", "-lcjson", ...assimp, "-lm", "-lpthread", "-o", out], { stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
		execFileSync(out, [], { cwd: folder, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
	});
}

// --- commands ----------------------------------------------------------------------------------------------------------

const DOCUMENTS = ["README.md", "docs/guide.md", "docs/cli.md", "docs/viewer.md", "docs/gallery.md"];
const LONGEST = 6; // s that a study may take

// Lines of blocks, without the remarks behind them; and what the text calls `knuckle ...`.
function commands(name) {
	const code = text(name).replace(/```[\s\S]*?```/g, "");
	// a line that is set in further goes on with the remark before it
	const block = [...code.matchAll(/^ {4}(\S.*)$/gm)].map(([, line]) => line.replace(/\s{2,}\S.*$/, "").trim());
	const inText = [...code.replace(/^ {4}.*$/gm, "").matchAll(/`((?:(?:build\/release\/)?knuckle|\.\/dev|cmake|cc) [^`]*)`/g)].map(([, line]) => line);
	return [...block, ...inText].map((line) => ({ name: `${name}: ${line}`, line }));
}

await test("every block of the documents is C or a line that is looked at", () => {
	for (const name of DOCUMENTS) {
		// every second one closes a block
		const fences = [...text(name).matchAll(/^[ \t>]*(?:```|~~~)(.*)$/gm)].map(([line, language]) => ({ line, language }));
		assert.equal(fences.length % 2, 0, `${name} has a block without an end`);
		for (const { line } of fences.filter((_, i) => i % 2 === 0)) {
			assert.equal(line, "```c", `${name} has a block that begins '${line}', which nothing tests`);
		}
		assert.doesNotMatch(text(name).replace(/```[\s\S]*?```/g, ""), /^\t/m, `${name} has a block that is set in by a tab, which nothing tests`);
	}
});

const devHelp = execFileSync(join(root, "dev"), ["help"], { encoding: "utf8" });

function run(words, more = {}) {
	const ran = spawnSync(tool, words, { cwd: folder, encoding: "utf8", timeout: 600000, ...more });
	assert.equal(ran.status, 0, `${words.join(" ")}: ${ran.stderr}`);
	return ran.stdout;
}

// Runs until it ends or some seconds have passed; it may not fail before.
function runAWhile(words) {
	const ran = spawnSync(tool, words, { cwd: folder, encoding: "utf8", timeout: 1000 * LONGEST });
	assert.ok(ran.status === 0 || ran.error?.code === "ETIMEDOUT" || [130, 143].includes(ran.status), `${words.join(" ")}: ${ran.status} ${ran.stderr}`);
}

// Serves until it is told to end.
async function serve(words) {
	const server = spawn(tool, [...words, "--no-browser"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
	const ended = new Promise((done) => server.on("exit", done));
	let said = "", complained = "";
	server.stderr.on("data", (data) => (complained += data));
	await new Promise((done) => {
		server.stdout.on("data", (data) => (said += data).includes("\n") && done());
		server.on("exit", done);
	});
	assert.match(said, /^http:\/\/127\.0\.0\.1:\d+\//, `${words.join(" ")}: ${complained}`);
	assert.equal((await fetch(said.split(/[#\n]/)[0])).status, 200);
	server.kill("SIGINT");
	assert.equal(await ended, 0);
}

// Things for the names that the documents use.
const STANDS_FOR = { "SCENE|FILE|RECORDING": "pendulum", "RUN.knt|SCENE|FILE": "run.knt", "SCENE|FILE": "pendulum", "SCENE": "pendulum", "MODEL.json": "cart.json",
	"IN": "run.knt", "OUT": "run.csv", "FOLDER": "figures", "FILE": "out.json", "FILE.csv": "out.csv", "NAME...": "pendulum" };

function wordsOf(line) {
	const plain = line.replace(/^(build\/release\/)?knuckle\s+/, "").replace(/\[options\]/, "").replace(/[[\]]/g, "");
	return plain.split(/\s+/).filter(Boolean).map((word) => STANDS_FOR[word] ?? word.replace(/^docs\/figures$/, "figures"))
		.map((word) => (/^(models|examples)\/.*\./.test(word) ? join(root, word) : word));
}

// The recording and the model that lines speak of.
function prepare() {
	mkdirSync(join(folder, "figures"), { recursive: true });
	copyFileSync(join(root, "test", "fuzz", "seeds", "cart.json"), join(folder, "cart.json"));
	run(["run", "pendulum", "--time", "0.3", "--out", "run.knt"]);
	run(["convert", "pendulum", "model.xml"]);
}
prepare();

const FILMS = findProgram("chromium") && findProgram("ffmpeg");
const EVERYTHING = new Set(["run", "compare"]); // simulate as long as the scene says, unless told

function withoutOption(words, name) {
	return words.filter((word, k) => word !== name && words[k - 1] !== name);
}

async function checkTool(line) {
	let words = wordsOf(line);
	const has = (name) => words.includes(name);
	if (words[0] === "COMMAND") {
		for (const [, command] of run(["--help"]).matchAll(/^ {2,}(?:knuckle )?([a-z]+) {2,}/gm)) {
			run([command, ...words.slice(1)]);
		}
		return;
	}
	if (has("x=1")) {
		const wrong = spawnSync(tool, words, { cwd: folder, encoding: "utf8" });
		assert.equal(wrong.status, 2);
		return assert.match(wrong.stderr, /sweeps/);
	}
	if (words[0] === "view" && words.length > 1) {
		return existsSync(join(build, "viewer", "index.html")) ? serve(words) : run([...words, "--help"]);
	}
	if (words[0] === "render") {
		words = [...["--size", "--time", "--fps"].reduce(withoutOption, words), "--size", "160x120", "--time", "0.2", ...(has("--out") ? [] : ["--out", "x.png"])];
		return FILMS ? run(words) : run(["render", "--help"]);
	}
	if (words[0] === "bench") {
		return words.length === 1 ? run(["bench", "pendulum"]) : runAWhile(words);
	}
	if (words.length === 1 && words[0] !== "scenes" && !words[0].startsWith("--")) {
		return run([words[0], "--help"]); // the text names the command
	}
	return run(EVERYTHING.has(words[0]) && !has("--help") ? [...withoutOption(words, "--time"), "--steps", "20"] : words);
}

// --- building and installing: the same lines, in folders of the test ----------------------------------------------------

const prefix = join(folder, "prefix");

function shell(line, where = folder) {
	const lib = existsSync(join(prefix, "lib", "pkgconfig")) ? join(prefix, "lib") : join(prefix, "lib64");
	const found = spawnSync("sh", ["-ec", line], { cwd: where, encoding: "utf8", timeout: 600000,
		env: { ...process.env, PKG_CONFIG_PATH: [join(lib, "pkgconfig"), ...["x86_64-linux-gnu", "aarch64-linux-gnu"].map((cpu) => join(prefix, "lib", cpu, "pkgconfig"))].join(":") } });
	assert.equal(found.status, 0, `${line}: ${found.stdout}${found.stderr}`);
}

function checkCMake(line) {
	const preset = line.match(/--preset (\S+)/)?.[1];
	if (line.startsWith("cmake --install")) {
		return shell(line.replace(/\S*build\/release\b/, build).replace(/--prefix \S+/, `--prefix ${prefix}`));
	}
	if (line.startsWith("cmake --build")) {
		// the build itself is what this test runs on; here only that the preset and the target are there
		const target = line.match(/--target (\S+)/)?.[1];
		return shell(`cmake --build ${join(folder, preset)} --target help >help.txt${target ? ` && grep -w ${target} help.txt` : ""}`);
	}
	assert.match(line, /^cmake --preset/);
	return shell(`cmake --preset ${preset} -B ${join(folder, preset)}`, root);
}

const IO_PROGRAM = `#include <knuckle/io.h>\nint main(void) { return knPage_Available() ? 0 : 0; }\n`;

// The two lines of the guide, in a project around them; of both libraries.
function checkProject(find, link) {
	for (const [library, source] of [["knuckle::knuckle", text("examples/01_hello.c")], ["knuckle::io", IO_PROGRAM]]) {
		const place = join(folder, library.replace("::", "-"));
		mkdirSync(place, { recursive: true });
		writeFileSync(join(place, "hello.c"), source);
		writeFileSync(join(place, "CMakeLists.txt"), ["cmake_minimum_required(VERSION 3.22)", "project(hello C)", find, "add_executable(hello hello.c)",
			link.replace("knuckle::knuckle", library), ""].join("\n"));
		shell(`cmake -S . -B out -DCMAKE_PREFIX_PATH=${prefix} && cmake --build out && ./out/hello`, place);
	}
}

function checkCompiler(line) {
	writeFileSync(join(folder, "hello.c"), text("examples/01_hello.c"));
	shell(`${line} && ./hello`);
	writeFileSync(join(folder, "hello.c"), IO_PROGRAM);
	shell(`${line.replace("--libs knuckle", "--libs knuckle_io")} && ./hello`);
}

let find = "";

async function check(line) {
	if (/^(build\/release\/)?knuckle /.test(line)) {
		return checkTool(line);
	}
	if (line.startsWith("./dev ")) {
		const command = line.split(/\s+/)[1];
		assert.ok(devHelp.includes(`\n  ${command}`), `./dev help does not know '${line}'`);
		return assert.ok(command !== "run" || /^\tstage .* \.\/dev run/m.test(text("dev")), "./dev test does not run ./dev run");
	}
	if (line.startsWith("cc hello.c")) {
		return checkCompiler(line);
	}
	if (line.startsWith("find_package")) {
		return (find = line);
	}
	if (line.startsWith("target_link_libraries")) {
		return checkProject(find, line);
	}
	// the flow of a program; the address of a page, which web/live opens
	if (/^knScene {2,}--knModel_Create/.test(line) || line.startsWith("#scene=") || line === "knScene") {
		return;
	}
	line.split("&&").map((part) => part.trim()).forEach(checkCMake);
}

const seen = new Set();
for (const { name, line } of DOCUMENTS.flatMap(commands)) {
	if (!seen.has(line)) {
		seen.add(line);
		await test(name, () => check(line));
	}
}

// --- tables against the product ------------------------------------------------------------------------------------------

const catalogue = JSON.parse(run(["scenes", "--json"]));
const helpOf = (command) => run([command, "--help"]);

await test("README.md and docs/guide.md name every stepper, shape and joint", () => {
	const steppers = spawnSync(tool, ["run", "slope", "--stepper", "nosuch"], { encoding: "utf8" }).stderr.match(/velocity[a-z, ]*/)[0].split(/[, ]+| and /)
		.filter((word) => /^[a-z]+$/.test(word) && word !== "and");
	assert.ok(steppers.length >= 4, steppers.join());
	steppers.forEach((name) => assert.ok(text("README.md").includes(`[\`${name}\`](docs/methods/${name}.md)`), `README.md does not name ${name}`));
	const kinds = (header, prefix) => [...text(`include/knuckle/${header}`).matchAll(new RegExp(`^\\t${prefix}([A-Z0-9_]+)[,\\s=]`, "gm"))]
		.map(([, kind]) => kind).filter((kind) => !/COUNT$/.test(kind));
	const shapes = kinds("collide.h", "KN_GEOM_"), joints = kinds("scene.h", "KN_JOINT_");
	assert.ok(shapes.length >= 9 && joints.length >= 11, `${shapes} ${joints}`);
	const guide = text("docs/guide.md"), readme = text("README.md");
	for (const shape of shapes) {
		const name = { MESH: "triangle mesh", HULL: "convex hull", HEIGHT_FIELD: "height field" }[shape] ?? shape.toLowerCase();
		assert.match(guide, new RegExp(`^\\| ${name} \\|`, "m"), `docs/guide.md has no row for ${shape}`);
		assert.ok(readme.includes(name), `README.md does not name ${name}`);
	}
	joints.forEach((joint) => assert.match(guide, new RegExp(`^\\| \`${joint}\` \\|`, "m"), `docs/guide.md has no row for ${joint}`));
});

await test("docs/cli.md has every command with every option", () => {
	const cli = text("docs/cli.md");
	for (const [, command] of run(["--help"]).matchAll(/^ {2,}(?:knuckle )?([a-z]+) {2,}/gm)) {
		assert.match(cli, new RegExp(`^## ${command}\\b|^ {4}knuckle ${command}\\b`, "m"), `docs/cli.md does not have ${command}`);
		const part = cli.split(/^## /m).filter((section) => section.startsWith(command)).join("\n") || cli;
		for (const [, option] of helpOf(command).matchAll(/^ +(--[a-z-]+)/gm)) {
			assert.ok(option === "--help" || part.includes(option) || cli.includes(`${option}\` (also of`) || /are those of `run`/.test(part), `docs/cli.md does not have ${command} ${option}`);
		}
	}
});

await test("docs/scenes.md has every scene as it is", () => {
	const rows = new Map([...text("docs/scenes.md").matchAll(/^\| `([a-z-]+)` (\\\* )?\| (.*?) \| (\d+) \| (\d+) \| (\S+) \| (.*?) \| (.*?) \|$/gm)].map((row) => [row[1], row]));
	for (const scene of catalogue) {
		const row = rows.get(scene.name);
		assert.ok(row, `docs/scenes.md has no row for ${scene.name}`);
		const [, , twins, summary, bodies, joints, dt, parameters] = row;
		const step = dt.includes("/") ? dt.split("/").reduce((a, b) => a / b) : Number(dt);
		assert.deepEqual([Boolean(twins), summary, Number(bodies), Number(joints)], [scene.twins === true || scene.twins?.length > 0, scene.summary, scene.bodies, scene.joints], scene.name);
		assert.ok(Math.abs(step - scene.dt) < 1e-9, `${scene.name}: dt ${dt} is ${scene.dt}`);
		for (const p of scene.parameters) {
			const standard = p.choices ? p.choices[p.default] : String(p.default);
			const told = parameters.match(new RegExp(`\`${p.name}=([^\`]*)\``))?.[1];
			assert.ok(told === standard || Math.abs(Number(told) - p.default) < 1e-3 * Math.abs(p.default), `${scene.name}: ${p.name} is ${standard}, not ${told}`);
		}
		rows.delete(scene.name);
	}
	assert.deepEqual([...rows.keys()], [], "scenes that are not");
});

finish();
