// Who hangs together and who rests on whom, from contacts and joints: islands (connected bodies that move), stack layers
// (steps of contact from what is fixed) and rigid pieces (bodies between which no joint moves), each as a colour.
import { Color } from "three";
import { CONTACT, JOINT, type Joint } from "./engine";
import type { Recording } from "./recording";

export type Coloring = "own" | "islands" | "layers" | "contacts" | "joints";

function distinct(index: number): Color {
	// steps of the golden angle around the circle of hues
	return new Color().setHSL((index * 0.381966) % 1, 0.62, 0.55);
}

function edges(contacts: Float32Array, joints: Joint[], states: Float32Array | null): [number, number][] {
	const list: [number, number][] = [];
	for (let at = 0; at < contacts.length; at += CONTACT) {
		if (Math.hypot(contacts[at + 6], contacts[at + 7], contacts[at + 8]) > 0) {
			list.push([contacts[at + 9], contacts[at + 10]]);
		}
	}
	joints.forEach((joint, j) => {
		if (!states || states[JOINT * j + 14] !== 0) {
			list.push([joint.parent, joint.child]);
		}
	});
	return list;
}

// Joints that are there and stand still: what they connect moves as one.
function stiffLinks(joints: Joint[], states: Float32Array | null): [number, number][] {
	return joints.flatMap((joint, j): [number, number][] =>
		states && states[JOINT * j + 14] !== 0 && states[JOINT * j + 15] === 0 ? [[joint.parent, joint.child]] : []);
}

export function islands(isFixed: boolean[], links: [number, number][]): Int32Array {
	const root = Int32Array.from(isFixed, (_, i) => i);
	const find = (i: number): number => {
		while (root[i] !== i) {
			root[i] = root[root[i]];
			i = root[i];
		}
		return i;
	};
	for (const [a, b] of links) {
		if (!isFixed[a] && !isFixed[b]) {
			const ra = find(a), rb = find(b);
			root[Math.max(ra, rb)] = Math.min(ra, rb);
		}
	}
	return root.map((_, i) => find(i));
}

// 0: fixed; -1: nothing carries it.
export function layers(isFixed: boolean[], links: [number, number][]): Int32Array {
	const next: number[][] = isFixed.map(() => []);
	for (const [a, b] of links) {
		next[a].push(b);
		next[b].push(a);
	}
	const layer = Int32Array.from(isFixed, (fixed) => (fixed ? 0 : -1));
	const queue = isFixed.flatMap((fixed, i) => (fixed ? [i] : []));
	for (let head = 0; head < queue.length; ++head) {
		for (const other of next[queue[head]]) {
			if (layer[other] < 0) {
				layer[other] = layer[queue[head]] + 1;
				queue.push(other);
			}
		}
	}
	return layer;
}

const ACTIVE = new Color(0xff7043), FROZEN = new Color(0x8d99a6);

// Of a recording's frame: what moves by itself against what is frozen; null: nothing ever is.
export function activity(recording: Recording, frame: number): ((actor: number) => Color | null) | null {
	const { active, actors } = recording;
	return active ? (a) => (actors[a].kind !== "dynamic" ? null : active[frame * actors.length + a] ? ACTIVE : FROZEN) : null;
}

export function coloring(kind: Coloring, recording: Recording, contacts: Float32Array | null, joints: Joint[],
	states: Float32Array | null): ((actor: number) => Color | null) | null {
	if (kind === "own" || !contacts) {
		return null;
	}
	const isFixed = recording.actors.map((actor) => actor.kind !== "dynamic");
	if (kind === "joints") {
		const piece = islands(isFixed.map(() => false), stiffLinks(joints, states));
		return (a) => (isFixed[a] ? null : distinct(piece[a]));
	}
	const links = edges(contacts, joints, states);
	if (kind === "islands") {
		const island = islands(isFixed, links);
		return (a) => (isFixed[a] ? null : distinct(island[a]));
	}
	if (kind === "layers") {
		const layer = layers(isFixed, links);
		return (a) => (isFixed[a] ? null : layer[a] < 0 ? new Color(0xb0b7bf) : distinct(layer[a]));
	}
	const degree = new Float64Array(isFixed.length);
	links.forEach(([a, b]) => ((degree[a] += 1), (degree[b] += 1)));
	return (a) => (isFixed[a] ? null : new Color().setHSL(0.62 - 0.62 * Math.min(1, degree[a] / 16), 0.7, 0.5));
}
