// The viewer's engine under Node: every scene steps to the same bits as the native tool under each stepper that it names,
// going back and on again gives the same state, drags pull, edits in the past forget the future, and what it remembers becomes files.
//
// KN_ENGINE names the module (build/<preset>/engine/engine.wasm); without it the test is skipped.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { finish, folder, fromWeb, knuckle, packageOrSkip, root, skip, test } from "./harness.mjs";

const STEPS = 100;
const wasm = process.env.KN_ENGINE ?? join(root, "build", "release", "engine", "engine.wasm");
if (!existsSync(wasm)) {
	skip(`the engine is not built (cmake --build --preset release --target viewer): ${wasm}`);
}
packageOrSkip("esbuild");
const bundled = join(folder, "engine.mjs");
await fromWeb("esbuild").build({ entryPoints: [join(root, "apps", "web", "src", "engine.ts")], bundle: true, format: "esm",
	outfile: bundled, target: "es2020", logLevel: "warning" });
const { Engine, VALUES } = await import(bundled);
const engine = await Engine.start(readFileSync(wasm));
const valuesOf = (session) => Object.fromEntries([...engine.values(session, true, -1)].map((v, i) => [VALUES[i], v]));

for (const scene of engine.catalogue) {
	for (const stepper of scene.steppers) {
		await test(`${scene.name}, ${stepper}: ${STEPS} steps end in the same bits as the tool's`, async () => {
			const native = JSON.parse(knuckle("run", scene.name, "--stepper", stepper, "--set", "small=1", "--steps", String(STEPS),
				"--measure-every", String(STEPS), "--json", "-"));
			const session = engine.open({ scene: scene.name, stepper, set: { small: "1" } });
			const first = engine.poses(session);
			for (let i = 0; i < STEPS; ++i) {
				engine.advance(session);
			}
			assert.equal(engine.hash(session), native.hash);
			// it moves, or it stands because that is its point
			const last = engine.poses(session);
			const moved = first.some((v, i) => Math.abs(v - last[i]) > 1e-3) || last.length !== first.length;
			assert.ok(moved || native.displacement.max < 1e-3);
			engine.close(session);
		});
	}
}

await test("going back and on again gives the same bits, at every step", async () => {
	const session = engine.open({ scene: "roof-tower", set: { small: "1" } });
	const hashes = [engine.hash(session)];
	for (let i = 0; i < 80; ++i) {
		engine.advance(session);
		hashes.push(engine.hash(session));
	}
	for (const step of [79, 78, 40, 0, 55, 80, 1]) {
		engine.seek(session, step);
		assert.equal(engine.step(session), step);
		assert.equal(engine.hash(session), hashes[step]);
	}
	for (let i = 1; i < 80; ++i) {
		engine.advance(session);
	}
	assert.equal(engine.hash(session), hashes[80]);
	engine.close(session);
});

await test("a drag pulls a body to the hand, and is part of the past", async () => {
	const session = engine.open({ scene: "box-stack", set: { boxes: "1" } });
	engine.drag(session, 0, [0, 0, 0], [0, 0, 3]);
	for (let i = 0; i < 300; ++i) {
		engine.advance(session);
	}
	const [x, y, z] = engine.poses(session);
	// a spring of 8 rad/s hangs by g/w^2 under its load
	assert.ok(Math.hypot(x, y) < 0.01 && Math.abs(z - (3 - 9.81 / 64)) < 0.02, `${x} ${y} ${z}`);
	const hash = engine.hash(session);
	engine.letGo(session);
	engine.seek(session, 150);
	while (engine.step(session) < 300) {
		engine.advance(session);
	}
	assert.equal(engine.hash(session), hash);
	for (let i = 0; i < 100; ++i) {
		engine.advance(session);
	}
	assert.ok(Math.abs(engine.poses(session)[2] - 0.5) < 0.01);
	engine.close(session);
});

await test("what is done in the past forgets the future", async () => {
	const session = engine.open({ scene: "pendulum", set: {} });
	for (let i = 0; i < 60; ++i) {
		engine.advance(session);
	}
	engine.seek(session, 30);
	assert.equal(engine.latest(session), 60);
	engine.cut(session, 0);
	assert.equal(engine.latest(session), 30);
	const speed = valuesOf(session).kinetic;
	for (let i = 0; i < 100; ++i) {
		engine.advance(session);
	}
	assert.ok(engine.poses(session)[2] < -1 && valuesOf(session).kinetic > speed, "the cut pendulum falls");
	// the cut is made again when that time comes again
	const hash = engine.hash(session);
	engine.seek(session, 10);
	while (engine.step(session) < 130) {
		engine.advance(session);
	}
	assert.equal(engine.hash(session), hash);
	engine.close(session);
});

await test("a thrown ball is a new body with the momentum it was given", async () => {
	const session = engine.open({ scene: "box-stack", set: { gravity: "0,0,0", small: "1" } });
	const bodies = engine.describe(session).bodies, model = engine.model(session);
	engine.throw(session, false, 0.2, 1000, [-4, 0, 1], [10, 0, 0]);
	assert.equal(engine.describe(session).bodies, bodies + 1);
	assert.notEqual(engine.model(session), model);
	const mass = (4 / 3) * Math.PI * 0.008 * 1000;
	assert.ok(Math.abs(valuesOf(session).momentum - 10 * mass) < 1e-6 * mass);
	for (let i = 0; i < 60; ++i) {
		engine.advance(session);
	}
	assert.ok(valuesOf(session).contacts > 0);
	engine.seek(session, 0);
	engine.close(session);
});

await test("gravity, pushes and motors take effect at once", async () => {
	const session = engine.open({ scene: "pendulum", set: {} });
	engine.gravity(session, [0, 0, 0]);
	const before = valuesOf(session).kinetic;
	engine.push(session, 0, [0, 0, 0], [0, 5, 0]);
	assert.ok(valuesOf(session).kinetic > before);
	engine.motor(session, 0, 0, 1, 2, 1e3);
	engine.advance(session);
	assert.throws(() => engine.motor(session, 99, 0, 1, 2, 1e3), /no such joint/);
	engine.close(session);
});

await test("what it remembers becomes .glb, .csv and .knt, and a .knt a recording", async () => {
	const session = engine.open({ scene: "dominoes", set: {} });
	for (let i = 0; i < 50; ++i) {
		engine.advance(session);
	}
	const hash = engine.hash(session);
	const csv = new TextDecoder().decode(engine.export(session, "csv"));
	assert.equal(csv.trim().split("\n").length, 1 + 51 * engine.describe(session).bodies);
	const glb = engine.export(session, "glb");
	assert.equal(new TextDecoder().decode(glb.subarray(0, 4)), "glTF");
	const knt = engine.export(session, "knt");
	assert.equal(engine.hash(session), hash);
	assert.equal(new TextDecoder().decode(engine.recording("run.knt", knt).subarray(0, 8)), "KNREPLAY");
	const file = join(folder, "run.knt");
	writeFileSync(file, knt);
	knuckle("convert", file, join(folder, "again.csv"));
	assert.equal(readFileSync(join(folder, "again.csv"), "utf8"), csv);
	engine.close(session);
});

await test("what cannot be is refused with a sentence", async () => {
	assert.throws(() => engine.open({ scene: "towr", set: {} }), /did you mean 'tower'/);
	assert.throws(() => engine.open({ scene: "tower", set: { layers: "-3" } }), /layers/);
	assert.throws(() => engine.open({ scene: "tower", set: {}, stepper: "nosuch" }), /unknown stepper/);
	assert.throws(() => engine.open({ scene: "x", set: {} }, new Uint8Array(100)), /not a compiled scene/);
	assert.throws(() => engine.recording(new Uint8Array(100)), /\S/);
});

finish();
