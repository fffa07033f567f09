// Draws the bodies: every shape is an instance of a few unit geometries (a capsule is a tube and two balls), so that
// thousands of bodies are a handful of draw calls. Curved shapes carry a faint pattern that shows how they turn, boxes
// a thin edge. Boxes that do not move may be the walls of a container: each is a mesh of its own, and lets the eye through
// while it stands between it and the action.
import * as THREE from "three";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { Placed } from "./framing";
import { pictureCode, type Pictures } from "./pictures";
import type { Actor, Geometry, Look, Recording, Shape } from "./recording";

const PALETTE = [0x4c86c6, 0xe2803a, 0x5aa469, 0xc9566b, 0x8a72be, 0x3fa3a3, 0xd9a63c, 0x8d6e5c];
const STILL = 0x9aa3ad;

type Pattern = "edges" | "octants" | "quarters" | "none";

interface Part {
	actor: number;
	position: THREE.Vector3; // in the body's frame
	rotation: THREE.Quaternion;
	scale: THREE.Vector3;
	color: THREE.Color;
	plain: boolean; // not of a mesh
}

interface Group {
	mesh: THREE.InstancedMesh;
	parts: Part[];
	wall: boolean;
}

const MOST_WALLS = 48; // draw calls that transparency may cost
const SEEN_THROUGH = 0.16; // opacity of a wall in the way
const GHOST = 0.3;

// --- unit geometries and materials -------------------------------------------------------------------------------

// `detail`: fewer triangles where there are many.
function unitGeometry(name: string, detail: number): THREE.BufferGeometry {
	switch (name) {
		case "box":
			return new THREE.BoxGeometry(2, 2, 2);
		case "ball":
			return new THREE.SphereGeometry(1, 8 * detail, 6 * detail).rotateX(Math.PI / 2);
		case "tube":
			return new THREE.CylinderGeometry(1, 1, 2, 8 * detail, 1, true).rotateX(Math.PI / 2);
		default:
			return new THREE.CylinderGeometry(1, 1, 2, 10 * detail).rotateX(Math.PI / 2);
	}
}

// A height field is solid ground: walls go down from its rim to a level below its lowest point.
function withWalls(positions: Float32Array, triangles: Uint32Array): { positions: Float32Array; triangles: Uint32Array } {
	const edges = new Map<string, [number, number] | null>(); // null: two triangles share it
	for (let t = 0; t < triangles.length; t += 3) {
		for (let k = 0; k < 3; ++k) {
			const a = triangles[t + k], b = triangles[t + ((k + 1) % 3)];
			const name = a < b ? `${a} ${b}` : `${b} ${a}`;
			edges.set(name, edges.has(name) ? null : [a, b]);
		}
	}
	let low = Infinity, high = -Infinity;
	for (let i = 2; i < positions.length; i += 3) {
		low = Math.min(low, positions[i]);
		high = Math.max(high, positions[i]);
	}
	const level = low - 0.25 * (high - low) - 0.01;
	const more: number[] = [], faces: number[] = [];
	for (const edge of edges.values()) {
		if (edge) {
			const at = positions.length / 3 + more.length / 3;
			const corners = edge.map((v) => Array.from(positions.subarray(3 * v, 3 * v + 3)));
			corners.forEach(([x, y, z]) => more.push(x, y, z, x, y, level));
			faces.push(at, at + 1, at + 2, at + 2, at + 1, at + 3);
		}
	}
	return { positions: Float32Array.from([...positions, ...more]), triangles: Uint32Array.from([...triangles, ...faces]) };
}

function meshGeometry(geometry: Geometry): THREE.BufferGeometry {
	const { positions, triangles } = geometry.ground ? withWalls(geometry.positions!, geometry.triangles!)
		: { positions: geometry.positions!, triangles: geometry.triangles! };
	const buffer = new THREE.BufferGeometry();
	buffer.setAttribute("position", new THREE.BufferAttribute(positions, 3));
	buffer.setIndex(new THREE.BufferAttribute(triangles, 1));
	return toCreasedNormals(buffer, Math.PI / 5);
}

function sidesOf(geometry: THREE.BufferGeometry): Sides {
	geometry.computeBoundingBox();
	const size = geometry.boundingBox!.getSize(new THREE.Vector3()).multiplyScalar(0.5);
	return { middle: geometry.boundingBox!.getCenter(new THREE.Vector3()), half: size.max(new THREE.Vector3(1e-9, 1e-9, 1e-9)) };
}

const SHADE: Record<Pattern, string> = {
	edges: `vec3 e3 = abs(vHere); vec3 w3 = fwidth(vHere);
		vec3 d3 = (1.0 - e3) / max(w3, vec3(1e-6));
		float a1 = e3.x > 0.999 ? 1e6 : d3.x, a2 = e3.y > 0.999 ? 1e6 : d3.y, a3 = e3.z > 0.999 ? 1e6 : d3.z;
		float edge = min(a1, min(a2, a3));
		float fade = clamp(0.35 / max(w3.x + w3.y + w3.z, 1e-6) * 0.2, 0.0, 1.0);
		diffuseColor.rgb *= 1.0 - 0.38 * fade * (1.0 - smoothstep(0.4, 1.6, edge));`,
	octants: `float side = vHere.x * vHere.y * vHere.z;
		diffuseColor.rgb *= mix(0.74, 1.0, smoothstep(-0.5, 0.5, side / max(fwidth(side), 1e-6)));`,
	quarters: `float side = vHere.x * vHere.y;
		diffuseColor.rgb *= mix(0.78, 1.0, smoothstep(-0.5, 0.5, side / max(fwidth(side), 1e-6)));`,
	none: "",
};

const ROUGHNESS = 0.62; // of what no material is told of

// The box about a mesh; unit geometries fill theirs.
interface Sides {
	middle: THREE.Vector3;
	half: THREE.Vector3;
}

const UNIT: Sides = { middle: new THREE.Vector3(), half: new THREE.Vector3(1, 1, 1) };

function material(pattern: Pattern, look: Look | null, sides: Sides, pictures: Pictures): THREE.MeshStandardMaterial {
	const made = new THREE.MeshStandardMaterial({ roughness: look?.roughness ?? ROUGHNESS, metalness: look?.metallic ?? 0 });
	const picture = look !== null && look.picture >= 0;
	made.side = pattern === "none" ? THREE.DoubleSide : THREE.FrontSide;
	if (pattern === "none" && !look) {
		return made;
	}
	made.onBeforeCompile = (shader) => {
		Object.assign(shader.uniforms, { uMiddle: { value: sides.middle }, uHalf: { value: sides.half },
			uEmission: { value: look?.emission ?? 0 } }, picture ? pictures.uniforms(look) : {});
		shader.vertexShader = shader.vertexShader
			.replace("#include <common>", "#include <common>\nvarying vec3 vHere, vAcross, vHalf; uniform vec3 uMiddle, uHalf;")
			.replace("#include <begin_vertex>", `#include <begin_vertex>
				vHere = (position - uMiddle) / uHalf; vAcross = normal * uHalf;
				vHalf = uHalf * vec3(length(instanceMatrix[0].xyz), length(instanceMatrix[1].xyz), length(instanceMatrix[2].xyz));`);
		shader.fragmentShader = shader.fragmentShader
			.replace("#include <common>", `#include <common>\nvarying vec3 vHere, vAcross, vHalf; uniform float uEmission; ${picture ? pictureCode(look) : ""}`)
			.replace("#include <color_fragment>", `#include <color_fragment>
				{ ${picture ? "diffuseColor.rgb *= pictureAt(vHere, vAcross, vHalf).rgb;" : SHADE[pattern]} }`)
			.replace("#include <emissivemap_fragment>", "totalEmissiveRadiance += uEmission * diffuseColor.rgb;");
	};
	made.customProgramCacheKey = () => `${pattern} ${picture} ${look?.uniform} ${look?.around}`;
	return made;
}

// --- from shapes to parts ----------------------------------------------------------------------------------------

function colorOf(actor: Actor, index: number, shape: Shape): THREE.Color {
	const moves = actor.kind === "dynamic" || actor.kind === "kinematic";
	const chosen = shape.color || actor.color || (moves ? PALETTE[index % PALETTE.length] : STILL);
	return new THREE.Color(chosen & 0xffffff);
}

// 0: solid, 255: not seen.
function transparencyOf(actor: Actor, shape: Shape): number {
	return (shape.color || actor.color) >>> 24;
}

// Whether a box (the unit one under `matrix`) stands between the eye and a part of the action.
function isBetween(matrix: THREE.Matrix4, eye: THREE.Vector3, action: THREE.Box3): boolean {
	if (matrix.determinant() === 0) {
		return false;
	}
	const inverse = matrix.clone().invert();
	const from = eye.clone().applyMatrix4(inverse);
	const unit = new THREE.Box3(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
	const middle = action.getCenter(new THREE.Vector3()), half = action.getSize(new THREE.Vector3()).multiplyScalar(0.35);
	return [[0, 0, 0], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]].some(([x, y, z]) => {
		const to = new THREE.Vector3(x, y, z).multiply(half).add(middle).applyMatrix4(inverse);
		const way = to.clone().sub(from);
		const hit = new THREE.Ray(from, way.clone().normalize()).intersectBox(unit, new THREE.Vector3());
		return hit !== null && !unit.containsPoint(to) && hit.distanceTo(from) < way.length();
	});
}

function seeThrough(mesh: THREE.InstancedMesh, on: boolean): void {
	const look = mesh.material as THREE.MeshStandardMaterial;
	if (look.transparent !== on) {
		look.transparent = on;
		look.opacity = on ? SEEN_THROUGH : 1;
		look.depthWrite = !on;
		look.needsUpdate = true;
		mesh.castShadow = !on;
	}
}

export class Bodies {
	readonly root = new THREE.Group();
	readonly groups: Group[] = [];
	hidden = new Set<number>(); // actors
	private readonly color = new THREE.Color();
	private marked = -1;
	private walls = 0;
	private painted: ((actor: number) => THREE.Color | null) | null = null;

	// A ghost stands beside the bodies themselves, to compare with.
	constructor(private readonly recording: Recording, private readonly pictures: Pictures, private readonly ghost = false) {
		const lists = new Map<string, Part[]>();
		recording.actors.forEach((actor, index) => {
			for (let s = actor.firstShape; s < actor.firstShape + actor.shapeCount; ++s) {
				this.addShape(lists, index, recording.shapes[s]);
			}
		});
		for (const [name, parts] of lists) {
			this.addGroup(name, parts);
		}
	}

	private addShape(lists: Map<string, Part[]>, actor: number, shape: Shape): void {
		const geometry = this.recording.geometries[shape.geometry];
		const color = colorOf(this.recording.actors[actor], actor, shape);
		const position = new THREE.Vector3(...shape.position), rotation = new THREE.Quaternion(...shape.rotation);
		const clear = transparencyOf(this.recording.actors[actor], shape);
		if (clear === 255) {
			return;
		}
		const add = (kind: string, along: number, x: number, y: number, z: number) => {
			const list = `${kind}@${clear}@${shape.look}`;
			const place = new THREE.Vector3(0, 0, along).applyQuaternion(rotation).add(position);
			const part = { actor, position: place, rotation, scale: new THREE.Vector3(x, y, z), color,
				plain: geometry.kind !== "mesh" };
			lists.set(list, lists.get(list) ?? []);
			lists.get(list)!.push(part);
		};
		const [x, y, z] = geometry.size;
		const kind = this.recording.actors[actor].kind;
		if (geometry.kind === "box" && clear === 0 && (kind === "fixed" || kind === "world") && !this.ghost && this.walls < MOST_WALLS) {
			this.walls += 1;
			return add(`wall ${this.walls}`, 0, x, y, z);
		}
		switch (geometry.kind) {
			case "sphere":
				return add("ball", 0, x, x, x);
			case "ellipsoid":
				return add("ball", 0, x, y, z);
			case "box":
				return add("box", 0, x, y, z);
			case "cylinder":
				return add("can", 0, x, x, y);
			case "capsule":
				add("tube", 0, x, x, y);
				add("ball", y, x, x, x);
				return add("ball", -y, x, x, x);
			case "mesh":
				return add(`mesh ${shape.geometry}`, 0, 1, 1, 1);
			case "plane":
				return; // ground.ts
		}
	}

	private addGroup(list: string, parts: Part[]): void {
		const [name, clear, lookAt] = list.split("@");
		const look = this.recording.looks[Number(lookAt)] ?? null;
		const patterns: Record<string, Pattern> = { box: "edges", ball: "octants", tube: "quarters", can: "quarters" };
		const detail = parts.length > 1500 ? 2 : parts.length > 300 ? 3 : 5;
		const wall = name.startsWith("wall ");
		const geometry = name.startsWith("mesh ") ? meshGeometry(this.recording.geometries[+name.slice(5)])
			: unitGeometry(wall ? "box" : name, detail);
		const surface = material(wall ? "edges" : patterns[name] ?? "none", look, name.startsWith("mesh ") ? sidesOf(geometry) : UNIT, this.pictures);
		const mesh = new THREE.InstancedMesh(geometry, surface, parts.length);
		if (this.ghost) {
			surface.transparent = true;
			surface.opacity = GHOST;
			surface.depthWrite = false;
		}
		if (clear !== "0") {
			surface.transparent = true;
			surface.opacity *= 1 - Number(clear) / 255;
			surface.depthWrite = false;
		}
		mesh.castShadow = !this.ghost && clear === "0";
		mesh.receiveShadow = !this.ghost;
		mesh.frustumCulled = false;
		mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
		parts.forEach((part, i) => mesh.setColorAt(i, part.color));
		this.groups.push({ mesh, parts, wall });
		this.root.add(mesh);
	}

	// `pixel`: a pixel's size at a metre from the eye. What is thinner than two pixels is drawn that thick, or a long
	// chain would fall apart into dots.
	// `action`: what walls must not hide.
	update(poses: Placed, eye: THREE.Vector3, pixel: number, action: THREE.Box3): void {
		const body = new THREE.Quaternion(), rotation = new THREE.Quaternion();
		const position = new THREE.Vector3(), scale = new THREE.Vector3();
		const matrix = new THREE.Matrix4();
		for (const { mesh, parts, wall } of this.groups) {
			parts.forEach((part, i) => {
				const shown = poses.present[part.actor] && !this.hidden.has(part.actor) ? 1 : 0;
				body.fromArray(poses.rotation, 4 * part.actor);
				position.copy(part.position).applyQuaternion(body);
				position.x += poses.position[3 * part.actor];
				position.y += poses.position[3 * part.actor + 1];
				position.z += poses.position[3 * part.actor + 2];
				rotation.multiplyQuaternions(body, part.rotation);
				scale.copy(part.scale).multiplyScalar(shown);
				if (part.plain) {
					const thin = pixel * eye.distanceTo(position) * shown;
					scale.set(Math.max(thin, scale.x), Math.max(thin, scale.y), Math.max(thin, scale.z));
				}
				matrix.compose(position, rotation, scale);
				matrix.toArray(mesh.instanceMatrix.array as Float32Array, 16 * i);
			});
			if (wall) {
				seeThrough(mesh, isBetween(matrix, eye, action));
			}
			mesh.instanceMatrix.needsUpdate = true;
			mesh.boundingSphere = null;
		}
	}

	// The body under a ray; 0 (the world) where there is none.
	// `at` takes the point that was hit.
	pick(raycaster: THREE.Raycaster, at?: THREE.Vector3): number {
		let nearest = Infinity, actor = 0;
		for (const { mesh, parts, wall } of this.groups) {
			if (wall && (mesh.material as THREE.Material).transparent) {
				continue;
			}
			for (const hit of raycaster.intersectObject(mesh, false)) {
				if (hit.instanceId !== undefined && hit.distance < nearest) {
					nearest = hit.distance;
					actor = parts[hit.instanceId].actor;
					at?.copy(hit.point);
				}
			}
		}
		return actor;
	}

	// Lightens one body, and the one before back.
	mark(actor: number): void {
		if (actor !== this.marked) {
			const before = this.marked;
			this.marked = actor;
			this.recolor((a) => a === actor || a === before);
		}
	}

	// Colours of their own for some bodies, such as those of an island; null: as they are.
	paint(painted: ((actor: number) => THREE.Color | null) | null): void {
		if (painted || this.painted) {
			this.painted = painted;
			this.recolor(() => true);
		}
	}

	private recolor(which: (actor: number) => boolean): void {
		const white = new THREE.Color(0xffffff);
		for (const { mesh, parts } of this.groups) {
			parts.forEach((part, i) => {
				if (which(part.actor)) {
					this.color.copy(this.painted?.(part.actor) ?? part.color);
					if (part.actor === this.marked) {
						this.color.lerp(white, 0.45);
					}
					mesh.setColorAt(i, this.color);
					mesh.instanceColor!.needsUpdate = true;
				}
			});
		}
	}

	setWireframe(on: boolean): void {
		for (const { mesh } of this.groups) {
			(mesh.material as THREE.MeshStandardMaterial).wireframe = on;
		}
	}

	dispose(): void {
		for (const { mesh } of this.groups) {
			mesh.geometry.dispose();
			(mesh.material as THREE.Material).dispose();
			mesh.dispose();
		}
	}
}
