// What the page says in words and numbers: labels of axes that are tiny, constant or in quarters; which of dropped files is
// the model; colours of rigid pieces. Runs under Node alone.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { finish, folder, fromWeb, packageOrSkip, root, test } from "./harness.mjs";

packageOrSkip("esbuild");
const source = (name) => join(root, "apps", "web", "src", name);
const bundled = join(folder, "words.mjs"), entry = join(folder, "words.ts");
writeFileSync(entry, `export * from "${source("format.ts")}";
export * from "${source("dropped.ts")}";\nexport { coloring } from "${source("graph.ts")}";\n`);
await fromWeb("esbuild").build({ entryPoints: [entry], bundle: true, format: "esm", outfile: bundled, target: "es2020", logLevel: "warning",
	nodePaths: [join(root, "apps", "web", "node_modules")] });
const { axisLabels, withUnit, yRange, modelOf, packed, coloring } = await import(bundled);

await test("labels of an axis differ, are as long as they must be, and share their prefix", () => {
	assert.deepEqual(axisLabels([0, 0.25, 0.5, 0.75, 1], "s"), ["0.00 s", "0.25 s", "0.50 s", "0.75 s", "1.00 s"]);
	assert.deepEqual(axisLabels([0, 0.5, 1], "s"), ["0.0 s", "0.5 s", "1.0 s"]);
	assert.deepEqual(axisLabels([0, 2e-8, 4e-8], "m"), ["0 nm", "20 nm", "40 nm"]);
	assert.deepEqual(axisLabels([0, 20, 40], ""), ["0", "20", "40"]);
	assert.deepEqual(axisLabels([0, 2e-10, 4e-10], ""), ["0", "2e−10", "4e−10"]);
	assert.deepEqual(axisLabels([0, 2.5e-4, 5e-4], ""), ["0", "2.5e−4", "5.0e−4"]);
	assert.deepEqual(axisLabels([0], "J"), ["0 J"]);
	for (const scale of [1e-14, 3e-9, 0.7, 42, 8e7]) {
		for (const unit of ["", "m"]) {
			const labels = axisLabels([1, 1.001, 1.002].map((v) => v * scale), unit);
			assert.equal(new Set(labels).size, scale < 1e-12 && unit ? new Set(labels).size : 3, labels.join());
		}
	}
});

await test("values have units that people read", () => {
	assert.equal(withUnit(2.72e-8, "m"), "27.2 nm");
	assert.equal(withUnit(0, "m"), "0 m");
	assert.equal(withUnit(2e-10, ""), "2.0e−10");
	assert.equal(withUnit(6320, ""), "6320");
	assert.equal(withUnit(NaN, "J"), "–");
});

await test("a constant curve stands above a zero line", () => {
	assert.deepEqual(yRange([{ values: [40, 40, 40] }]), [0, 50]);
	assert.deepEqual(yRange([{ values: [-4, -4] }]), [-5, 0]);
	const [low, high] = yRange([{ values: [1e6, 1e6 + 1] }]);
	assert.ok(low < 1e6 - 50 && high > 1e6 + 50 && high - low < 1e3, "noise does not fill the plot");
	assert.deepEqual(yRange([]), [0, 1]);
});

const file = (name, text) => ({ name, bytes: new TextEncoder().encode(text) });

await test("of dropped files the model is the one that no other includes", async () => {
	const all = [file("bot/arm.xml", "<mujoco/>"), file("bot/scene.xml", '<mujoco><include file="arm.xml"/></mujoco>'),
		file("bot/assets/a.stl", "solid"), file("bot/notes.xml", "<html/>")];
	assert.equal(modelOf(all).name, "bot/scene.xml");
	assert.equal(modelOf([file("a.stl", "")]), null);
	assert.equal(modelOf([file("broken.xml", "nothing")]).name, "broken.xml", "the compiler says what is wrong with it");
	const text = await packed(modelOf(all), all).text();
	assert.ok(text.startsWith('scene.xml\n42\n<mujoco><include file="arm.xml"/></mujoco>'), text);
	assert.ok(text.includes("assets/a.stl\n5\nsolid"));
});

await test("bodies between which no joint moves have one colour", () => {
	const recording = { actors: [{ kind: "world" }, ...Array(4).fill({ kind: "dynamic" })] };
	const joints = [1, 2, 3].map((a) => ({ parent: a, child: a + 1 }));
	const states = new Float32Array(16 * 3);
	// all are there; only the second moves
	[0, 1, 2].forEach((j) => (states[16 * j + 14] = 1));
	states[16 + 15] = 1;
	const paint = coloring("joints", recording, new Float32Array(0), joints, states);
	assert.equal(paint(0), null);
	assert.deepEqual(paint(1), paint(2));
	assert.deepEqual(paint(3), paint(4));
	assert.notDeepEqual(paint(2), paint(3));
});

finish();
