// The worker in which the engine runs. While the scene runs it steps so that simulated time follows real time (times the
// speed), and sends a frame whenever the page has drawn the one before; what the page asks for comes between two batches
// of steps. A scene that is too slow for real time runs at its own pace.
import { Engine, EngineError, type Request } from "./engine";
import type { Frame, FromWorker, ToWorker, Wanted } from "./protocol";

const BATCH = 24; // ms of stepping between two looks at what the page asks for
const LAG = 0.25; // s that simulated time may stay behind before it stops trying to catch up
const DEEP = 250; // ms between measures of penetration, which cost a collision query of their own

const post = (message: FromWorker, transfer: Transferable[] = []) =>
	(self as unknown as { postMessage(m: unknown, t: Transferable[]): void }).postMessage(message, transfer);

class Runner {
	private session = 0;
	private ghost = 0;
	private dt = 0.01;
	private opening = 0;
	private jointCount = 0;
	private model = 0;
	private running = false;
	private speed = 1;
	private realStart = 0; // ms; when simulated time was simStart
	private simStart = 0; // steps
	private waiting = false; // for the page to draw
	private changed = false; // something to show since the last frame
	private ticking = false;
	private deepAt = 0;
	private pace = 0;
	private paceStart = 0;
	private paceStep = 0;
	private wanted: Wanted = { contacts: false, joints: false, penetration: false, joint: -1 };
	private readonly channel = new MessageChannel();

	constructor(private readonly engine: Engine) {
		this.channel.port1.onmessage = () => this.tick();
	}

	open(request: Request, bytes?: Uint8Array, ghost?: string): void {
		this.running = false;
		for (const old of [this.session, this.ghost]) {
			if (old) {
				this.engine.close(old);
			}
		}
		this.session = this.ghost = 0;
		this.session = this.engine.open(request, bytes);
		this.opening += 1;
		this.model = 0;
		this.waiting = false;
		this.sendCast();
		if (ghost) {
			this.ghost = this.engine.open({ ...request, stepper: ghost }, bytes);
		}
		this.changed = true;
		this.sendFrame();
	}

	private sendCast(): void {
		const description = this.engine.describe(this.session);
		const cast = this.engine.cast(this.session);
		this.dt = description.dt;
		this.jointCount = description.joints.length;
		this.model = this.engine.model(this.session);
		post({ type: "cast", opening: this.opening, cast, description }, [cast.buffer]);
	}

	run(on: boolean, speed: number): void {
		this.running = on && this.session !== 0;
		this.speed = speed;
		this.restartClock();
		this.changed = true;
		this.schedule();
	}

	private restartClock(): void {
		this.realStart = this.paceStart = performance.now();
		this.simStart = this.paceStep = this.session ? this.engine.step(this.session) : 0;
	}

	private schedule(): void {
		if (!this.ticking) {
			this.ticking = true;
			this.channel.port2.postMessage(0);
		}
	}

	private advance(): void {
		this.engine.advance(this.session);
		if (this.ghost && this.engine.step(this.ghost) < this.engine.step(this.session)) {
			this.engine.advance(this.ghost);
		}
		this.changed = true;
	}

	// Steps until simulated time has caught up with real time, or the batch is over.
	private catchUp(): boolean {
		const start = performance.now();
		for (;;) {
			const now = performance.now();
			const due = this.simStart + (this.speed * (now - this.realStart)) / 1000 / this.dt;
			const behind = (due - this.engine.step(this.session)) * this.dt;
			if (behind < this.dt) {
				return false;
			}
			if (behind > LAG) {
				this.realStart = now;
				this.simStart = this.engine.step(this.session) - 1;
			}
			this.advance();
			if (performance.now() - start > BATCH) {
				return true;
			}
		}
	}

	private tick(): void {
		this.ticking = false;
		try {
			if (this.running) {
				this.catchUp();
				this.updatePace();
			}
			this.sendFrame();
		} catch (error) {
			this.fail(error);
		}
		if (this.running) {
			// when there is nothing to do for a while, sleep rather than spin
			this.ticking = true;
			setTimeout(() => this.channel.port2.postMessage(0), this.waiting ? 4 : 0);
		}
	}

	private updatePace(): void {
		const elapsed = performance.now() - this.paceStart;
		if (elapsed > 500) {
			const step = this.engine.step(this.session);
			this.pace = ((step - this.paceStep) * this.dt * 1000) / elapsed;
			this.paceStart += elapsed;
			this.paceStep = step;
		}
	}

	fail(error: unknown): void {
		this.running = false;
		this.changed = this.session !== 0;
		post({ type: "trouble", sentence: error instanceof Error ? error.message : String(error),
			fatal: !(error instanceof EngineError) });
		if (this.session !== 0) {
			this.sendFrame();
		}
	}

	private sendFrame(): void {
		if (this.waiting || !this.changed || !this.session) {
			return;
		}
		const { engine, session, wanted } = this;
		if (engine.model(session) !== this.model) {
			this.sendCast();
		}
		const deep = wanted.penetration && (!this.running || performance.now() - this.deepAt > DEEP);
		if (deep) {
			this.deepAt = performance.now();
		}
		const frame: Frame = {
			type: "frame",
			opening: this.opening,
			step: engine.step(session),
			oldest: engine.oldest(session),
			latest: engine.latest(session),
			running: this.running,
			pace: this.pace,
			poses: engine.poses(session),
			ghost: this.ghost ? engine.poses(this.ghost) : null,
			contacts: wanted.contacts ? engine.contacts(session) : null,
			joints: wanted.joints ? engine.joints(session, this.jointCount) : null,
			values: engine.values(session, deep, wanted.joint),
		};
		this.changed = false;
		this.waiting = true;
		const parts = [frame.poses, frame.ghost, frame.contacts, frame.joints, frame.values];
		post(frame, parts.flatMap((part) => (part ? [part.buffer as ArrayBuffer] : [])));
	}

	private goTo(step: number): void {
		this.engine.seek(this.session, step);
		if (this.ghost) {
			this.engine.seek(this.ghost, this.engine.step(this.session));
		}
		this.restartClock();
	}

	private stepBy(count: number): void {
		this.running = false;
		if (count < 0) {
			this.goTo(this.engine.step(this.session) + count);
		}
		for (let i = 0; i < count; ++i) {
			this.advance();
		}
	}

	private edit(message: ToWorker): void {
		const { engine } = this;
		for (const session of this.ghost ? [this.session, this.ghost] : [this.session]) {
			switch (message.type) {
				case "drag":
					engine.drag(session, message.body, message.local, message.target);
					break;
				case "letGo":
					engine.letGo(session);
					break;
				case "throw":
					engine.throw(session, message.box, message.size, message.density, message.from, message.velocity);
					break;
				case "push":
					engine.push(session, message.body, message.local, message.impulse);
					break;
				case "gravity":
					engine.gravity(session, message.gravity);
					break;
				case "cut":
					engine.cut(session, message.joint);
					break;
				case "control":
					engine.control(session, message.actuator, message.control);
					break;
				case "motor":
					engine.motor(session, message.joint, message.axis, message.mode, message.target, message.maxForce);
					break;
			}
		}
	}

	take(message: ToWorker): void {
		const { engine } = this;
		switch (message.type) {
			case "open":
				return this.open(message.request, message.bytes, message.ghost);
			case "recording": {
				const bytes = engine.recording(message.name, message.bytes);
				return post({ type: "recording", bytes }, [bytes.buffer]);
			}
			case "hash":
				return post({ type: "hash", step: this.session ? engine.step(this.session) : -1,
					hash: this.session ? engine.hash(this.session) : "" });
			case "drawn":
				this.waiting = false;
				return this.running ? this.schedule() : this.sendFrame();
			case "wanted":
				this.wanted = message.wanted;
				break;
		}
		if (!this.session) {
			return;
		}
		switch (message.type) {
			case "run":
				return this.run(message.on, message.speed);
			case "step":
				this.stepBy(message.count);
				break;
			case "seek":
				this.running = false;
				this.goTo(message.step);
				break;
			case "export": {
				const bytes = engine.export(this.session, message.format);
				post({ type: "file", format: message.format, bytes }, [bytes.buffer]);
				break;
			}
			default:
				this.edit(message);
		}
		this.changed = true;
		this.sendFrame();
	}
}

let runner: Runner | null = null;

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
	try {
		if (data.type === "start") {
			const engine = await Engine.start(data.wasm);
			runner = new Runner(engine);
			post({ type: "ready", catalogue: engine.catalogue, methods: engine.methods });
		} else {
			runner?.take(data);
		}
	} catch (error) {
		if (runner) {
			runner.fail(error);
		} else {
			post({ type: "trouble", sentence: String(error), fatal: true });
		}
	}
};
