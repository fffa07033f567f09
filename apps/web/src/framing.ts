// What the camera should see: the box that holds the action. Bodies that are far larger than the rest (a ground slab)
// and the few that fly away do not count.
import { Box3, Vector3, type PerspectiveCamera } from "three";
import { Poses } from "./poses";
import type { Geometry, Recording } from "./recording";

// Half the length of the longest axis, and more for what is not centred.
export function geometryRadius(geometry: Geometry): number {
	const [x, y, z] = geometry.size;
	switch (geometry.kind) {
		case "sphere":
			return x;
		case "capsule":
			return x + y;
		case "cylinder":
			return Math.hypot(x, y);
		case "ellipsoid":
			return Math.max(x, y, z);
		case "box":
			return Math.hypot(x, y, z);
		case "plane":
			return Infinity;
		case "mesh": {
			let most = 0;
			const p = geometry.positions!;
			for (let i = 0; i < p.length; i += 3) {
				most = Math.max(most, Math.hypot(p[i], p[i + 1], p[i + 2]));
			}
			return most;
		}
	}
}

export function actorRadii(recording: Recording): Float64Array {
	const radii = new Float64Array(recording.actors.length);
	const ofGeometry = recording.geometries.map(geometryRadius);
	recording.actors.forEach((actor, a) => {
		for (let s = actor.firstShape; s < actor.firstShape + actor.shapeCount; ++s) {
			const shape = recording.shapes[s];
			radii[a] = Math.max(radii[a], Math.hypot(...shape.position) + ofGeometry[shape.geometry]);
		}
	});
	return radii;
}

function quantile(sorted: number[], share: number): number {
	return sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(share * (sorted.length - 1))))];
}

function boxOf(points: number[][], radii: number[], share: number): Box3 {
	const box = new Box3();
	const low: number[] = [], high: number[] = [];
	for (let k = 0; k < 3; ++k) {
		const lows = points.map((p, i) => p[k] - radii[i]).sort((a, b) => a - b);
		const highs = points.map((p, i) => p[k] + radii[i]).sort((a, b) => a - b);
		low.push(quantile(lows, share));
		high.push(quantile(highs, 1 - share));
	}
	box.min.set(low[0], low[1], low[2]);
	box.max.set(high[0], high[1], high[2]);
	return box;
}

// Over the whole run, or in one frame alone.
export function actionBox(recording: Recording, only?: number): Box3 {
	const poses = new Poses(recording);
	const radii = actorRadii(recording);
	const frames = recording.times.length;
	const points: number[][] = [], sizes: number[] = [], still: number[] = [];
	const wanted = only === undefined ? Math.min(frames, 24) : 1;
	for (let i = 0; i < wanted; ++i) {
		poses.setFrame(only ?? Math.round((i * (frames - 1)) / Math.max(1, wanted - 1)));
		for (let a = 1; a < poses.count; ++a) {
			if (!poses.present[a] || !Number.isFinite(radii[a])) {
				continue;
			}
			if (recording.actors[a].kind === "fixed") {
				if (i === 0) {
					still.push(a);
				}
				continue;
			}
			points.push(Array.from(poses.position.subarray(3 * a, 3 * a + 3)));
			sizes.push(radii[a]);
		}
	}
	// a single runaway among thousands must not make the rest a dot
	const box = points.length > 0 ? boxOf(points, sizes, points.length > 100 ? 0.01 : 0) : new Box3();
	const reach = box.isEmpty() ? Infinity : 1.5 * box.getSize(new Vector3()).length();
	poses.setFrame(0);
	for (const a of still) {
		if (radii[a] < reach) {
			const p = new Vector3().fromArray(poses.position, 3 * a);
			const r = new Vector3().setScalar(Math.min(radii[a], reach / 3));
			box.union(new Box3(p.clone().sub(r), p.add(r)));
		}
	}
	addWorld(box, recording, reach);
	if (box.isEmpty()) {
		box.set(new Vector3(-1, -1, 0), new Vector3(1, 1, 2));
	}
	return box;
}

// The world's own shapes that are no larger than the action, such as posts and ramps.
function addWorld(box: Box3, recording: Recording, reach: number): void {
	const world = recording.actors[0];
	for (let s = world.firstShape; s < world.firstShape + world.shapeCount; ++s) {
		const shape = recording.shapes[s];
		const radius = geometryRadius(recording.geometries[shape.geometry]);
		const p = new Vector3(...shape.position);
		const near = box.isEmpty() || box.distanceToPoint(p) < reach;
		if (radius < reach / 2 && near) {
			box.union(new Box3(p.clone().subScalar(radius), p.addScalar(radius)));
		}
	}
}

// Puts the camera at the angle (degrees about z, above the horizon) where the box just fits.
export function fitCamera(camera: PerspectiveCamera, target: Vector3, box: Box3, azimuth: number, elevation: number,
	zoom: number): void {
	const a = (azimuth * Math.PI) / 180, e = (elevation * Math.PI) / 180;
	const toward = new Vector3(Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e));
	const right = new Vector3(-Math.sin(a), Math.cos(a), 0);
	const up = new Vector3().crossVectors(toward, right);
	const tanV = Math.tan((camera.fov * Math.PI) / 360), tanH = tanV * camera.aspect;
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
