// The engine seen from the page: a worker that is asked and answers. It is time (Transport), poses to draw, and curves to
// plot; what happens is told to a listener.
import type { Description, Methods, Request, SceneEntry } from "./engine";
import { VALUES } from "./engine";
import type { Placed } from "./framing";
import type { Frame, FromWorker, ToWorker, Wanted } from "./protocol";
import { readRecordingBytes, type Recording, type Series } from "./recording";
import type { Transport } from "./transport";

export class LivePoses implements Placed {
	readonly position: Float32Array;
	readonly rotation: Float32Array;
	readonly present: Uint8Array;

	constructor(readonly count: number) {
		this.position = new Float32Array(3 * count);
		this.rotation = new Float32Array(4 * count);
		this.present = new Uint8Array(count).fill(1);
		this.rotation[3] = 1;
	}

	set(poses: Float32Array): void {
		const bodies = Math.min(this.count - 1, poses.length / 7);
		this.present.fill(0, 1 + bodies);
		for (let b = 0; b < bodies; ++b) {
			this.position.set(poses.subarray(7 * b, 7 * b + 3), 3 * b + 3);
			this.rotation.set(poses.subarray(7 * b + 3, 7 * b + 7), 4 * b + 4);
		}
	}
}

// A curve that grows.
interface Curve {
	plot: string;
	name: string;
	unit: string;
	of: (v: Record<(typeof VALUES)[number], number>) => number;
}

const CURVES: Curve[] = [
	{ plot: "energy", name: "kinetic", unit: "J", of: (v) => v.kinetic },
	{ plot: "energy", name: "potential", unit: "J", of: (v) => v.potential },
	{ plot: "energy", name: "all", unit: "J", of: (v) => v.kinetic + v.potential },
	{ plot: "momentum", name: "linear", unit: "N s", of: (v) => v.momentum },
	{ plot: "angular momentum", name: "about the centre", unit: "N m s", of: (v) => v.angularMomentum },
	{ plot: "joint gap", name: "worst", unit: "m", of: (v) => v.jointGap },
	{ plot: "penetration", name: "worst", unit: "m", of: (v) => v.penetration },
	{ plot: "contacts", name: "points", unit: "", of: (v) => v.contacts },
	{ plot: "time of a step", name: "collide", unit: "s", of: (v) => v.collideMs / 1000 },
	{ plot: "time of a step", name: "solve", unit: "s", of: (v) => v.solveMs / 1000 },
	{ plot: "time of a step", name: "all", unit: "s", of: (v) => v.stepMs / 1000 },
	{ plot: "merit", name: "theta", unit: "", of: (v) => v.merit },
	{ plot: "joints that move", name: "active", unit: "", of: (v) => v.active },
	{ plot: "joint", name: "coordinate", unit: "", of: (v) => v.coordinate },
];
const MOST_POINTS = 4000;

export interface Listener {
	ready(catalogue: SceneEntry[], methods: Methods): void;
	cast(recording: Recording, description: Description, isNew: boolean): void;
	frame(): void;
	file(format: string, bytes: Uint8Array): void;
	recording(recording: Recording): void;
	trouble(sentence: string, fatal: boolean): void;
}

export class Live implements Transport {
	readonly live = true;
	loop = false;
	poses = new LivePoses(1);
	ghost: LivePoses | null = null;
	contacts: Float32Array | null = null;
	joints: Float32Array | null = null;
	description: Description | null = null;
	pace = 0;
	opening = 0;
	series: Series[] = [];
	private readonly worker: Worker;
	private points: { times: number[]; values: number[] }[] = [];
	private step_ = 0;
	private oldest = 0;
	private latest = 0;
	private running = false;
	private plotted = -1; // joint
	private pace_ = 1;
	private seeking = false; // an answer is on its way
	private wish: number | null = null; // the step to go to next
	private hashes: ((answer: { step: number; hash: string }) => void)[] = [];

	constructor(wasm: ArrayBuffer, script: string, private readonly listener: Listener) {
		const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
		this.worker = new Worker(address);
		this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.take(data);
		this.worker.onerror = (event) => listener.trouble(`The engine stopped: ${event.message}`, true);
		this.send({ type: "start", wasm }, [wasm]);
	}

	send(message: ToWorker, transfer: Transferable[] = []): void {
		this.worker.postMessage(message, transfer);
	}

	open(request: Request, bytes?: Uint8Array, ghost?: string): void {
		this.running = false;
		this.seeking = false;
		this.wish = null;
		this.send({ type: "open", request, bytes, ghost });
	}

	want(wanted: Wanted): void {
		this.send({ type: "wanted", wanted });
		if (wanted.joint !== this.plotted) {
			this.plotted = wanted.joint;
			this.restartJoint();
		}
	}

	hash(): Promise<{ step: number; hash: string }> {
		return new Promise((done) => {
			this.hashes.push(done);
			this.send({ type: "hash" });
		});
	}

	// --- what the worker says ---

	private take(message: FromWorker): void {
		switch (message.type) {
			case "ready":
				return this.listener.ready(message.catalogue, message.methods);
			case "cast":
				return this.takeCast(message.cast, message.description, message.opening);
			case "frame":
				return this.takeFrame(message);
			case "file":
				return this.listener.file(message.format, message.bytes);
			case "recording":
				return this.listener.recording(readRecordingBytes(message.bytes));
			case "hash":
				this.hashes.shift()?.(message);
				return;
			case "trouble":
				this.seeking = false;
				this.listener.trouble(message.sentence, message.fatal);
		}
	}

	private takeCast(cast: Uint8Array, description: Description, opening: number): void {
		const isNew = opening !== this.opening;
		const recording = readRecordingBytes(cast);
		this.opening = opening;
		this.description = description;
		this.poses = new LivePoses(recording.actors.length);
		this.ghost = null;
		if (isNew) {
			this.clearCurves();
			this.step_ = this.oldest = this.latest = 0;
			this.running = false;
		}
		this.listener.cast(recording, description, isNew);
	}

	private takeFrame(frame: Frame): void {
		if (frame.opening !== this.opening) {
			return;
		}
		this.poses.set(frame.poses);
		if (frame.ghost) {
			this.ghost = this.ghost ?? new LivePoses(this.poses.count);
			this.ghost.set(frame.ghost);
		} else {
			this.ghost = null;
		}
		this.contacts = frame.contacts;
		this.joints = frame.joints;
		this.step_ = frame.step;
		this.oldest = frame.oldest;
		this.latest = frame.latest;
		this.pace = frame.pace;
		this.addToCurves(frame.values);
		this.seeking = false;
		if (this.wish !== null) {
			this.goTo(this.wish);
		}
		this.listener.frame();
	}

	// After a frame is on the screen: the next one may come.
	drawn(): void {
		this.send({ type: "drawn" });
	}

	// --- curves ---

	private clearCurves(): void {
		this.points = CURVES.map(() => ({ times: [], values: [] }));
		this.series = CURVES.map(({ plot, name, unit }, i) => ({ plot, name, unit, ...this.points[i] }));
		this.restartJoint();
	}

	// Its curve begins again for another joint, under that one's name.
	private restartJoint(): void {
		const i = CURVES.findIndex(({ plot }) => plot === "joint");
		if (this.series.length === 0) {
			return;
		}
		this.points[i] = { times: [], values: [] };
		const joint = this.description?.joints[this.plotted];
		const unit = !joint || joint.kind === "custom" ? "" : /^(slider|cylinder|planar|free)/.test(joint.kind) ? "m" : "rad";
		this.series[i] = { plot: joint ? `joint ${joint.name}` : "joint", name: "coordinate", unit, ...this.points[i] };
	}

	private addToCurves(numbers: Float64Array): void {
		const v = Object.fromEntries(VALUES.map((name, i) => [name, numbers[i]])) as Record<(typeof VALUES)[number], number>;
		const horizon = (this.latest + 0.5) * this.dt;
		CURVES.forEach((curve, i) => {
			const { times, values } = this.points[i];
			// an edit in the past has made what came later undone
			while (times.length > 0 && times[times.length - 1] > horizon) {
				times.pop();
				values.pop();
			}
			const value = curve.of(v);
			if (Number.isFinite(value) && (times.length === 0 || v.time > times[times.length - 1])) {
				times.push(v.time);
				values.push(value);
			}
			if (times.length > MOST_POINTS) {
				times.splice(0, MOST_POINTS / 4);
				values.splice(0, MOST_POINTS / 4);
			}
		});
	}

	// --- time ---

	get dt(): number {
		return this.description?.dt ?? 0.01;
	}

	get stepNumber(): number {
		return this.step_;
	}

	get latestStep(): number {
		return this.latest;
	}

	get shown(): number {
		return this.step_ * this.dt;
	}

	get start(): number {
		return this.oldest * this.dt;
	}

	get end(): number {
		return this.latest * this.dt;
	}

	get playing(): boolean {
		return this.running;
	}

	set playing(on: boolean) {
		if (on !== this.running) {
			this.running = on;
			this.send({ type: "run", on, speed: this.pace_ });
		}
	}

	get speed(): number {
		return this.pace_;
	}

	set speed(speed: number) {
		this.pace_ = speed;
		if (this.running) {
			this.send({ type: "run", on: true, speed });
		}
	}

	// The worker stopped by itself.
	stopped(): void {
		this.running = false;
	}

	seekFrame(time: number): void {
		this.goTo(Math.round(time / this.dt));
	}

	// One at a time: while an answer is on its way only the last wish counts.
	private goTo(step: number): void {
		this.running = false;
		if (this.seeking) {
			this.wish = step;
			return;
		}
		this.wish = null;
		if (step !== this.step_) {
			this.seeking = true;
			this.send({ type: "seek", step });
		}
	}

	step(count: number): void {
		this.running = false;
		this.send({ type: "step", count });
	}

	play(): void {
		this.playing = true;
	}

	pause(): void {
		this.playing = false;
	}

	advance(): void {
		// the worker keeps its own time
	}
}
