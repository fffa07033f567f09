// glTF animations as others read them: the Khronos validator finds no fault, and three.js' loader shows the bodies of
// the run, upright, where the .csv of the same run has them.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { finish, folder, fromWeb, knuckle, packageOrSkip, test } from "./harness.mjs";
import { pathToFileURL } from "node:url";

const validator = packageOrSkip("gltf-validator");
const load = (name) => import(pathToFileURL(fromWeb.resolve(name)).href);
globalThis.self ??= globalThis;
const THREE = await load("three");
const { GLTFLoader } = await load("three/examples/jsm/loaders/GLTFLoader.js");

// "body" -> [[time, x, y, z], ...]
function readCsv(file) {
	const bodies = new Map();
	for (const line of readFileSync(file, "utf8").trim().split("\n").slice(1)) {
		const [time, name, x, y, z] = line.split(",");
		bodies.set(name, [...(bodies.get(name) ?? []), [time, x, y, z].map(Number)]);
	}
	return bodies;
}

for (const [scene, time] of [["ball-grid", 1], ["dominoes", 1], ["joints", 1]]) {
	const glb = join(folder, `${scene}.glb`), csv = join(folder, `${scene}.csv`);
	knuckle("run", scene, "--time", String(time), "--fps", "50", "--out", glb, "--out", csv);
	const bytes = new Uint8Array(readFileSync(glb));

	await test(`${scene}: the validator has no errors and no warnings`, async () => {
		const report = await validator.validateBytes(bytes, { maxIssues: 20 });
		const told = report.issues.messages.filter((m) => m.severity <= 1).map((m) => `${m.code} ${m.pointer}: ${m.message}`);
		assert.deepEqual(told, []);
		assert.equal(report.info.animationCount, 1);
	});

	await test(`${scene}: three.js loads it, upright and moving as the run did`, async () => {
		const gltf = await new GLTFLoader().parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), "");
		const mixer = new THREE.AnimationMixer(gltf.scene);
		const action = mixer.clipAction(gltf.animations[0]);
		action.setLoop(THREE.LoopOnce, 1);
		action.clampWhenFinished = true;
		action.play();
		const bodies = readCsv(csv);
		let compared = 0, moved = 0;
		for (const k of [0, 10, 25]) {
			const at = [...bodies.values()][0][k][0];
			mixer.setTime(at);
			gltf.scene.updateMatrixWorld(true);
			for (const [name, rows] of bodies) {
				// loaders write names without spaces and dots
				const node = gltf.scene.getObjectByName(THREE.PropertyBinding.sanitizeNodeName(name));
				if (!node) {
					continue;
				}
				const p = new THREE.Vector3().setFromMatrixPosition(node.matrixWorld);
				const [, x, y, z] = rows[k];
				// z up in the run is y up in glTF
				assert.ok(p.distanceTo(new THREE.Vector3(x, z, -y)) < 2e-3, `${name} at ${at}: ${p.toArray()} and ${[x, z, -y]}`);
				moved = Math.max(moved, Math.hypot(x - rows[0][1], y - rows[0][2], z - rows[0][3]));
				compared += 1;
			}
		}
		assert.ok(compared >= bodies.size, `${compared} poses of ${bodies.size} bodies`);
		assert.ok(moved > 1e-3, `nothing moved more than ${moved}`);
	});
}

const model = join(folder, "looks.xml"), looks = join(folder, "looks.glb");
writeFileSync(model, `<mujoco><asset><texture name="t" type="cube" builtin="checker" rgb1="1 0 0" rgb2="0 1 0" width="64" height="64"/>
	<texture name="f" builtin="checker" type="2d" width="16" height="16" rgb1="0 0 0" rgb2="1 1 1"/>
	<material name="m" texture="t"/><material name="u" texture="f" texuniform="true" texrepeat="2 4"/><material name="s" rgba="0 0 1 1" specular="1" shininess="1"/></asset>
	<worldbody><body name="cube"><freejoint/><geom type="box" size="1 2 3" material="m"/></body>
	<body name="slab" pos="9 0 0"><freejoint/><geom type="box" size="1 2 3" material="u"/></body>
	<body name="ball" pos="5 0 0"><freejoint/><geom size="1" material="s"/></body></worldbody></mujoco>`);
knuckle("run", model, "--steps", "3", "--fps", "100", "--out", looks, "--out", join(folder, "looks.knt"));

await test("materials: a recording keeps them, so that what is converted is the same", async () => {
	knuckle("convert", join(folder, "looks.knt"), join(folder, "converted.glb"));
	assert.ok(readFileSync(join(folder, "converted.glb")).equals(readFileSync(looks)));
	knuckle("convert", join(folder, "looks.knt"), join(folder, "again.knt"));
	assert.ok(readFileSync(join(folder, "again.knt")).equals(readFileSync(join(folder, "looks.knt"))));
});

await test("materials: the validator has no errors and no warnings", async () => {
	const report = await validator.validateBytes(new Uint8Array(readFileSync(looks)));
	assert.deepEqual(report.issues.messages.filter((m) => m.severity <= 1), []);
	assert.deepEqual(report.info.resources.filter(({ image }) => image).map(({ mimeType, image }) => [mimeType, image.width, image.height]),
		[["image/png", 64, 64], ["image/png", 16, 16]]);
});

await test("materials: boxes have their pictures once a side, or so many a metre; shiny is smooth", async () => {
	const bytes = readFileSync(looks), size = bytes.readUInt32LE(12);
	const json = JSON.parse(bytes.subarray(20, 20 + size)), data = bytes.subarray(28 + size);
	const meshOf = (name) => json.meshes[json.nodes.find((node) => node.name === name).mesh].primitives[0];
	const spanOf = (name) => {
		const { bufferView, byteOffset, count } = json.accessors[meshOf(name).attributes.TEXCOORD_0];
		const at = json.bufferViews[bufferView].byteOffset + byteOffset;
		const all = Array.from({ length: 2 * count }, (_, i) => data.readFloatLE(at + 4 * i));
		return [0, 1].map((k) => all.filter((_, i) => i % 2 === k)).map((line) => Math.max(...line) - Math.min(...line));
	};
	assert.deepEqual(spanOf("cube"), [1, 1]);
	assert.deepEqual(spanOf("slab"), [2 * 2, 4 * 4]);
	const materialOf = (name) => json.materials[meshOf(name).material].pbrMetallicRoughness;
	assert.equal(json.textures[materialOf("slab").baseColorTexture.index].source, 1);
	assert.ok(Math.abs(materialOf("ball").roughnessFactor - (2 / 130) ** 0.25) < 1e-6);
	assert.equal(materialOf("ball").baseColorTexture, undefined);
});

finish();
