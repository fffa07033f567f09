// The replay page: reads the recording in it, draws it, plays it. Whatever goes wrong is said on the page.
//
// The address may set things, for pictures and links: #t=1.5&play=0&ui=0&speed=0.5&view=AZIMUTH,ELEVATION[,ZOOM]&theme=dark;
// fit=now frames each picture for itself.
// window.knuckle is the same for programs: `knuckle render` and the browser tests use it.
import { Controls, KEYS, type Switches } from "./controls";
import { withUnit } from "./format";
import { Player } from "./player";
import { Plots } from "./plots";
import { Poses } from "./poses";
import { readRecording, RecordingError, type Recording } from "./recording";
import { Stage, type View } from "./stage";

interface Api {
	ready: Promise<void>; // fails with the sentence that the page shows
	frames: number;
	start: number;
	end: number;
	time(): number;
	playing(): boolean;
	play(): void;
	pause(): void;
	seek(time: number): void; // pauses, at the nearest frame
	shoot(time: number, type: string, quality?: number): string; // a picture of the canvas as a data: address
}

declare global {
	interface Window {
		knuckle: Api;
	}
}

const element = (id: string) => document.getElementById(id)!;

// --- trouble -------------------------------------------------------------------------------------------------------

function show(sentence: string, detail: string): void {
	const box = element("trouble");
	if (!box.hidden) {
		return; // the first cause counts
	}
	box.hidden = false;
	box.querySelector("p")!.textContent = sentence;
	box.querySelector("pre")!.textContent = detail;
}

function showError(error: unknown): void {
	if (error instanceof RecordingError) {
		show(error.message, "");
	} else {
		const text = error instanceof Error ? `${error.message}\n${error.stack ?? ""}` : String(error);
		show("Something in this page failed. The recording may still be sound: try another browser, or make the page again.", text);
	}
}

function hasWebGL(): boolean {
	const canvas = document.createElement("canvas");
	return canvas.getContext("webgl2") !== null;
}

// --- the page ------------------------------------------------------------------------------------------------------

const DEFAULT_VIEW: View = { azimuth: -62, elevation: 17, zoom: 1 };

function parameters(): URLSearchParams {
	return new URLSearchParams(location.hash.replace(/^#/, ""));
}

function parseView(text: string | null): View {
	const [azimuth, elevation, zoom] = (text ?? "").split(",").map(Number);
	return {
		azimuth: Number.isFinite(azimuth) && text ? azimuth : DEFAULT_VIEW.azimuth,
		elevation: Number.isFinite(elevation) ? Math.min(89, Math.max(-89, elevation)) : DEFAULT_VIEW.elevation,
		zoom: zoom > 0 ? zoom : 1,
	};
}

class Page {
	private readonly poses: Poses;
	readonly player: Player;
	readonly stage: Stage;
	private readonly controls: Controls;
	private readonly plots: Plots;
	private readonly switches: Switches = { follow: false, shadows: true, grid: true, plots: true, facts: false, smooth: true };
	private view: View;
	private dark: boolean;
	private dirty = true;
	private moved = false; // by hand, so that a resize does not fit the view again
	private hovered = 0;
	private chosen = 0;
	private pointer: { x: number; y: number } | null = null;
	private last = 0;
	private readonly anchor = { x: 0, y: 0, z: 0 }; // where the followed body was last drawn

	constructor(private readonly recording: Recording) {
		const wish = parameters();
		this.poses = new Poses(recording);
		this.player = new Player(recording.times, this.poses);
		this.stage = new Stage(element("view") as HTMLCanvasElement, recording);
		this.view = parseView(wish.get("view"));
		const theme = wish.get("theme");
		this.dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
		this.fillTexts();
		document.documentElement.classList.toggle("bare", wish.get("ui") === "0");
		this.plots = new Plots(element("plots"), recording, (time) => this.controls.seek(time));
		this.controls = new Controls(this.player, this.switches, {
			changed: () => (this.dirty = true),
			fit: () => this.fit(),
			theme: () => this.setTheme(!this.dark),
			set: (name, on) => this.setSwitch(name, on),
		});
		this.setTheme(this.dark);
		this.listen();
		this.stage.resize();
		this.stage.look(this.view);
		this.player.seek(Number(wish.get("t") ?? this.player.start));
		this.controls.setSpeed(Number(wish.get("speed") ?? 1));
		const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
		if (wish.get("play") === "1" || (wish.get("play") !== "0" && !wish.has("t") && !calm)) {
			this.player.play();
		}
	}

	private fillTexts(): void {
		const { scene, stepper, actors, times, facts, version, note } = this.recording;
		document.title = `${scene || "a scene"} – Knuckle`;
		element("title").querySelector("h1")!.textContent = scene || "a scene";
		const bodies = actors.length - 1;
		element("title").querySelector("p")!.textContent =
			[note, stepper, `${bodies} ${bodies === 1 ? "body" : "bodies"}`, `${times.length} frames`].filter(Boolean).join(" · ");
		const panel = element("facts");
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
		table("Keys", KEYS);
	}

	private listen(): void {
		const canvas = element("view");
		this.stage.controls.addEventListener("change", () => (this.dirty = true));
		this.stage.controls.addEventListener("start", () => (this.moved = true));
		canvas.addEventListener("pointermove", (event) => {
			this.pointer = event.buttons === 0 ? { x: event.offsetX, y: event.offsetY } : null;
			this.dirty = true;
		});
		canvas.addEventListener("pointerleave", () => {
			this.pointer = null;
			this.dirty = true;
		});
		let down = { x: 0, y: 0 };
		canvas.addEventListener("pointerdown", (event) => (down = { x: event.clientX, y: event.clientY }));
		canvas.addEventListener("pointerup", (event) => {
			if (Math.hypot(event.clientX - down.x, event.clientY - down.y) < 4) {
				this.choose(this.stage.pick(event.offsetX, event.offsetY));
			}
		});
		canvas.addEventListener("webglcontextlost", () =>
			show("The browser took the graphics away from this page (its memory ran out, or the driver restarted). Load the page again.", ""));
		new ResizeObserver(() => {
			this.dirty = true;
			this.plots.resize();
		}).observe(element("stage"));
		window.addEventListener("hashchange", () => location.reload());
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => this.setTheme(event.matches));
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
			element("plots").hidden = !on || this.plots.empty;
		} else if (name === "facts") {
			element("facts").hidden = !on;
		} else if (name === "follow") {
			this.hold();
		}
	}

	private fit(): void {
		this.moved = false;
		this.stage.look(this.view);
		this.dirty = true;
	}

	private choose(actor: number): void {
		this.chosen = actor;
		this.hold();
		this.dirty = true;
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
		if (this.player.playing && this.switches.smooth) {
			this.poses.setTime(this.player.shown);
		} else {
			this.poses.setFrame(this.player.frame);
		}
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
		this.stage.draw(this.poses);
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
			this.stage.controls.update();
			this.resized();
			if (this.player.playing || this.dirty) {
				if (drewBefore || this.player.playing) {
					this.stage.report(1000 * elapsed);
				}
				this.dirty = false;
				this.draw();
				this.hover();
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

	shoot(time: number, type: string, quality: number): string {
		this.stage.fixedQuality = true;
		this.seek(time);
		this.resized();
		if (parameters().get("fit") === "now") {
			this.stage.frameOn(this.player.frame);
			this.stage.look(this.view);
		}
		this.draw();
		return (element("view") as HTMLCanvasElement).toDataURL(type, quality);
	}
}

function start(): void {
	if (!hasWebGL()) {
		throw new RecordingError("This browser shows no 3D graphics: WebGL 2 is missing or switched off. "
			+ "Switch on hardware acceleration or WebGL in its settings, update it, or try another browser.");
	}
	const recording = readRecording(element("recording").textContent ?? "");
	if (recording.times.length === 0) {
		throw new RecordingError("The recording in this page holds no frame: there is nothing to play.");
	}
	const page = new Page(recording);
	page.draw();
	page.run();
	Object.assign(window.knuckle, {
		frames: recording.times.length,
		start: page.player.start,
		end: page.player.end,
		time: () => page.player.shown,
		playing: () => page.player.playing,
		play: () => page.player.play(),
		pause: () => page.seek(page.player.shown),
		seek: (time: number) => page.seek(time),
		shoot: (time: number, type: string, quality = 0.94) => page.shoot(time, type, quality),
	});
}

window.addEventListener("error", (event) => showError(event.error ?? event.message));
window.addEventListener("unhandledrejection", (event) => showError(event.reason));
window.knuckle = {} as Api;
window.knuckle.ready = new Promise((done, fail) => {
	document.addEventListener("DOMContentLoaded", () => {
		try {
			start();
			done();
		} catch (error) {
			showError(error);
			fail(error);
		}
	});
});
// the page has said it; programs that wait see it too
window.knuckle.ready.catch(() => undefined);
