// What the page and the engine's worker tell each other.
import type { Description, Methods, Request, SceneEntry } from "./engine";

type Point = [number, number, number];

export interface Wanted {
	contacts: boolean;
	joints: boolean;
	penetration: boolean;
	joint: number; // whose coordinate is plotted; -1: none
}

export type ToWorker =
	| { type: "start"; wasm: ArrayBuffer }
	| { type: "open"; request: Request; bytes?: Uint8Array; ghost?: string }
	| { type: "run"; on: boolean; speed: number }
	| { type: "step"; count: number } // also backwards
	| { type: "seek"; step: number }
	| { type: "wanted"; wanted: Wanted }
	| { type: "drawn" } // the last frame is on the screen: send another
	| { type: "drag"; body: number; local: Point; target: Point }
	| { type: "letGo" }
	| { type: "throw"; box: boolean; size: number; density: number; from: Point; velocity: Point }
	| { type: "push"; body: number; local: Point; impulse: Point }
	| { type: "gravity"; gravity: Point }
	| { type: "cut"; joint: number }
	| { type: "motor"; joint: number; axis: number; mode: number; target: number; maxForce: number }
	| { type: "control"; actuator: number; control: number }
	| { type: "export"; format: string }
	| { type: "recording"; name: string; bytes: Uint8Array }
	| { type: "hash" };

export interface Frame {
	type: "frame";
	opening: number; // counts the sessions: a late frame of an earlier one is not drawn
	step: number;
	oldest: number;
	latest: number;
	running: boolean;
	pace: number; // simulated over real time
	poses: Float32Array; // 7 a body
	ghost: Float32Array | null;
	contacts: Float32Array | null;
	joints: Float32Array | null;
	values: Float64Array;
}

export type FromWorker =
	| { type: "ready"; catalogue: SceneEntry[]; methods: Methods }
	| { type: "cast"; opening: number; cast: Uint8Array; description: Description }
	| Frame
	| { type: "file"; format: string; bytes: Uint8Array }
	| { type: "recording"; bytes: Uint8Array }
	| { type: "hash"; step: number; hash: string }
	| { type: "trouble"; sentence: string; fatal: boolean };
