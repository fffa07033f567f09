// The panel of a live page: which scene with which parameters and method, what is shown, what can be touched, the bodies,
// and what can be saved. It holds no state of the simulation; it says what a hand changed.
import type { Description, Methods, Request, SceneEntry } from "./engine";
import type { Coloring } from "./graph";
import type { Recording } from "./recording";

export interface Shown {
	contacts: boolean;
	graph: boolean;
	joints: boolean;
	wireframe: boolean;
	penetration: boolean;
	coloring: Coloring;
	ghost: string; // a stepper; "": none
	plotted: number; // joint; -1: none
}

export interface PanelActions {
	open(request: Request): void;
	show(shown: Shown): void;
	throw(box: boolean): void;
	gravity(z: number): void;
	cut(joint: number): void;
	motor(joint: number, axis: number, mode: number, target: number, maxForce: number): void;
	control(actuator: number, control: number): void;
	select(actor: number): void;
	hide(hidden: Set<number>): void;
	save(format: string): void;
	drop(files: File[]): void;
}

const MOST_ROWS = 300; // of the tree of bodies
const MOST_SLIDERS = 40;
const DEEPEST = 10; // steps that a row of the tree is set in

function make<K extends keyof HTMLElementTagNameMap>(name: K, parent: HTMLElement | null, text = "",
	set: Partial<HTMLElementTagNameMap[K]> = {}): HTMLElementTagNameMap[K] {
	const element = document.createElement(name);
	element.textContent = text;
	Object.assign(element, set);
	parent?.append(element);
	return element;
}

export class Panel {
	readonly shown: Shown = { contacts: false, graph: false, joints: false, wireframe: false, penetration: true, coloring: "own", ghost: "",
		plotted: -1 };
	request: Request = { scene: "", set: {} };
	private readonly sections = new Map<string, HTMLElement>();
	private scenes: SceneEntry[] = [];
	private methods: Methods = { version: "", steppers: {}, settings: {} };
	private recording: Recording | null = null;
	private description: Description | null = null;
	private filter = "";
	private hidden = new Set<number>(); // actors
	private started = false;

	// `served`: by `knuckle view`, which compiles models.
	constructor(root: HTMLElement, private readonly actions: PanelActions, private readonly served: boolean) {
		for (const [name, open] of [["Scene", true], ["Method", false], ["Touch", true], ["Show", true], ["Joints", false],
			["Bodies", false], ["Save", false]] as [string, boolean][]) {
			const details = make("details", root, "", { open });
			make("summary", details, name);
			this.sections.set(name, make("div", details));
		}
		this.fillTouch();
		this.fillSave();
	}

	private section(name: string): HTMLElement {
		const section = this.sections.get(name)!;
		section.replaceChildren();
		return section;
	}

	private row(parent: HTMLElement, label: string, title = ""): HTMLElement {
		const row = make("label", parent, "", { title });
		make("span", row, label);
		return row;
	}

	// Of the first scene.
	hide(actors: number[]): void {
		this.hidden = new Set(actors);
	}

	get hiddenActors(): number[] {
		return [...this.hidden];
	}

	setCatalogue(scenes: SceneEntry[], methods: Methods): void {
		this.scenes = scenes;
		this.methods = methods;
	}

	// What runs now.
	setRunning(request: Request, description: Description, recording: Recording): void {
		this.request = request;
		this.description = description;
		this.recording = recording;
		// those that the address names are of the scene that it names
		this.hidden = this.started ? new Set() : this.hidden;
		this.started = true;
		this.fillScene();
		this.fillMethod();
		this.setGravity(description.gravity[2]);
		this.fillShow();
		this.fillJoints(0);
		this.fillBodies();
		if (this.hidden.size > 0) {
			this.actions.hide(this.hidden);
		}
	}

	// Bodies came or went; the rest stays.
	setBodies(description: Description, recording: Recording): void {
		this.description = description;
		this.recording = recording;
		this.fillBodies();
		this.actions.hide(this.hidden);
	}

	private entry(): SceneEntry | undefined {
		return this.scenes.find((scene) => scene.name === this.request.scene);
	}

	// --- scene and its parameters ---

	private fillScene(): void {
		const section = this.section("Scene");
		const entry = this.entry();
		const choice = make("select", section, "", { id: "scene", ariaLabel: "scene" });
		if (!entry) {
			choice.add(new Option(this.request.scene, "", true, true));
		}
		for (const { name } of this.scenes) {
			choice.add(new Option(name, name, false, name === this.request.scene));
		}
		choice.addEventListener("change", () => this.actions.open({ scene: choice.value, set: {} }));
		const gallery = make("button", section, "pictures", { type: "button", id: "pictures" });
		gallery.addEventListener("click", () => this.showGallery());
		make("p", section, entry ? `${entry.summary} (${entry.source})` : this.description?.scene ?? "");
		if (entry) {
			this.fillParameters(section, entry);
		}
		make("p", section, this.served
			? "Drop a model (MJCF .xml, .urdf; with meshes: its folder), a compiled scene (.kns) or a recording (.knt) on the page, or choose files:"
			: "Drop a recording (.knt) or a compiled scene (.kns) on the page; models (.xml, .urdf) need 'knuckle view'.",
			{ className: "note" });
		const file = make("input", section, "", { type: "file", multiple: true, ariaLabel: "files" });
		file.addEventListener("change", () => file.files && file.files.length > 0 && this.actions.drop([...file.files]));
	}

	private fillParameters(section: HTMLElement, entry: SceneEntry): void {
		const form = make("form", section, "", { id: "parameters" });
		const fields: [string, HTMLInputElement | HTMLSelectElement, string][] = [];
		const add = (name: string, help: string, standard: string, choices?: string[]) => {
			const row = this.row(form, name, help);
			const value = this.request.set[name] ?? standard;
			const field = choices ? make("select", row) : make("input", row, "", { value, placeholder: standard });
			choices?.forEach((word) => (field as HTMLSelectElement).add(new Option(word, word, false, word === value)));
			field.addEventListener("change", () => form.requestSubmit());
			fields.push([name, field, standard]);
		};
		for (const p of entry.parameters) {
			add(p.name, p.help, p.choices ? p.choices[p.default] : String(p.default), p.choices);
		}
		add("gravity", "x,y,z in m/s², instead of the scene's", "");
		add("friction", "of every shape, instead of the scene's", "");
		add("restitution", "of every shape, instead of the scene's", "");
		add("seed", "of scenes with random parts", "1");
		add("small", "1: fewer bodies", "0", ["0", "1"]);
		form.addEventListener("submit", (event) => {
			event.preventDefault();
			const set = { ...this.request.set };
			for (const [name, field, standard] of fields) {
				delete set[name];
				if (field.value.trim() !== "" && field.value !== standard) {
					set[name] = field.value.trim();
				}
			}
			this.actions.open({ ...this.request, set });
		});
	}

	private showGallery(): void {
		const dialog = make("dialog", document.body, "", { id: "gallery" });
		const head = make("header", dialog);
		make("h2", head, "Scenes");
		make("button", head, "close", { type: "button" }).addEventListener("click", () => dialog.close());
		const grid = make("div", dialog);
		for (const scene of this.scenes) {
			const card = make("button", grid, "", { type: "button", title: scene.summary });
			const picture = make("img", card, "", { src: `pictures/${scene.name}.jpg`, alt: "", loading: "lazy" });
			picture.addEventListener("error", () => picture.remove());
			make("b", card, scene.name);
			make("span", card, scene.summary);
			card.addEventListener("click", () => {
				dialog.close();
				this.actions.open({ scene: scene.name, set: {} });
			});
		}
		dialog.addEventListener("close", () => dialog.remove());
		dialog.showModal();
	}

	// --- method ---

	private fillMethod(): void {
		const section = this.section("Method");
		const stepper = make("select", this.row(section, "stepper"), "", { id: "stepper" });
		for (const [name, help] of Object.entries(this.methods.steppers)) {
			stepper.add(new Option(name, name, false, name === this.description?.stepper));
			stepper.options[stepper.length - 1].title = help;
		}
		stepper.addEventListener("change", () => this.actions.open({ ...this.request, stepper: stepper.value }));
		make("p", section, this.methods.steppers[this.description?.stepper ?? ""] ?? "", { className: "note" });
		const dt = make("input", this.row(section, "dt, s"), "", { id: "dt", value: String(this.description?.dt ?? "") });
		dt.addEventListener("change", () => this.actions.open({ ...this.request, dt: dt.value.trim() || undefined }));
		const more = make("details", section);
		make("summary", more, "settings");
		for (const [name, help] of Object.entries(this.methods.settings)) {
			const field = make("input", this.row(more, name, help), "", { value: this.request.set[name] ?? "", placeholder: "own choice" });
			field.addEventListener("change", () => {
				const set = { ...this.request.set };
				delete set[name];
				if (field.value.trim() !== "") {
					set[name] = field.value.trim();
				}
				this.actions.open({ ...this.request, set });
			});
		}
	}

	// --- touch ---

	private fillTouch(): void {
		const section = this.section("Touch");
		make("p", section, "Drag a body to pull it, with Shift to push it.", { className: "note" });
		const buttons = make("div", section, "", { className: "buttons" });
		make("button", buttons, "throw a ball", { type: "button", id: "ball" }).addEventListener("click", () => this.actions.throw(false));
		make("button", buttons, "throw a box", { type: "button", id: "box" }).addEventListener("click", () => this.actions.throw(true));
		const row = this.row(section, "gravity");
		const slider = make("input", row, "", { type: "range", id: "gravity", min: "-20", max: "10", step: "0.01", value: "-9.81" });
		const value = make("output", row, "-9.81");
		slider.addEventListener("input", () => {
			value.textContent = Number(slider.value).toFixed(2);
			this.actions.gravity(Number(slider.value));
		});
	}

	// Where the slider stands when a scene begins.
	private setGravity(z: number): void {
		const slider = document.getElementById("gravity") as HTMLInputElement;
		slider.min = String(Math.min(-20, z));
		slider.max = String(Math.max(10, z));
		slider.value = String(z);
		(slider.nextElementSibling as HTMLOutputElement).textContent = z.toFixed(2);
	}

	// --- show ---

	private fillShow(): void {
		const section = this.section("Show");
		const check = (name: "contacts" | "graph" | "joints" | "wireframe" | "penetration", label: string) => {
			const box = make("input", this.row(section, label), "", { type: "checkbox", checked: this.shown[name], id: `show-${name}` });
			box.addEventListener("change", () => {
				this.shown[name] = box.checked;
				this.actions.show(this.shown);
			});
		};
		check("contacts", "contact points, normals, forces");
		check("graph", "contact graph");
		check("joints", "joint frames, gaps × 100");
		check("wireframe", "wireframe");
		check("penetration", "measure penetration");
		const colors = make("select", this.row(section, "colours"), "", { id: "coloring" });
		for (const [name, label] of [["own", "the bodies' own"], ["islands", "islands"], ["layers", "stack layers"],
			["contacts", "number of contacts"], ["joints", "active joints (adaptive): rigid pieces"]]) {
			colors.add(new Option(label, name, false, name === this.shown.coloring));
		}
		colors.addEventListener("change", () => {
			this.shown.coloring = colors.value as Coloring;
			this.actions.show(this.shown);
		});
		const ghost = make("select", this.row(section, "ghost under"), "", { id: "ghost" });
		ghost.add(new Option("none", "", false, this.shown.ghost === ""));
		for (const name of Object.keys(this.methods.steppers)) {
			ghost.add(new Option(name, name, false, this.shown.ghost === name));
		}
		ghost.addEventListener("change", () => {
			this.shown.ghost = ghost.value;
			this.actions.open(this.request);
		});
	}

	// --- joints: those of a body, or those with motors ---

	fillJoints(actor: number): void {
		const section = this.section("Joints");
		const joints = this.description?.joints ?? [];
		const chosen = joints.map((joint, j) => ({ joint, j })).filter(({ joint }) => actor > 0
			? joint.parent === actor || joint.child === actor : joint.axes.some((axis) => axis.mode !== 0));
		make("p", section, actor > 0 ? `Joints of ${this.recording?.actors[actor].name}`
			: chosen.length > 0 || this.description!.actuators.length > 0 ? "Actuators and motors; click a body for its own joints." : "Click a body for its joints.", { className: "note" });
		(actor > 0 ? [] : this.description?.actuators ?? []).slice(0, MOST_SLIDERS).forEach((actuator, i) => {
			this.slider(section, actuator.name, actuator.lower, actuator.upper, actuator.control, (value) => this.actions.control(i, value));
		});
		for (const { joint, j } of chosen.slice(0, MOST_SLIDERS)) {
			const head = make("div", section, "", { className: "buttons" });
			make("b", head, joint.name);
			make("span", head, joint.kind);
			make("button", head, "cut", { type: "button" }).addEventListener("click", () => this.actions.cut(j));
			make("button", head, "plot", { type: "button" }).addEventListener("click", () => {
				this.shown.plotted = j;
				this.actions.show(this.shown);
			});
			joint.axes.forEach((axis, a) => {
				if (axis.mode !== 0) {
					this.addSlider(section, j, a);
				}
			});
		}
	}

	private slider(section: HTMLElement, label: string, low: number, high: number, value: number, moved: (value: number) => void): void {
		const row = this.row(section, label, label);
		const slider = make("input", row, "", { type: "range", min: String(low), max: String(high), step: "any", value: String(value) });
		const shown = make("output", row, value.toFixed(2));
		slider.addEventListener("input", () => {
			shown.textContent = Number(slider.value).toFixed(2);
			moved(Number(slider.value));
		});
	}

	private addSlider(section: HTMLElement, j: number, a: number): void {
		const axis = this.description!.joints[j].axes[a];
		const reach = axis.mode === 3 ? Math.max(axis.maxForce, 1) : axis.mode === 1 ? Math.max(10, 2 * Math.abs(axis.target)) : Math.PI;
		const [low, high] = axis.mode === 2 && axis.limited ? [axis.lower, axis.upper] : [-reach, reach];
		this.slider(section, ["", "speed", "position", "force"][axis.mode], low, high, axis.target,
			(value) => this.actions.motor(j, a, axis.mode, value, axis.maxForce));
	}

	// --- bodies: under each those that joints hang on it ---

	// Actors in the order of the tree with their depth, and how many follow below each.
	private tree(): { actor: number; depth: number; below: number }[] {
		const children = (this.recording?.actors ?? []).map((): number[] => []);
		const parents = children.map(() => 0);
		for (const { parent, child } of this.description?.joints ?? []) {
			// the first joint counts, and none that would close a loop
			let up = parent;
			while (up > 0 && up !== child) {
				up = parents[up];
			}
			if (child > 0 && parents[child] === 0 && up === 0) {
				parents[child] = parent;
			}
		}
		parents.forEach((parent, a) => a > 0 && children[parent].push(a));
		const rows: { actor: number; depth: number; below: number }[] = [];
		const open: [number, number][] = (children[0] ?? []).map((a): [number, number] => [a, 0]).reverse();
		while (open.length > 0) {
			const [actor, depth] = open.pop()!;
			rows.push({ actor, depth, below: 0 });
			open.push(...children[actor].map((a): [number, number] => [a, depth + 1]).reverse());
		}
		for (let i = rows.length - 1, last: number[] = []; i >= 0; --i) {
			const { depth } = rows[i];
			rows[i].below = (last[depth + 1] ?? 0);
			last[depth] = (last[depth] ?? 0) + 1 + rows[i].below;
			last.length = depth + 1;
		}
		return rows;
	}

	private fillBodies(): void {
		const section = this.section("Bodies");
		const search = make("input", section, "", { type: "search", placeholder: "filter by name", value: this.filter });
		const list = make("div", section, "", { className: "tree" });
		const fill = () => {
			list.replaceChildren();
			const name = (a: number) => this.recording!.actors[a].name || `body ${a}`;
			const tree = this.tree();
			const found = tree.map((row, i) => ({ ...row, i })).filter(({ actor }) => name(actor).includes(this.filter));
			for (const { actor, depth, below, i } of found.slice(0, MOST_ROWS)) {
				const row = make("div", list);
				row.style.paddingLeft = `${12 * Math.min(depth, DEEPEST)}px`;
				const box = make("input", row, "", { type: "checkbox", checked: !this.hidden.has(actor),
					title: below > 0 ? `shown, with the ${below} below it` : "shown" });
				box.addEventListener("change", () => {
					for (const { actor: a } of tree.slice(i, i + 1 + below)) {
						box.checked ? this.hidden.delete(a) : this.hidden.add(a);
					}
					this.actions.hide(this.hidden);
					fill();
				});
				make("button", row, name(actor), { type: "button" }).addEventListener("click", () => this.actions.select(actor));
			}
			if (found.length > MOST_ROWS) {
				make("p", list, `and ${found.length - MOST_ROWS} more`, { className: "note" });
			}
		};
		search.addEventListener("input", () => {
			this.filter = search.value;
			fill();
		});
		fill();
	}

	// --- save ---

	private fillSave(): void {
		const section = this.section("Save");
		const buttons = make("div", section, "", { className: "buttons" });
		for (const [format, label] of [["png", "picture"], ["webm", "film (WebM)"], ["plots", "plots (CSV)"], ["plots.png", "plots (PNG)"],
			["glb", ".glb of what happened"], ["csv", ".csv"], ["knt", ".knt"], ["link", "link to this"]]) {
			make("button", buttons, label, { type: "button", id: `save-${format.replace(".", "-")}` })
				.addEventListener("click", () => this.actions.save(format));
		}
	}
}
