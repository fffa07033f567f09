// The documents tell the truth: every C block of README.md and docs/guide.md compiles and runs against this build, every
// command of README.md, docs/guide.md, docs/cli.md and docs/viewer.md is one that the tool, ./dev or CMake takes.
//
// A C block is a function of its own, over a small scene with the names that the text uses; blocks of static functions
// stand at file scope. Of commands, those of the tool run as they stand (long ones with fewer steps); a line with [ or |
// is a synopsis, whose command must have a --help; so must those that write the documents' figures.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
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

function commands(name) {
	const code = text(name).replace(/```[\s\S]*?```/g, "");
	return [...code.matchAll(/^    (\S.*)$/gm)].map(([, line]) => ({ name: `${name}: ${line}`, line: line.replace(/\s{2,}\S.*$/, "").trim() }));
}

const presets = JSON.parse(text("CMakePresets.json")).configurePresets.map(({ name }) => name);
const devHelp = execFileSync(join(root, "dev"), ["help"], { encoding: "utf8" });

function run(words, more = {}) {
	const ran = spawnSync(tool, words, { cwd: folder, encoding: "utf8", timeout: 600000, ...more });
	assert.equal(ran.status, 0, `${words.join(" ")}: ${ran.stderr}`);
	return ran.stdout;
}

async function checkTool(line) {
	const words = line.replace(/^(build\/release\/)?knuckle\s+/, "").split(/\s+/);
	// what writes the figures of the documents takes minutes; its words are in --help
	if (/[[\]|]|\.\.\.|\bSCENE\b|\bFILE\b|\bFOLDER\b|docs\/figures/.test(line) || / IN OUT$| MODEL\.json$/.test(line)) {
		run([words[0], "--help"]);
		return;
	}
	if (words[0] === "view") {
		run([...words, "--help"]);
		return;
	}
	if (words[0] === "render" && (!findProgram("chromium") || !findProgram("ffmpeg"))) {
		return;
	}
	const files = words.filter((word) => /\.(knt|xml|json)$/.test(word) && !existsSync(join(folder, word)));
	if (files.includes("run.knt") && words[0] !== "run") {
		run(["run", "pendulum", "--time", "0.3", "--out", "run.knt"]);
	}
	// a film of full size is made small, a long run short
	const short = words[0] === "render" ? ["--size", "160x120", "--time", "0.2"] : words[0] === "run" && !/--(time|steps)/.test(line) ? ["--steps", "20"] : [];
	const kept = words[0] === "render" ? words.filter((w, k) => !["--size", "--time", "--fps"].includes(w) && !["--size", "--time", "--fps"].includes(words[k - 1])) : words;
	run([...kept, ...short].map((word) => (/^(models|examples)\//.test(word) ? join(root, word) : word)));
}

async function check(line) {
	if (/^(build\/release\/)?knuckle /.test(line)) {
		return checkTool(line);
	}
	if (line.startsWith("./dev ")) {
		return assert.ok(devHelp.includes(`\n  ${line.split(" ")[1]}`), `./dev help does not know '${line}'`);
	}
	for (const part of line.split("&&").map((p) => p.trim())) {
		const preset = part.match(/--preset (\S+)/);
		if (part.startsWith("cmake") && preset) {
			assert.ok(presets.includes(preset[1]), `no preset ${preset[1]}`);
		} else {
			assert.match(part, /^(cmake --install|cc hello\.c|find_package|target_link_libraries|knScene|#)/, `what is '${part}'?`);
		}
	}
}

const seen = new Set();
for (const { name, line } of ["README.md", "docs/guide.md", "docs/cli.md", "docs/viewer.md"].flatMap(commands)) {
	if (!seen.has(line)) {
		seen.add(line);
		await test(name, () => check(line));
	}
}

finish();
