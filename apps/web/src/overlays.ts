// What is drawn over the bodies: contact points with their normals and the forces that they carry, the contact graph, joint frames with their
// gaps, joints that move, the pull of the hand. A force arrow's length is its share of the largest usual one, so that weights and pebbles both show; the more
// contacts there are, the shorter are all of them.
import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { CONTACT, JOINT } from "./engine";

const MOST_ARROWS = 6000;
const GAP_GROWN = 100; // times its length, so that a gap of a micrometre shows at all

function arrowGeometry(): THREE.BufferGeometry {
	// along +z, of length 1 and width 1
	const shaft = new THREE.CylinderGeometry(0.3, 0.3, 0.75, 6).rotateX(Math.PI / 2).translate(0, 0, 0.375);
	const head = new THREE.ConeGeometry(1, 0.25, 8).rotateX(Math.PI / 2).translate(0, 0, 0.875);
	return mergeGeometries([shaft, head])!;
}

export class Overlays {
	readonly root = new THREE.Group();
	private readonly arrows = new THREE.InstancedMesh(arrowGeometry(),
		new THREE.MeshBasicMaterial({ color: 0xd81b60, depthTest: false, transparent: true, opacity: 0.9 }), MOST_ARROWS);
	private readonly points = new THREE.Points(new THREE.BufferGeometry(),
		new THREE.PointsMaterial({ color: 0xffb300, size: 4, sizeAttenuation: false, depthTest: false, transparent: true }));
	private readonly normals = new THREE.LineSegments(new THREE.BufferGeometry(),
		new THREE.LineBasicMaterial({ color: 0x00838f, depthTest: false, transparent: true }));
	private readonly frames = new THREE.LineSegments(new THREE.BufferGeometry(),
		new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
	private readonly graph = new THREE.LineSegments(new THREE.BufferGeometry(),
		new THREE.LineBasicMaterial({ color: 0x2e7d32, depthTest: false, transparent: true, opacity: 0.85 }));
	private readonly active = new THREE.Points(new THREE.BufferGeometry(),
		new THREE.PointsMaterial({ color: 0xff7043, size: 5, sizeAttenuation: false, depthTest: false, transparent: true }));
	private readonly hand = new THREE.LineSegments(new THREE.BufferGeometry(),
		new THREE.LineBasicMaterial({ color: 0xd9551e, depthTest: false, transparent: true }));

	constructor() {
		[this.normals, this.arrows, this.points, this.frames, this.graph, this.active, this.hand].forEach((object, i) => {
			object.frustumCulled = false;
			object.renderOrder = 10 + i;
			object.visible = false;
			this.root.add(object);
		});
		this.arrows.count = 0;
	}

	// How many arrows are shown.
	get arrowCount(): number {
		return this.arrows.visible ? this.arrows.count : 0;
	}

	// `size`: of the action, m.
	setContacts(contacts: Float32Array | null, size: number): void {
		const count = contacts ? contacts.length / CONTACT : 0;
		this.arrows.visible = this.points.visible = this.normals.visible = count > 0;
		if (!contacts || count === 0) {
			this.arrows.count = 0;
			return;
		}
		const force = (i: number) => Math.hypot(contacts[CONTACT * i + 6], contacts[CONTACT * i + 7], contacts[CONTACT * i + 8]);
		const sorted = Array.from({ length: count }, (_, i) => force(i)).sort((a, b) => a - b);
		const usual = sorted[Math.floor(0.95 * (count - 1))] || 1;
		const matrix = new THREE.Matrix4(), turn = new THREE.Quaternion(), up = new THREE.Vector3(0, 0, 1);
		const place = new THREE.Vector3(), along = new THREE.Vector3(), scale = new THREE.Vector3();
		const places = new Float32Array(3 * count), lines = new Float32Array(6 * count);
		const longest = (0.16 * size) / Math.max(1, Math.cbrt(count / 10));
		(this.points.material as THREE.PointsMaterial).size = count > 400 ? 2 : 4;
		let shown = 0;
		for (let i = 0; i < count; ++i) {
			const at = CONTACT * i, strength = force(i);
			place.fromArray(contacts, at);
			place.toArray(places, 3 * i);
			place.toArray(lines, 6 * i);
			along.fromArray(contacts, at + 3).multiplyScalar(0.4 * longest).add(place).toArray(lines, 6 * i + 3);
			if (strength <= 1e-9 || shown === MOST_ARROWS) {
				continue;
			}
			along.fromArray(contacts, at + 6).normalize();
			const length = longest * Math.min(2.5, Math.max(0.15, Math.sqrt(strength / usual)));
			turn.setFromUnitVectors(up, along);
			scale.set(0.09 * length, 0.09 * length, length);
			this.arrows.setMatrixAt(shown++, matrix.compose(place, turn, scale));
		}
		this.arrows.count = shown;
		this.arrows.instanceMatrix.needsUpdate = true;
		this.points.geometry.setAttribute("position", new THREE.BufferAttribute(places, 3));
		this.normals.geometry.setAttribute("position", new THREE.BufferAttribute(lines, 3));
	}

	// How many contact normals are shown.
	get normalCount(): number {
		return this.normals.visible ? this.normals.geometry.getAttribute("position").count / 2 : 0;
	}

	// How many edges of the contact graph are shown.
	get edgeCount(): number {
		return this.graph.visible ? this.graph.geometry.getAttribute("position").count / 4 : 0;
	}

	// One edge for each pair that touches, from centre to centre by way of the mean of its contact points; to what is fixed it
	// ends at that point. `position`: the actors' centres.
	setGraph(contacts: Float32Array | null, position: Float32Array, isFixed: (actor: number) => boolean): void {
		const pairs = new Map<number, { a: number; b: number; sum: THREE.Vector3; count: number }>();
		const point = new THREE.Vector3();
		for (let at = 0; contacts && at < contacts.length; at += CONTACT) {
			const [a, b] = [contacts[at + 9], contacts[at + 10]].sort((x, y) => x - y);
			const key = a * 1048576 + b;
			const pair = pairs.get(key) ?? { a, b, sum: new THREE.Vector3(), count: 0 };
			pair.sum.add(point.fromArray(contacts, at));
			pair.count += 1;
			pairs.set(key, pair);
		}
		this.graph.visible = pairs.size > 0;
		if (pairs.size === 0) {
			return;
		}
		const lines = new Float32Array(12 * pairs.size);
		let at = 0;
		for (const { a, b, sum, count } of pairs.values()) {
			sum.multiplyScalar(1 / count);
			for (const actor of [a, b]) {
				sum.toArray(lines, at);
				(isFixed(actor) ? sum : point.fromArray(position, 3 * actor)).toArray(lines, at + 3);
				at += 6;
			}
		}
		this.graph.geometry.setAttribute("position", new THREE.BufferAttribute(lines, 3));
	}

	setJoints(joints: Float32Array | null, size: number): void {
		const count = joints ? joints.length / JOINT : 0;
		this.frames.visible = count > 0;
		if (!joints || count === 0) {
			return;
		}
		const lines: number[] = [], colors: number[] = [];
		const a = new THREE.Vector3(), b = new THREE.Vector3(), turn = new THREE.Quaternion(), tip = new THREE.Vector3();
		const line = (from: THREE.Vector3, to: THREE.Vector3, r: number, g: number, blue: number) => {
			lines.push(from.x, from.y, from.z, to.x, to.y, to.z);
			colors.push(r, g, blue, r, g, blue);
		};
		for (let j = 0; j < count; ++j) {
			const at = JOINT * j;
			if (joints[at + 14] === 0) {
				continue;
			}
			for (const half of [0, 7]) {
				a.fromArray(joints, at + half);
				turn.fromArray(joints, at + half + 3);
				const length = (half === 0 ? 0.035 : 0.025) * size;
				line(a, tip.set(length, 0, 0).applyQuaternion(turn).add(a), 0.9, 0.1, 0.1);
				line(a, tip.set(0, length, 0).applyQuaternion(turn).add(a), 0.1, 0.7, 0.1);
				line(a, tip.set(0, 0, length).applyQuaternion(turn).add(a), 0.1, 0.3, 1);
			}
			a.fromArray(joints, at);
			b.fromArray(joints, at + 7).sub(a).multiplyScalar(GAP_GROWN).add(a);
			line(a, b, 1, 0, 1);
		}
		this.frames.geometry.setAttribute("position", new THREE.Float32BufferAttribute(lines, 3));
		this.frames.geometry.setAttribute("color", new THREE.Float32BufferAttribute(colors, 3));
	}

	// A dot at each joint that moves.
	setActive(joints: Float32Array | null): void {
		const places: number[] = [];
		for (let at = 0; joints && at < joints.length; at += JOINT) {
			if (joints[at + 14] !== 0 && joints[at + 15] !== 0) {
				places.push(...joints.subarray(at, at + 3));
			}
		}
		this.active.visible = places.length > 0;
		this.active.geometry.setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
	}

	setHand(from: THREE.Vector3 | null, to: THREE.Vector3 | null): void {
		this.hand.visible = from !== null && to !== null;
		if (from && to) {
			this.hand.geometry.setAttribute("position",
				new THREE.Float32BufferAttribute([from.x, from.y, from.z, to.x, to.y, to.z], 3));
		}
	}
}
