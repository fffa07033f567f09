// Reads the recording that a page carries (docs/formats.md, "The recording in a page"): a checked block of bytes with a
// JSON head, then times, shapes, tracks and series. Whatever is wrong with it becomes a RecordingError with a sentence.

export class RecordingError extends Error {}

export interface Geometry {
	kind: "sphere" | "capsule" | "box" | "plane" | "cylinder" | "ellipsoid" | "mesh";
	size: [number, number, number]; // as in knGeom_Size
	positions?: Float32Array; // of a mesh, 3 a vertex
	triangles?: Uint32Array; // 3 a triangle
	ground?: boolean; // a height field: solid below
}

// A body; number 0 is the world, which does not move.
export interface Actor {
	name: string;
	kind: "world" | "fixed" | "kinematic" | "dynamic";
	color: number; // 0: ours to choose
	mass: number;
	firstShape: number;
	shapeCount: number;
}

export interface Shape {
	geometry: number;
	color: number; // 0: its body's
	look: number; // -1: plain
	position: [number, number, number];
	rotation: [number, number, number, number]; // x y z w
}

// How a surface looks beyond its colour (src/record/looks.h says where a picture lies).
export interface Look {
	roughness: number;
	metallic: number;
	emission: number; // in units of the colour
	picture: number; // -1: none
	repeat: [number, number];
	uniform: boolean;
	around: boolean;
}

export interface Series {
	plot: string;
	name: string;
	unit: string;
	times: ArrayLike<number>;
	values: ArrayLike<number>;
}

export interface Recording {
	scene: string;
	stepper: string;
	version: string;
	note: string;
	view?: [number, number, number]; // azimuth, elevation, zoom that the scene asks for
	facts: [string, string][];
	times: Float64Array; // of the frames
	geometries: Geometry[];
	actors: Actor[];
	shapes: Shape[];
	looks: Look[];
	pictures: Blob[]; // image files
	series: Series[];
	origins: Float32Array; // 4 an actor: corner of its travel, and the metres of one count
	active?: Uint8Array; // 1 an actor and frame: it moves by itself, else it is frozen to what it hangs on; missing: all move
	codes: Uint16Array; // 6 an actor and frame, frame by frame: position counts, packed rotation
}

export const ABSENT = 65535; // as position count x: not there in this frame

const MAGIC = "KNREPLAY";
const HEAD = 24;
const MAKE_AGAIN = "Make the page again with 'knuckle run' or 'knuckle convert', or copy it again whole.";

function damaged(what: string): RecordingError {
	return new RecordingError(`The recording in this page is damaged: ${what}. ${MAKE_AGAIN}`);
}

function fromBase64(text: string): Uint8Array {
	const table = new Int16Array(128).fill(-1);
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (let i = 0; i < letters.length; ++i) {
		table[letters.charCodeAt(i)] = i;
	}
	let length = text.length;
	while (length > 0 && text[length - 1] === "=") {
		length -= 1;
	}
	const bytes = new Uint8Array(Math.floor((length * 3) / 4));
	let held = 0, bits = 0, count = 0;
	for (let i = 0; i < length; ++i) {
		const code = text.charCodeAt(i);
		const value = code < 128 ? table[code] : -1;
		if (value < 0) {
			throw damaged(`a character that does not belong there, at ${i} of ${length}`);
		}
		held = ((held << 6) | value) & 0xffffff;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			bytes[count++] = (held >> bits) & 255;
		}
	}
	return bytes;
}

function checksum(bytes: Uint8Array): number {
	let hash = 0x811c9dc5;
	for (let i = 0; i < bytes.length; ++i) {
		hash = Math.imul(hash ^ bytes[i], 0x01000193);
	}
	return hash >>> 0;
}

// The bytes that the text stands for.
function decode(text: string): Uint8Array {
	if (text === "@KNUCKLE-" + "RECORDING@" || text === "") {
		throw new RecordingError("This page is the empty template: it holds no recording. Use 'knuckle run SCENE --out x.html'.");
	}
	return fromBase64(text);
}

// What follows the head, known to be whole.
function open(bytes: Uint8Array): { json: any; data: Uint8Array } {
	const magic = bytes.length < HEAD ? "" : String.fromCharCode(...bytes.subarray(0, 8));
	if (magic !== MAGIC) {
		throw damaged(bytes.length < HEAD ? "it is cut short" : "it does not begin as a recording does");
	}
	const head = new DataView(bytes.buffer, bytes.byteOffset, HEAD);
	const version = head.getUint32(8, true), jsonSize = head.getUint32(12, true), size = head.getUint32(16, true);
	if (version !== 2) {
		throw new RecordingError(`The recording in this page has version ${version}; this page plays version 2. ${MAKE_AGAIN}`);
	}
	if (size !== bytes.length) {
		throw damaged(`it has ${bytes.length} of its ${size} bytes`);
	}
	if (checksum(bytes.subarray(HEAD)) !== head.getUint32(20, true)) {
		throw damaged("its checksum does not match");
	}
	const json = JSON.parse(new TextDecoder().decode(bytes.subarray(HEAD, HEAD + jsonSize)));
	return { json, data: bytes.slice(HEAD + jsonSize) };
}

function readShapes(data: Uint8Array, offset: number, count: number): Shape[] {
	const view = new DataView(data.buffer);
	const shapes: Shape[] = [];
	for (let i = 0; i < count; ++i) {
		const at = offset + 40 * i;
		const f = (k: number) => view.getFloat32(at + 12 + 4 * k, true);
		shapes.push({
			geometry: view.getUint32(at, true),
			color: view.getUint32(at + 4, true),
			look: view.getUint32(at + 8, true) - 1,
			position: [f(0), f(1), f(2)],
			rotation: [f(4), f(5), f(6), f(3)],
		});
	}
	return shapes;
}

// A track names the frames in which its key changes, one bit each; in the others the key before holds.
function readTracks(data: Uint8Array, offset: number, actorCount: number, frameCount: number) {
	const view = new DataView(data.buffer);
	const origins = new Float32Array(4 * actorCount);
	const codes = new Uint16Array(6 * actorCount * frameCount);
	const bitmapSize = Math.ceil(frameCount / 8);
	let at = offset;
	for (let a = 1; a < actorCount; ++a) {
		for (let k = 0; k < 4; ++k) {
			origins[4 * a + k] = view.getFloat32(at + 4 * k, true);
		}
		const bitmap = at + 16;
		let key = bitmap + bitmapSize;
		const now = [ABSENT, 0, 0, 0, 0, 0];
		for (let f = 0; f < frameCount; ++f) {
			if (data[bitmap + (f >> 3)] & (1 << (f & 7))) {
				for (let k = 0; k < 6; ++k) {
					now[k] = view.getUint16(key + 2 * k, true);
				}
				key += 12;
			}
			codes.set(now, 6 * (f * actorCount + a));
		}
		at = key;
	}
	return { origins, codes };
}

// One bit an actor, whole bytes a frame.
function readMarks(data: Uint8Array, offset: number, actorCount: number, frameCount: number): Uint8Array {
	const active = new Uint8Array(actorCount * frameCount), stride = Math.ceil(actorCount / 8);
	for (let i = 0; i < active.length; ++i) {
		const frame = Math.floor(i / actorCount), actor = i % actorCount;
		active[i] = (data[offset + frame * stride + (actor >> 3)] >> (actor & 7)) & 1;
	}
	return active;
}

function readGeometry(json: any, data: Uint8Array): Geometry {
	if (json.kind !== "mesh") {
		return { kind: json.kind, size: json.size };
	}
	return {
		kind: "mesh",
		size: [1, 1, 1],
		positions: new Float32Array(data.buffer, json.at, 3 * json.vertices),
		triangles: new Uint32Array(data.buffer, json.trianglesAt, 3 * json.triangles),
		ground: json.ground === true,
	};
}

export function readRecording(text: string): Recording {
	return readRecordingBytes(decode(text.trim()));
}

export function readRecordingBytes(bytes: Uint8Array): Recording {
	const { json, data } = open(bytes);
	const frameCount: number = json.frames;
	return {
		scene: json.scene,
		stepper: json.stepper,
		version: json.version,
		note: json.note,
		view: json.view,
		facts: json.facts,
		times: new Float64Array(data.buffer, json.timesAt, frameCount),
		geometries: json.geometries.map((g: any) => readGeometry(g, data)),
		actors: json.actors.map(([name, kind, color, mass, firstShape, shapeCount]: any) => (
			{ name, kind, color, mass, firstShape, shapeCount })),
		shapes: readShapes(data, json.shapesAt, json.shapes),
		looks: json.looks ?? [],
		pictures: (json.pictures ?? []).map((p: any) => new Blob([data.subarray(p.at, p.at + p.size)], { type: p.type })),
		series: json.series.map((s: any) => ({
			plot: s.plot,
			name: s.name,
			unit: s.unit,
			times: new Float64Array(data.buffer, s.at, s.count),
			values: new Float64Array(data.buffer, s.at + 8 * s.count, s.count),
		})),
		active: json.activeAt === undefined ? undefined : readMarks(data, json.activeAt, json.actors.length, frameCount),
		...readTracks(data, json.tracksAt, json.actors.length, frameCount),
	};
}
