// The page itself: a stage, time, plots and buttons over a recording, or over the engine.
import { Vector3 } from "three";
import { Controls, KEYS, LIVE_KEYS, type Switches } from "./controls";
import { Deck } from "./deck";
import { withUnit } from "./format";
import { activity } from "./graph";
import type { Placed } from "./framing";
import type { Live } from "./live";
import { Player } from "./player";
import { Plots } from "./plots";
import { Poses } from "./poses";
import type { Recording } from "./recording";
import { Stage, type View } from "./stage";
import type { Transport } from "./transport";
import { show } from "./trouble";

export const element = (id: string) => document.getElementById(id)!;

// What a hand does to the bodies of a live page; a point is in the frame of the body's centre of mass.
export interface Hand {
	grab(actor: number, point: Vector3, x: number, y: number, push: boolean): boolean; // true: the gesture is ours
	move(x: number, y: number): void;
	release(): void;
	chosen(actor: number): void;
}

const DEFAULT_VIEW: View = { azimuth: -62, elevation: 17, zoom: 1 };

// Of the address, or of the frame that shows the page within another (`knuckle compare --out`).
export function parameters(): URLSearchParams {
	return new URLSearchParams(location.hash.replace(/^#/, "") || window.frameElement?.getAttribute("data-wish") || "");
}

// The address decides, then the scene, then the default. A scene is zoomed into for the picture of a moment; where the
// camera goes with the bodies, all of them are to be seen.
function chooseView(text: string | null, recording: Recording, live: boolean): View {
	const [azimuth, elevation, own] = text ? text.split(",").map(Number) : (recording.view ?? []);
	const zoom = live && !text ? Math.min(1, own) : own;
	return {
		azimuth: Number.isFinite(azimuth) ? azimuth : DEFAULT_VIEW.azimuth,
		elevation: Number.isFinite(elevation) ? Math.min(89, Math.max(-89, elevation)) : DEFAULT_VIEW.elevation,
		zoom: zoom > 0 ? zoom : 1,
	};
}

// Of a running scene: as far back as can be gone.
function liveCurves(live: Live) {
	return {
		get series() {
			return live.series;
		},
		get span(): [number, number] {
			return [live.start, Math.max(live.end, live.start + 1)];
		},
	};
}

export class Page {
	private recorded: Poses | null = null; // of a recording
	readonly player: Transport;
	private readonly deck: Deck;
	readonly stage: Stage;
	private readonly controls: Controls;
	private readonly plots: Plots;
	private readonly switches: Switches = { follow: false, shadows: true, grid: true, plots: true, facts: false, smooth: true,
		panel: false, active: true };
	private view: View;
	private dark: boolean;
	private dirty = true;
	private moved = false; // by hand, so that a resize does not fit the view again
	private turning = false; // a hand is on the view
	private turned = false; // it was, and the address does not tell yet where the view came to rest
	private hovered = 0;
	private chosen = 0;
	private pointer: { x: number; y: number } | null = null;
	private last = 0;
	private readonly touched = new Vector3(); // the point of the body under the hand
	private readonly anchor = { x: 0, y: 0, z: 0 }; // where the followed body was last drawn

	hand: Hand | null = null;
	drawn: (() => void) | null = null; // after every picture
	onTool: ((name: keyof Switches, on: boolean) => void) | null = null;
	onRestart: (() => void) | null = null;
	onSettings: (() => void) | null = null; // view, speed or theme were changed by hand

	constructor(private recording: Recording, private readonly live: Live | null = null) {
		const wish = parameters();
		this.recorded = live ? null : new Poses(recording);
		this.player = this.deck = new Deck(live ?? new Player(recording.times, this.recorded!));
		this.stage = new Stage(element("view") as HTMLCanvasElement, recording);
		this.stage.onArrival = () => (this.dirty = true);
		this.view = chooseView(wish.get("view"), recording, live !== null);
		const theme = wish.get("theme");
		this.dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
		this.fillTexts();
		document.documentElement.classList.toggle("bare", wish.get("ui") === "0");
		this.plots = new Plots(element("plots"), live ? liveCurves(live) : { series: recording.series, span: [this.player.start, this.player.end] },
			(time) => this.controls.seek(time));
		this.controls = new Controls(this.player, this.switches, {
			changed: () => (this.dirty = true),
			fit: () => this.fit(),
			theme: () => {
				this.setTheme(!this.dark);
				this.onSettings?.();
			},
			speed: () => this.onSettings?.(),
			restart: () => this.onRestart?.(),
			set: (name, on) => this.setSwitch(name, on),
		}, recording.active !== undefined);
		this.setTheme(this.dark);
		this.listen();
		this.stage.resize();
		this.stage.look(this.view);
		this.takeEye(wish.get("eye"));
		this.controls.setSpeed(Number(wish.get("speed") ?? 1));
		this.takeSwitches(wish);
		if (live) {
			return;
		}
		if (wish.has("t")) {
			this.player.seekFrame(Number(wish.get("t")));
		}
		const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
		if (wish.get("play") === "1" || (wish.get("play") !== "0" && !wish.has("t") && !calm)) {
			this.player.play();
		}
	}

	get poses(): Placed {
		return this.recorded ?? this.live!.poses;
	}

	// Other bodies, of another scene or of the same one.
	setCast(recording: Recording, isNew: boolean, recorded = false): void {
		// the same scene over again is seen from where a hand has put the camera
		const keepView = this.moved && !recorded && this.recording.scene === recording.scene;
		this.recording = recording;
		if (this.live && this.recorded && !recorded) {
			this.recorded = null;
			this.deck.use(this.live);
		}
		this.hovered = 0;
		this.chosen = isNew ? 0 : this.chosen;
		this.stage.setCast(recording, !isNew);
		if (isNew && !keepView) {
			this.moved = false;
			this.view = chooseView(parameters().get("view"), recording, this.recorded === null);
			this.stage.look(this.view);
		}
		if (isNew) {
			this.plots.build();
		}
		this.fillTexts();
		this.dirty = true;
	}

	// A recording in place of the engine, until a scene is opened again.
	playRecording(recording: Recording): void {
		this.recorded = new Poses(recording);
		this.deck.use(new Player(recording.times, this.recorded));
		this.setCast(recording, true, true);
		this.deck.play();
	}

	look(): void {
		this.stage.look(this.view);
	}

	// px at the left of the canvas that something lies over.
	setInset(inset: number): void {
		this.stage.setInset(inset);
		if (!this.moved) {
			this.look();
		}
		this.dirty = true;
	}

	// Where a hand has put the camera: its place and the point that it looks at; null: it goes with the bodies.
	get eye(): number[] | null {
		const { camera, controls } = this.stage;
		return this.moved ? [...camera.position.toArray(), ...controls.target.toArray()] : null;
	}

	// The address tells where the camera is.
	get resting(): boolean {
		return !this.turned && !this.turning;
	}

	private takeEye(text: string | null): void {
		const numbers = (text ?? "").split(",").map(Number);
		if (text && numbers.length === 6 && numbers.every(Number.isFinite)) {
			this.stage.lookFrom(new Vector3().fromArray(numbers), new Vector3().fromArray(numbers, 3));
			this.moved = true;
		}
	}

	// What the address tells of the page itself; null: as it is without being told.
	get settings(): Record<string, string | null> {
		const system = matchMedia("(prefers-color-scheme: dark)").matches;
		return { speed: this.player.speed === 1 ? null : String(this.player.speed), theme: this.dark === system ? null : this.dark ? "dark" : "light",
			eye: this.eye?.map((x) => Number(x.toPrecision(5))).join(",") ?? null,
			follow: this.switches.follow && this.chosen > 0 ? String(this.chosen) : null };
	}

	// What is switched off that is on by itself.
	get off(): string[] {
		return (["shadows", "grid", "plots"] as const).filter((name) => !this.switches[name]);
	}

	private takeSwitches(wish: URLSearchParams): void {
		const off = (wish.get("off") ?? "").split(",");
		(["shadows", "grid", "plots"] as const).filter((name) => off.includes(name)).forEach((name) => this.setTool(name, false));
		const followed = Number(wish.get("follow"));
		if (followed > 0 && followed < this.recording.actors.length) {
			this.choose(followed);
			this.setTool("follow", true);
		}
	}

	invalidate(): void {
		this.dirty = true;
	}

	get selected(): number {
		return this.chosen;
	}

	get userMoved(): boolean {
		return this.moved;
	}

	private fillTexts(): void {
		const { scene, stepper, actors, times, facts, version, note } = this.recording;
		document.title = `${scene || "a scene"} – Knuckle`;
		element("title").querySelector("h1")!.textContent = scene || "a scene";
		const bodies = actors.length - 1;
		element("title").querySelector("p")!.textContent =
			[note, stepper, `${bodies} ${bodies === 1 ? "body" : "bodies"}`, !this.recorded ? "live" : `${times.length} frames`]
				.filter(Boolean).join(" · ");
		const panel = element("facts");
		panel.replaceChildren();
		const table = (title: string, rows: [string, string][]) => {
			const head = document.createElement("h2");
			head.textContent = title;
			const body = document.createElement("table");
			for (const row of rows) {
				const line = body.insertRow();
				row.forEach((text) => (line.insertCell().textContent = text));
			}
			panel.append(head, body);
		};
		table("This run", [...facts, ["made by", `knuckle ${version}`]]);
		table("Keys", this.live ? [...KEYS.filter(([keys]) => keys !== "M" && keys !== "A"), ...LIVE_KEYS]
			: KEYS.filter(([keys]) => keys !== "A" || this.recording.active));
	}

	private listen(): void {
		const canvas = element("view");
		this.stage.controls.addEventListener("change", () => (this.dirty = true));
		this.stage.controls.addEventListener("start", () => (this.moved = this.turned = this.turning = true));
		this.stage.controls.addEventListener("end", () => (this.turning = false));
		canvas.addEventListener("pointermove", (event) => {
			this.pointer = event.buttons === 0 ? { x: event.offsetX, y: event.offsetY } : null;
			this.dirty = true;
		});
		canvas.addEventListener("pointerleave", () => {
			this.pointer = null;
			this.dirty = true;
		});
		this.listenToHand(canvas);
		canvas.addEventListener("webglcontextlost", () =>
			show("The browser took the graphics away from this page (its memory ran out, or the driver restarted). Load the page again.", ""));
		new ResizeObserver(() => {
			this.dirty = true;
			this.plots.resize();
		}).observe(element("stage"));
		window.addEventListener("hashchange", () => location.reload());
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => this.setTheme(event.matches));
	}

	// A click chooses a body; a drag that begins on one may be the hand's, else it turns the view.
	private listenToHand(canvas: HTMLElement): void {
		let down = { x: 0, y: 0 }, held = false;
		canvas.addEventListener("pointerdown", (event) => {
			down = { x: event.clientX, y: event.clientY };
			if (!this.hand || event.button !== 0 || !event.isPrimary) {
				return;
			}
			const actor = this.stage.pick(event.offsetX, event.offsetY, this.touched);
			held = actor > 0 && this.hand.grab(actor, this.touched, event.offsetX, event.offsetY, event.shiftKey);
			if (held) {
				this.stage.controls.enabled = false;
				canvas.setPointerCapture(event.pointerId);
			}
		}, { capture: true });
		canvas.addEventListener("pointermove", (event) => {
			if (held && event.isPrimary) {
				this.hand!.move(event.offsetX, event.offsetY);
			}
		});
		const up = (event: PointerEvent) => {
			if (held && event.isPrimary) {
				held = false;
				this.stage.controls.enabled = true;
				this.hand!.release();
			}
		};
		canvas.addEventListener("pointercancel", up);
		canvas.addEventListener("pointerup", (event) => {
			up(event);
			if (Math.hypot(event.clientX - down.x, event.clientY - down.y) < 4) {
				this.choose(this.stage.pick(event.offsetX, event.offsetY));
			}
		});
	}

	private setTheme(dark: boolean): void {
		this.dark = dark;
		document.documentElement.classList.toggle("dark", dark);
		this.stage.setTheme(dark ? "dark" : "light");
		this.plots.build();
		this.dirty = true;
	}

	private setSwitch(name: keyof Switches, on: boolean): void {
		if (name === "shadows") {
			this.stage.setShadows(on);
		} else if (name === "grid") {
			this.stage.ground.root.visible = on;
		} else if (name === "plots") {
			this.plots.visible = on;
		} else if (name === "facts") {
			element("facts").hidden = !on;
		} else if (name === "follow") {
			this.hold();
		}
		this.onTool?.(name, on);
		this.onSettings?.();
	}

	setTool(name: keyof Switches, on: boolean): void {
		this.controls.flip(name, on);
	}

	// On the chosen body where there is one, else on all.
	fit(): void {
		this.moved = this.chosen > 0;
		if (this.live || this.chosen > 0) {
			this.stage.frameNow(this.poses, this.chosen);
		} else {
			this.stage.frameAll();
		}
		this.stage.look(this.view);
		this.onSettings?.();
		this.dirty = true;
	}

	choose(actor: number): void {
		this.chosen = actor;
		this.hand?.chosen(actor);
		this.hold();
		this.dirty = true;
		if (this.switches.follow) {
			this.onSettings?.();
		}
	}

	private center(): { x: number; y: number; z: number } {
		const at = 3 * this.chosen, p = this.poses.position;
		return { x: p[at], y: p[at + 1], z: p[at + 2] };
	}

	private hold(): void {
		Object.assign(this.anchor, this.center());
	}

	// The camera goes where the followed body goes.
	private follow(): void {
		if (!this.switches.follow || this.chosen === 0 || !this.poses.present[this.chosen]) {
			return;
		}
		const now = this.center();
		this.turned ||= this.moved && (now.x !== this.anchor.x || now.y !== this.anchor.y || now.z !== this.anchor.z);
		for (const point of [this.stage.camera.position, this.stage.controls.target]) {
			point.x += now.x - this.anchor.x;
			point.y += now.y - this.anchor.y;
			point.z += now.z - this.anchor.z;
		}
		Object.assign(this.anchor, now);
	}

	private hover(): void {
		const hint = element("hint");
		this.hovered = this.pointer ? this.stage.pick(this.pointer.x, this.pointer.y) : 0;
		this.stage.bodies.mark(this.hovered || this.chosen || -1);
		element("view").style.cursor = this.hovered ? "pointer" : "";
		hint.hidden = !this.pointer || this.hovered === 0;
		if (hint.hidden || !this.pointer) {
			return;
		}
		const actor = this.recording.actors[this.hovered];
		const p = this.poses.position.subarray(3 * this.hovered, 3 * this.hovered + 3);
		const name = document.createElement("b");
		name.textContent = actor.name || `body ${this.hovered}`;
		const mass = actor.kind === "dynamic" ? withUnit(actor.mass * 1000, "g") : actor.kind;
		hint.replaceChildren(name, `  ${mass}\n${Array.from(p, (x) => x.toFixed(3)).join("  ")} m`);
		const { clientWidth: width, clientHeight: height } = element("stage");
		const x = Math.min(this.pointer.x + 14, width - hint.offsetWidth - 6);
		const y = Math.min(this.pointer.y + 16, height - hint.offsetHeight - 6);
		hint.style.transform = `translate(${x}px, ${y}px)`;
	}

	private setPoses(): void {
		if (!this.recorded) {
			return;
		}
		const frame = this.recorded.frameAt(this.player.shown);
		this.stage.bodies.paint(this.switches.active ? activity(this.recording, frame) : null);
		if (this.player.playing && this.switches.smooth) {
			this.recorded.setTime(this.player.shown);
		} else {
			this.recorded.setFrame(frame);
		}
	}

	// A view swings on after the hand has let go; where it comes to rest is what the address tells.
	private tellView(swings: boolean): void {
		if (this.turned && !this.turning && !swings) {
			this.turned = false;
			this.onSettings?.();
		}
	}

	// At once what the next pictures would do bit by bit: plots for all curves, and the canvas and the view in the room they leave.
	settle(): void {
		if (!this.recorded) {
			this.plots.refresh(performance.now(), true);
		}
		this.resized();
	}

	private resized(): void {
		if (this.stage.resize()) {
			this.dirty = true;
			if (!this.moved) {
				this.stage.look(this.view);
			}
		}
	}

	draw(): void {
		this.setPoses();
		this.follow();
		this.stage.draw(this.poses, this.recorded ? null : this.live?.ghost ?? null);
		this.controls.update();
		this.plots.update(this.player.shown);
	}

	run(): void {
		const tick = (now: number) => {
			// a page in the background or a long pause must not jump
			const elapsed = Math.min(0.25, Math.max(0, (now - this.last) / 1000));
			const drewBefore = this.dirty;
			this.last = now;
			this.player.advance(elapsed);
			this.tellView(this.stage.controls.update());
			this.resized();
			if (!this.recorded) {
				this.plots.refresh(now);
			}
			if ((this.player.playing && this.recorded) || this.dirty) {
				if (drewBefore || this.player.playing) {
					this.stage.report(1000 * elapsed);
				}
				this.dirty = false;
				this.draw();
				this.hover();
				this.drawn?.();
			}
			requestAnimationFrame(tick);
		};
		this.last = performance.now();
		requestAnimationFrame(tick);
	}

	seek(time: number): void {
		this.player.playing = false;
		this.player.seekFrame(time);
		this.dirty = true;
	}

	// A picture of the canvas as a data: address; of a recording at a time, of the engine as it is.
	shoot(time: number, type: string, quality: number): string {
		this.stage.fixedQuality = true;
		if (this.recorded) {
			this.seek(time);
		}
		this.resized();
		if (this.recorded && parameters().get("fit") === "now") {
			this.stage.frameOn(this.recorded.frameAt(this.player.shown));
			this.stage.look(this.view);
		}
		this.draw();
		return (element("view") as HTMLCanvasElement).toDataURL(type, quality);
	}
}
