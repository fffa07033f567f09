// What the camera should see: the box that holds the bulk of the moving bodies. Fixed ones, far stragglers and what is
// far larger than the rest do not count, so that a chain hung from a tower or one ball that flies away leaves the others
// their size on the screen.
import { Box3, Matrix4, Quaternion, Vector3, type PerspectiveCamera } from "three";
import { Poses } from "./poses";
import type { Geometry, Recording } from "./recording";

// Where bodies are: of a recording's frame, or of the engine.
export interface Placed {
	readonly count: number;
	readonly position: Float32Array; // 3 an actor
	readonly rotation: Float32Array; // 4 an actor, x y z w
	readonly present: Uint8Array;
}

// Middle and half sides of a box along an actor's own axes that holds all its shapes; not finite for planes.
export interface Extents {
	middle: Float64Array; // 3 an actor
	half: Float64Array;
}

function geometryBox(geometry: Geometry): Box3 {
	const [x, y, z] = geometry.size;
	const of = (a: number, b: number, c: number) => new Box3(new Vector3(-a, -b, -c), new Vector3(a, b, c));
	switch (geometry.kind) {
		case "sphere":
			return of(x, x, x);
		case "capsule":
			return of(x, x, x + y);
		case "cylinder":
			return of(x, x, y);
		case "ellipsoid":
		case "box":
			return of(x, y, z);
		case "plane":
			return of(Infinity, Infinity, Infinity);
		case "mesh": {
			const box = new Box3(), p = geometry.positions!, point = new Vector3();
			for (let i = 0; i < p.length; i += 3) {
				box.expandByPoint(point.set(p[i], p[i + 1], p[i + 2]));
			}
			return box;
		}
	}
}

export function actorExtents(recording: Recording): Extents {
	const count = recording.actors.length;
	const extents = { middle: new Float64Array(3 * count), half: new Float64Array(3 * count) };
	const boxes = recording.geometries.map(geometryBox);
	const turn = new Quaternion(), point = new Vector3();
	recording.actors.forEach((actor, a) => {
		const all = new Box3();
		for (let s = actor.firstShape; s < actor.firstShape + actor.shapeCount; ++s) {
			const shape = recording.shapes[s], box = boxes[shape.geometry];
			turn.set(...shape.rotation);
			for (let i = 0; i < 8; ++i) {
				point.set(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z);
				all.expandByPoint(point.applyQuaternion(turn).add(new Vector3(...shape.position)));
			}
		}
		if (!all.isEmpty()) {
			all.getCenter(point).toArray(extents.middle, 3 * a);
			all.getSize(point).multiplyScalar(0.5).toArray(extents.half, 3 * a);
		}
	});
	return extents;
}

// Half the diagonal of an actor's box.
export function actorRadius(extents: Extents, actor: number): number {
	return Math.hypot(...extents.half.subarray(3 * actor, 3 * actor + 3));
}

function quantile(sorted: number[], share: number): number {
	return sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(share * (sorted.length - 1))))];
}

function median(values: number[]): number {
	return quantile([...values].sort((a, b) => a - b), 0.5);
}

// A body's box in the world's axes.
interface Placement {
	middle: [number, number, number];
	half: [number, number, number];
	radius: number;
}

// Those that belong together: not farther from the middle than several times what is usual.
function bulkOf(all: Placement[]): Placement[] {
	if (all.length < 3) {
		return all;
	}
	const middle = [0, 1, 2].map((k) => median(all.map((p) => p.middle[k])));
	const far = all.map((p) => Math.hypot(...p.middle.map((v, k) => v - middle[k])));
	const usual = Math.max(median(far), median(all.map((p) => p.radius)));
	return all.filter((p, i) => far[i] - p.radius <= 5 * usual);
}

function boxOf(all: Placement[]): Box3 {
	const share = all.length > 60 ? 0.015 : 0;
	const edge = (k: number, sign: number) =>
		quantile(all.map((p) => p.middle[k] + sign * p.half[k]).sort((a, b) => a - b), sign < 0 ? share : 1 - share);
	return all.length === 0 ? new Box3()
		: new Box3(new Vector3(edge(0, -1), edge(1, -1), edge(2, -1)), new Vector3(edge(0, 1), edge(1, 1), edge(2, 1)));
}

function gather(poses: Placed, extents: Extents, wanted: (a: number) => boolean, out: Placement[]): void {
	const turn = new Matrix4(), q = new Quaternion(), middle = new Vector3();
	for (let a = 1; a < poses.count; ++a) {
		const radius = actorRadius(extents, a);
		if (!poses.present[a] || !Number.isFinite(radius) || radius === 0 || !wanted(a)) {
			continue;
		}
		q.fromArray(poses.rotation, 4 * a);
		const e = turn.makeRotationFromQuaternion(q).elements, h = extents.half, at = 3 * a;
		middle.fromArray(extents.middle, at).applyQuaternion(q);
		out.push({
			middle: [poses.position[at] + middle.x, poses.position[at + 1] + middle.y, poses.position[at + 2] + middle.z],
			half: [0, 1, 2].map((k) => Math.abs(e[k]) * h[at] + Math.abs(e[k + 4]) * h[at + 1] + Math.abs(e[k + 8]) * h[at + 2]) as
				[number, number, number],
			radius,
		});
	}
}

const moves = (recording: Recording) => (a: number) => recording.actors[a].kind !== "fixed";

// Of the moving bodies in one state; empty where none moves.
export function bulkBox(recording: Recording, poses: Placed, extents: Extents): Box3 {
	const found: Placement[] = [];
	gather(poses, extents, moves(recording), found);
	return boxOf(bulkOf(found));
}

// All that has an end; the box of a scene in which nothing moves.
function stillBox(poses: Placed, extents: Extents): Box3 {
	const found: Placement[] = [];
	gather(poses, extents, () => true, found);
	const box = boxOf(found);
	if (actorRadius(extents, 0) < Infinity && actorRadius(extents, 0) > 0) {
		const middle = new Vector3().fromArray(extents.middle), half = new Vector3().fromArray(extents.half);
		box.union(new Box3(middle.clone().sub(half), middle.add(half)));
	}
	return box.isEmpty() ? new Box3(new Vector3(-1, -1, 0), new Vector3(1, 1, 2)) : box;
}

// The height below which nothing is at the start, of all that has an end; what does not move counts too.
export function lowestPoint(recording: Recording): number {
	const poses = new Poses(recording), extents = actorExtents(recording);
	const found: Placement[] = [];
	poses.setFrame(0);
	gather(poses, extents, () => true, found);
	const world = actorRadius(extents, 0);
	const own = world > 0 && world < Infinity ? extents.middle[2] - extents.half[2] : Infinity;
	return found.reduce((low, p) => Math.min(low, p.middle[2] - p.half[2]), own);
}

// Over the whole of a recording, or in one frame alone.
export function actionBox(recording: Recording, only?: number): Box3 {
	const poses = new Poses(recording);
	const extents = actorExtents(recording);
	const frames = recording.times.length;
	const found: Placement[] = [];
	const wanted = only === undefined ? Math.min(frames, 24) : Math.min(frames, 1);
	for (let i = 0; i < wanted; ++i) {
		poses.setFrame(only ?? Math.round((i * (frames - 1)) / Math.max(1, wanted - 1)));
		gather(poses, extents, moves(recording), found);
	}
	const box = boxOf(bulkOf(found));
	return box.isEmpty() ? stillBox(poses, extents) : box;
}

// The part of the picture that a box takes, as shares of its width and height.
export function shareOf(camera: PerspectiveCamera, box: Box3): { width: number; height: number } {
	const corner = new Vector3();
	let left = Infinity, right = -Infinity, low = Infinity, high = -Infinity;
	camera.updateMatrixWorld();
	for (let i = 0; i < 8; ++i) {
		corner.set(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z);
		corner.project(camera);
		left = Math.min(left, corner.x);
		right = Math.max(right, corner.x);
		low = Math.min(low, corner.y);
		high = Math.max(high, corner.y);
	}
	const within = (a: number, b: number) => Math.max(0, Math.min(1, b) - Math.max(-1, a)) / 2;
	return { width: within(left, right), height: within(low, high) };
}

// Puts the camera at the angle (degrees about z, above the horizon) where the box just fits a picture of these proportions,
// width to height, in its middle.
export function fitCamera(camera: PerspectiveCamera, target: Vector3, box: Box3, azimuth: number, elevation: number,
	zoom: number, aspect: number): void {
	const a = (azimuth * Math.PI) / 180, e = (elevation * Math.PI) / 180;
	const toward = new Vector3(Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e));
	const right = new Vector3(-Math.sin(a), Math.cos(a), 0);
	const up = new Vector3().crossVectors(toward, right);
	const tanV = Math.tan((camera.fov * Math.PI) / 360), tanH = tanV * aspect;
	box.getCenter(target);
	let distance = 0.01;
	const corner = new Vector3();
	for (let i = 0; i < 8; ++i) {
		corner.set(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z).sub(target);
		const depth = corner.dot(toward);
		distance = Math.max(distance, depth + Math.abs(corner.dot(right)) / tanH, depth + Math.abs(corner.dot(up)) / tanV);
	}
	distance *= 1.12 / zoom;
	camera.position.copy(target).addScaledVector(toward, distance);
	camera.up.set(0, 0, 1);
	camera.lookAt(target);
	camera.near = distance / 200;
	camera.far = distance * 60;
	camera.updateProjectionMatrix();
}
