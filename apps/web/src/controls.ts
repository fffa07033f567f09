// Buttons, slider, keys: everything that a hand touches outside the scene itself.
import { icon } from "./icons";
import type { Transport } from "./transport";

export interface Switches {
	follow: boolean;
	shadows: boolean;
	grid: boolean;
	plots: boolean;
	facts: boolean;
	smooth: boolean;
	panel: boolean;
	active: boolean;
}

export interface Actions {
	changed(): void; // something needs drawing
	fit(): void;
	theme(): void;
	speed(): void; // was changed by hand
	restart(): void;
	set(name: keyof Switches, on: boolean): void;
}

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

export const KEYS: [string, string][] = [
	["Space", "play, pause"],
	["← →", "one frame; with Shift ten"],
	["Home End", "to the start, to the end"],
	["+ −", "faster, slower"],
	["F", "fit the view"],
	["C", "follow the body last clicked"],
	["S G P", "shadows, grid, plots"],
	["M", "smooth between frames"],
	["T", "light or dark"],
	["A", "active joints in colour (adaptive)"],
	["I", "this panel"],
	["drag, wheel", "orbit, zoom; right button moves"],
];
export const LIVE_KEYS: [string, string][] = [
	["drag a body", "pull it; with Shift push it"],
	["B V", "throw a ball, a box"],
	["R", "restart"],
	["O", "scenes and settings"],
];

export class Controls {
	private readonly play: HTMLButtonElement;
	private readonly scrub: HTMLInputElement;
	private readonly clock: HTMLElement;
	private readonly speed: HTMLSelectElement;
	private readonly loop: HTMLButtonElement;
	private readonly toggles = new Map<keyof Switches, HTMLButtonElement>();

	// `marked`: the recording tells which joints are active.
	constructor(private readonly player: Transport, private readonly switches: Switches, private readonly actions: Actions,
		private readonly marked = false) {
		const bar = document.getElementById("transport")!;
		this.button(bar, "start", "to the start (Home)", () => this.seek(player.start)).classList.add("wide");
		this.button(bar, "back", "one frame back (←)", () => this.step(-1));
		this.play = this.button(bar, "play", "play or pause (Space)", () => this.toggle());
		this.play.id = "play";
		this.button(bar, "forward", "one frame on (→)", () => this.step(1));
		this.scrub = this.makeScrub(bar);
		this.clock = document.createElement("div");
		this.clock.id = "clock";
		bar.append(this.clock);
		this.speed = this.makeSpeed(bar);
		this.loop = player.live ? this.button(bar, "restart", "restart (R)", () => actions.restart())
			: this.button(bar, "loop", "begin again at the end", () => this.setLoop(!player.loop));
		if (!player.live) {
			this.loop.classList.add("wide");
			this.setLoop(player.loop);
		}
		const tools = document.getElementById("tools")!;
		if (player.live) {
			this.switchButton(tools, "panel", "panel", "scenes and settings (O)");
		}
		this.button(tools, "fit", "fit the view (F)", () => actions.fit());
		this.switchButton(tools, "follow", "follow", "follow the body last clicked (C)");
		this.switchButton(tools, "shadows", "shadow", "shadows (S)");
		this.switchButton(tools, "grid", "grid", "ground grid (G)");
		this.switchButton(tools, "plots", "plots", "plots (P)");
		if (marked) {
			this.switchButton(tools, "active", "active", "active joints in colour (A)");
		}
		this.button(tools, "theme", "light or dark (T)", () => actions.theme());
		this.switchButton(tools, "facts", "info", "about this run, and keys (I)");
		window.addEventListener("keydown", (event) => this.key(event));
	}

	private button(parent: HTMLElement, drawing: string, title: string, act: () => void): HTMLButtonElement {
		const button = document.createElement("button");
		button.type = "button";
		button.title = title;
		button.setAttribute("aria-label", title);
		button.innerHTML = icon(drawing);
		button.addEventListener("click", act);
		parent.append(button);
		return button;
	}

	private switchButton(parent: HTMLElement, name: keyof Switches, drawing: string, title: string): void {
		const button = this.button(parent, drawing, title, () => this.flip(name));
		button.setAttribute("aria-pressed", String(this.switches[name]));
		this.toggles.set(name, button);
	}

	private makeScrub(parent: HTMLElement): HTMLInputElement {
		const scrub = document.createElement("input");
		scrub.type = "range";
		scrub.id = "scrub";
		scrub.min = String(this.player.start);
		scrub.max = String(this.player.end);
		scrub.step = "any";
		scrub.setAttribute("aria-label", "time");
		scrub.addEventListener("input", () => this.seek(Number(scrub.value)));
		parent.append(scrub);
		return scrub;
	}

	private makeSpeed(parent: HTMLElement): HTMLSelectElement {
		const select = document.createElement("select");
		select.id = "speed";
		select.title = "speed (+ and -)";
		select.setAttribute("aria-label", "speed");
		for (const speed of SPEEDS) {
			select.add(new Option(`${speed}×`, String(speed), speed === 1, speed === 1));
		}
		select.addEventListener("change", () => {
			this.player.speed = Number(select.value);
			this.actions.speed();
			select.blur();
		});
		parent.append(select);
		return select;
	}

	setSpeed(speed: number): void {
		const nearest = SPEEDS.reduce((a, b) => (Math.abs(b - speed) < Math.abs(a - speed) ? b : a));
		this.player.speed = nearest;
		this.speed.value = String(nearest);
	}

	private setLoop(on: boolean): void {
		this.player.loop = on;
		this.loop.setAttribute("aria-pressed", String(on));
	}

	toggle(): void {
		if (this.player.playing) {
			this.player.pause();
		} else {
			this.player.play();
		}
		this.actions.changed();
	}

	step(frames: number): void {
		this.player.step(frames);
		this.actions.changed();
	}

	// A hand on the slider or a plot holds time still there.
	seek(time: number): void {
		this.player.playing = false;
		this.player.seekFrame(time);
		this.actions.changed();
	}

	flip(name: keyof Switches, on = !this.switches[name]): void {
		this.switches[name] = on;
		this.toggles.get(name)?.setAttribute("aria-pressed", String(on));
		this.actions.set(name, on);
		this.actions.changed();
	}

	private faster(by: number): void {
		const at = SPEEDS.indexOf(this.player.speed) + by;
		this.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, at))]);
		this.actions.speed();
	}

	private key(event: KeyboardEvent): void {
		const typing = (event.target as HTMLElement).closest("#panel input, #panel select, #panel textarea") !== null;
		if (event.ctrlKey || event.metaKey || event.altKey || typing) {
			return;
		}
		const stride = event.shiftKey ? 10 : 1;
		const acts: Record<string, () => void> = {
			" ": () => this.toggle(),
			k: () => this.toggle(),
			arrowleft: () => this.step(-stride),
			arrowright: () => this.step(stride),
			home: () => this.seek(this.player.start),
			end: () => this.seek(this.player.end),
			"+": () => this.faster(1),
			"=": () => this.faster(1),
			"-": () => this.faster(-1),
			f: () => this.actions.fit(),
			c: () => this.flip("follow"),
			s: () => this.flip("shadows"),
			g: () => this.flip("grid"),
			p: () => this.flip("plots"),
			m: () => this.flip("smooth"),
			i: () => this.flip("facts"),
			"?": () => this.flip("facts"),
			t: () => this.actions.theme(),
			...(this.marked ? { a: () => this.flip("active") } : {}),
			...(this.player.live ? { o: () => this.flip("panel"), r: () => this.actions.restart() } : {}),
		};
		const act = acts[event.key.toLowerCase()];
		if (act) {
			event.preventDefault();
			act();
		}
	}

	update(): void {
		const { player } = this;
		const label = player.playing ? "pause" : "play";
		if (this.play.dataset.drawing !== label) {
			this.play.dataset.drawing = label;
			this.play.innerHTML = icon(label);
			this.play.setAttribute("aria-pressed", String(player.playing));
		}
		const share = player.end > player.start ? (player.shown - player.start) / (player.end - player.start) : 0;
		if (player.live) {
			this.scrub.min = String(player.start);
			this.scrub.max = String(Math.max(player.end, player.start + 1e-9));
		}
		this.scrub.value = String(player.shown);
		this.scrub.style.setProperty("--done", `${(100 * share).toFixed(2)}%`);
		this.clock.innerHTML = `${player.shown.toFixed(3)} <span>/ ${player.end.toFixed(2)} s</span>`;
	}
}
