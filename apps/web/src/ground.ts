// Planes: large sheets with a grid, which fade out far from the action, and let the eye through from behind. Where the scene
// has no level plane, a fainter sheet below everything gives the eye a floor to measure against; it sinks with what falls.
import * as THREE from "three";
import { lowestPoint, type Placed } from "./framing";
import { pictureCode, type Pictures } from "./pictures";
import type { Look, Recording } from "./recording";

interface Sheet {
	mesh: THREE.Mesh;
	actor: number;
	position: THREE.Vector3;
	rotation: THREE.Quaternion;
	strength: number; // opacity from the front
	color: number; // the model's; 0: the page's
}

const BEHIND = 0.15; // share of it from behind

// The largest of 1, 10, 100... (or a tenth, ...) metres that gives some ten lines across the action.
function gridStep(extent: number): number {
	return Math.pow(10, Math.round(Math.log10(Math.max(extent, 1e-6) / 8)));
}

// A picture stands in place of the grid.
function sheetMaterial(step: number, fade: number, strength: number, look: Look | null, pictures: Pictures): THREE.MeshLambertMaterial {
	const picture = look !== null && look.picture >= 0;
	const material = new THREE.MeshLambertMaterial({
		transparent: true,
		side: THREE.DoubleSide,
		polygonOffset: true,
		polygonOffsetFactor: 1,
		polygonOffsetUnits: 1,
	});
	material.userData.uniforms = {
		uStep: { value: step },
		uFade: { value: fade },
		uStrength: { value: strength },
		uLine: { value: new THREE.Color() },
		uMiddle: { value: new THREE.Vector3() },
		...(picture ? pictures.uniforms(look) : {}),
	};
	material.customProgramCacheKey = () => `sheet ${picture}`;
	material.onBeforeCompile = (shader) => {
		Object.assign(shader.uniforms, material.userData.uniforms);
		shader.vertexShader = shader.vertexShader
			.replace("#include <common>", "#include <common>\nvarying vec3 vOnSheet; varying vec3 vInWorld;")
			.replace("#include <begin_vertex>",
				"#include <begin_vertex>\nvOnSheet = position; vInWorld = (modelMatrix * vec4(position, 1.0)).xyz;");
		shader.fragmentShader = shader.fragmentShader
			.replace("#include <common>", `#include <common>
				varying vec3 vOnSheet; varying vec3 vInWorld;
				uniform float uStep; uniform float uFade; uniform float uStrength; uniform vec3 uLine; uniform vec3 uMiddle;
				float gridLine(vec2 p, float step) {
					vec2 q = p / step;
					vec2 w = max(fwidth(q), vec2(1e-6));
					vec2 d = abs(fract(q - 0.5) - 0.5) / w;
					vec2 on = (1.0 - smoothstep(0.25, 1.0, d)) * (1.0 - smoothstep(0.04, 0.25, w));
					return max(on.x, on.y);
				}
				${picture ? pictureCode({ ...look, around: false }, true) : ""}`)
			.replace("#include <color_fragment>", `#include <color_fragment>
				{
					${picture ? "diffuseColor.rgb *= pictureAt(vOnSheet, vec3(0.0, 0.0, 1.0), vec3(1.0)).rgb;" : GRID}
					float away = distance(vInWorld, uMiddle) / uFade;
					diffuseColor.a *= uStrength * (1.0 - smoothstep(0.25, 1.0, away));
				}`);
	};
	return material;
}

const GRID = `float fine = gridLine(vOnSheet.xy, uStep), coarse = gridLine(vOnSheet.xy, 10.0 * uStep);
	diffuseColor.rgb = mix(diffuseColor.rgb, uLine, max(0.22 * fine, 0.42 * coarse));`;

export class Ground {
	readonly root = new THREE.Group();
	private readonly sheets: Sheet[] = [];
	private floor: Sheet | null = null; // that no shape is
	private level = 0; // where the floor is to be

	constructor(recording: Recording, box: THREE.Box3, private readonly pictures: Pictures) {
		const extent = box.getSize(new THREE.Vector3()).length();
		const middle = box.getCenter(new THREE.Vector3());
		let level = false;
		recording.actors.forEach((actor, index) => {
			for (let s = actor.firstShape; s < actor.firstShape + actor.shapeCount; ++s) {
				const shape = recording.shapes[s];
				if (recording.geometries[shape.geometry].kind !== "plane") {
					continue;
				}
				const rotation = new THREE.Quaternion(...shape.rotation);
				const normal = new THREE.Vector3(0, 0, 1).applyQuaternion(rotation);
				level = level || normal.z > 0.999;
				// walls and ramps are shown no larger than needed, or they would hide the scene
				const reach = normal.z > 0.999 ? 9 * extent : 1.2 * extent;
				this.add(index, new THREE.Vector3(...shape.position), rotation, reach, 1 - ((shape.color || actor.color) >>> 24) / 255, extent, middle,
					shape.color || actor.color, recording.looks[shape.look] ?? null);
			}
		});
		if (!level) {
			const below = new THREE.Vector3(0, 0, Math.min(box.min.z, lowestPoint(recording)) - 0.02 * extent);
			this.floor = this.add(0, below, new THREE.Quaternion(), 6 * extent, 0.55, extent, middle);
			this.level = below.z;
		}
	}

	// The floor stays below the action, by this share of the way at each picture.
	keepBelow(box: THREE.Box3, share: number): void {
		if (!this.floor) {
			return;
		}
		if (box.min.z < this.level) {
			this.level = box.min.z - 0.3 * box.getSize(new THREE.Vector3()).length();
		}
		this.floor.position.z += share * (this.level - this.floor.position.z);
		const { uniforms } = (this.floor.mesh.material as THREE.MeshLambertMaterial).userData;
		uniforms.uMiddle.value.z = this.floor.position.z;
	}

	private add(actor: number, position: THREE.Vector3, rotation: THREE.Quaternion, fade: number, strength: number,
		extent: number, middle: THREE.Vector3, color = 0, look: Look | null = null): Sheet {
		const material = sheetMaterial(gridStep(extent), fade, strength, look, this.pictures);
		// centred on the foot of the scene's middle, moved by whole grid steps so that lines stay on round numbers
		const foot = middle.clone().sub(position).applyQuaternion(rotation.clone().invert());
		const geometry = new THREE.CircleGeometry(1.05 * fade, 64).translate(foot.x, foot.y, 0);
		const mesh = new THREE.Mesh(geometry, material);
		mesh.receiveShadow = true;
		mesh.renderOrder = -1;
		material.userData.uniforms.uMiddle.value.copy(new THREE.Vector3(foot.x, foot.y, 0).applyQuaternion(rotation).add(position));
		const sheet = { mesh, actor, position, rotation, strength, color };
		this.sheets.push(sheet);
		this.root.add(mesh);
		return sheet;
	}

	dispose(): void {
		for (const { mesh } of this.sheets) {
			mesh.geometry.dispose();
			(mesh.material as THREE.Material).dispose();
		}
	}

	setColors(sheet: number, line: number): void {
		for (const { mesh, color } of this.sheets) {
			const material = mesh.material as THREE.MeshLambertMaterial;
			material.color.setHex(color & 0xffffff || sheet);
			material.userData.uniforms.uLine.value.setHex(line);
		}
	}

	update(poses: Placed, eye: THREE.Vector3): void {
		const body = new THREE.Quaternion(), normal = new THREE.Vector3();
		for (const sheet of this.sheets) {
			body.fromArray(poses.rotation, 4 * sheet.actor);
			sheet.mesh.position.copy(sheet.position).applyQuaternion(body)
				.add(new THREE.Vector3().fromArray(poses.position, 3 * sheet.actor));
			sheet.mesh.quaternion.multiplyQuaternions(body, sheet.rotation);
			sheet.mesh.visible = poses.present[sheet.actor] === 1;
			normal.set(0, 0, 1).applyQuaternion(sheet.mesh.quaternion);
			const front = normal.dot(eye) >= normal.dot(sheet.mesh.position);
			const material = sheet.mesh.material as THREE.MeshLambertMaterial;
			material.userData.uniforms.uStrength.value = sheet.strength * (front ? 1 : BEHIND);
		}
	}
}
