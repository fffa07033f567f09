// The engine (apps/web/engine/wasm_api.c) with types: sessions that step, go back and are touched. Runs in a worker, and
// under Node in tests. Whatever the engine refuses becomes an EngineError with its sentence.
import { NOT_THERE, Wasi } from "./wasi";

export class EngineError extends Error {}

export interface Parameter {
	name: string;
	default: number;
	lower: number;
	upper: number;
	integer: boolean;
	choices?: string[];
	help: string;
}

export interface SceneEntry {
	name: string;
	summary: string;
	source: string;
	bodies: number;
	joints: number;
	steppers: string[];
	dt: number;
	time: number;
	twins: boolean;
	parameters: Parameter[];
}

export interface Methods {
	version: string;
	steppers: Record<string, string>; // name: help
	settings: Record<string, string>;
}

// What to simulate; absent values are the scene's own.
export interface Request {
	scene: string;
	stepper?: string;
	dt?: string;
	set: Record<string, string>;
}

export interface Axis {
	mode: number; // knMotorMode: off, velocity, position, force
	target: number;
	maxForce: number;
	limited: boolean;
	lower: number;
	upper: number;
}

export interface Joint {
	name: string;
	kind: string;
	parent: number; // actors
	child: number;
	axes: Axis[];
}

export interface Actuator {
	name: string;
	control: number;
	lower: number;
	upper: number;
}

export interface Description {
	scene: string;
	stepper: string;
	dt: number;
	bodies: number;
	gravity: [number, number, number];
	joints: Joint[];
	actuators: Actuator[];
}

export const CONTACT = 11; // numbers a contact: point, normal, force, the two actors
export const JOINT = 16; // numbers a joint: two frames, enabled, moves
// as in session.h
export const VALUES = ["time", "kinetic", "potential", "momentum", "angularMomentum", "jointGap", "jointAngle", "penetration",
	"contacts", "collideMs", "solveMs", "stepMs", "merit", "sweeps", "active", "coordinate"] as const;

type Point = [number, number, number];
type Exports = Record<string, (...words: number[]) => number> & { memory: WebAssembly.Memory };

export class Engine {
	private constructor(private readonly c: Exports, private readonly wasi: Wasi) {}

	static async start(bytes: BufferSource): Promise<Engine> {
		const wasi = new Wasi();
		const module = await WebAssembly.compile(bytes);
		const imports: Record<string, (...words: any[]) => number> = { ...wasi.imports };
		// what the C library could call and the engine has no use for, such as links between files, is not there
		for (const { name } of WebAssembly.Module.imports(module)) {
			imports[name] ??= () => NOT_THERE;
		}
		const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: imports });
		const c = instance.exports as unknown as Exports;
		wasi.memory = c.memory;
		c._initialize();
		return new Engine(c, wasi);
	}

	private text(at: number): string {
		const bytes = new Uint8Array(this.c.memory.buffer);
		return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
	}

	// Runs with a copy of the bytes in the engine's memory.
	private lend<T>(bytes: Uint8Array, use: (at: number) => T): T {
		const at = this.c.kn_alloc(bytes.length + 1);
		if (at === 0) {
			throw new EngineError("out of memory");
		}
		const memory = new Uint8Array(this.c.memory.buffer);
		memory.set(bytes, at);
		memory[at + bytes.length] = 0;
		try {
			return use(at);
		} finally {
			this.c.kn_free(at);
		}
	}

	private check(status: number): void {
		if (status !== 0) {
			throw new EngineError(this.text(this.c.kn_message()));
		}
	}

	private block(): Uint8Array {
		const at = this.c.kn_block();
		return new Uint8Array(this.c.memory.buffer).slice(at, at + this.c.kn_block_size());
	}

	private floats(at: number, count: number): Float32Array {
		return new Float32Array(this.c.memory.buffer, at, count).slice();
	}

	get catalogue(): SceneEntry[] {
		return JSON.parse(this.text(this.c.kn_catalogue()));
	}

	get methods(): Methods {
		return JSON.parse(this.text(this.c.kn_methods()));
	}

	// A session; `bytes`: of a compiled scene, instead of the catalogue's.
	open(request: Request, bytes?: Uint8Array): number {
		const lines = [`source ${request.scene}`];
		if (request.stepper) {
			lines.push(`stepper ${request.stepper}`);
		}
		if (request.dt) {
			lines.push(`dt ${request.dt}`);
		}
		for (const [name, value] of Object.entries(request.set)) {
			lines.push(`set ${name}=${value}`);
		}
		const text = new TextEncoder().encode(lines.join("\n"));
		const session = this.lend(text, (at) => bytes
			? this.lend(bytes, (data) => this.c.kn_open_bytes(data, bytes.length, at)) : this.c.kn_open(at));
		this.check(session === 0 ? 1 : 0);
		return session;
	}

	close(session: number): void {
		this.c.kn_close(session);
	}

	advance(session: number): void {
		this.check(this.c.kn_advance(session));
	}

	seek(session: number, step: number): void {
		this.check(this.c.kn_seek(session, step));
	}

	step(session: number): number {
		return this.c.kn_step(session);
	}

	oldest(session: number): number {
		return this.c.kn_oldest(session);
	}

	latest(session: number): number {
		return this.c.kn_latest(session);
	}

	hash(session: number): string {
		return this.text(this.c.kn_hash(session));
	}

	model(session: number): number {
		return this.c.kn_model(session);
	}

	cast(session: number): Uint8Array {
		this.check(this.c.kn_cast(session));
		return this.block();
	}

	describe(session: number): Description {
		return JSON.parse(this.text(this.c.kn_describe(session)));
	}

	poses(session: number): Float32Array {
		const count = this.c.kn_bodies(session);
		return this.floats(this.c.kn_poses(session), 7 * count);
	}

	contacts(session: number): Float32Array {
		const count = this.c.kn_contact_count(session);
		return this.floats(this.c.kn_contacts(session), CONTACT * count);
	}

	joints(session: number, count: number): Float32Array {
		return this.floats(this.c.kn_joints(session), JOINT * count);
	}

	values(session: number, penetration: boolean, joint: number): Float64Array {
		const at = this.c.kn_values(session, penetration ? 1 : 0, joint);
		return new Float64Array(this.c.memory.buffer, at, VALUES.length).slice();
	}

	drag(session: number, body: number, local: Point, target: Point): void {
		this.c.kn_drag(session, body, ...local, ...target);
	}

	letGo(session: number): void {
		this.c.kn_let_go(session);
	}

	throw(session: number, box: boolean, size: number, density: number, from: Point, velocity: Point): void {
		this.check(this.c.kn_throw(session, box ? 1 : 0, size, density, ...from, ...velocity));
	}

	push(session: number, body: number, local: Point, impulse: Point): void {
		this.check(this.c.kn_push(session, body, ...local, ...impulse));
	}

	gravity(session: number, gravity: Point): void {
		this.check(this.c.kn_gravity(session, ...gravity));
	}

	cut(session: number, joint: number): void {
		this.check(this.c.kn_cut(session, joint));
	}

	motor(session: number, joint: number, axis: number, mode: number, target: number, maxForce: number): void {
		this.check(this.c.kn_motor(session, joint, axis, mode, target, maxForce));
	}

	control(session: number, actuator: number, control: number): void {
		this.check(this.c.kn_control(session, actuator, control));
	}

	// What a session remembers as a file: glb, csv or knt.
	export(session: number, format: string): Uint8Array {
		const name = `run.${format}`;
		this.check(this.lend(new TextEncoder().encode("/" + name), (at) => this.c.kn_export(session, at)));
		const bytes = this.wasi.take(name);
		if (!bytes) {
			throw new EngineError(`the engine wrote no ${name}`);
		}
		return bytes;
	}

	// A .knt as the page reads recordings.
	recording(name: string, bytes: Uint8Array): Uint8Array {
		this.wasi.put(name, bytes);
		try {
			this.check(this.lend(new TextEncoder().encode(name), (at) => this.c.kn_recording(at)));
		} finally {
			this.wasi.take(name);
		}
		return this.block();
	}
}
