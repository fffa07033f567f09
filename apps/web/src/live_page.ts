// A live page: the engine in its worker, the panel, the hand, and the address that tells all settings.
//
//   #scene=tower&stepper=impulse&dt=0.01&set.layers=16&play=0&show=contacts,joints&color=islands&ghost=velocity&speed=0.5
//   &off=shadows,grid,plots,penetration&hide=3,4&follow=2&theme=dark&view=AZIMUTH,ELEVATION[,ZOOM]   or, where a hand has put the camera, &eye=its place and the point it looks at
//   #file=scene&served=1     a compiled scene from `knuckle view`, which also compiles models that are dropped
import * as THREE from "three";
import { allChosen, allDropped, kindOf, modelOf, packed, type Dropped } from "./dropped";
import type { Description, Request } from "./engine";
import { coloring, type Coloring } from "./graph";
import { Live } from "./live";
import { Page, element, parameters, type Hand } from "./page";
import { Panel, type Shown } from "./panel";
import type { Recording } from "./recording";
import { download, filmOf, plotsPicture, seriesTable } from "./save";

const FIRST_SCENE = "tower";
const MOST_HIDDEN = 200; // bodies that the address names

// What programs may ask of a live page (window.knuckle).
export interface LiveApi {
	live: true;
	open(request: Request): Promise<void>; // done with its first frame on the screen
	step(count: number): Promise<void>;
	back(): Promise<void>;
	goTo(step: number): Promise<void>;
	hash(): Promise<{ step: number; hash: string }>;
	stepNumber(): number;
	latest(): number;
	position(actor: number): number[];
	pose(actor: number): number[]; // position, rotation
	screen(actor: number): { x: number; y: number }; // of its centre, on the canvas as it is once the plots stand
	eye(): number[] | null; // the camera's place and the point it looks at, where a hand has put it
	resting(): boolean; // the view does not swing, and the address tells it
	holds(): number; // the actor that the hand pulls; 0: none
	ghost(actor: number): number[]; // position; empty without a ghost
	actors(): string[];
	arrows(): number; // of contact forces
	normals(): number; // of contacts
	edges(): number; // of the contact graph
	scenes(): string[];
	steppers(): string[];
	described(): Description | null;
	pace(): number;
}

async function unpack(text: string): Promise<ArrayBuffer> {
	const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
	if (typeof DecompressionStream === "undefined") {
		throw new Error("This browser is too old for the engine: it lacks DecompressionStream. Update it, or try another.");
	}
	return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

export class LivePage {
	private live!: Live;
	private page: Page | null = null;
	private panel: Panel;
	private request: Request;
	private bytes: Uint8Array | undefined; // of a compiled scene
	private recording: Recording | null = null;
	private autoplay: boolean;
	private film: { stop(): Promise<Blob> } | null = null;
	private readonly served: boolean;

	constructor(private readonly fatal: (sentence: string, detail: string) => void) {
		const wish = parameters();
		this.served = wish.get("served") === "1";
		this.request = { scene: wish.get("scene") ?? wish.get("name") ?? FIRST_SCENE, stepper: wish.get("stepper") ?? undefined,
			dt: wish.get("dt") ?? undefined, set: {} };
		for (const [name, value] of wish) {
			if (name.startsWith("set.")) {
				this.request.set[name.slice(4)] = value;
			}
		}
		this.autoplay = wish.get("play") !== "0" && !matchMedia("(prefers-reduced-motion: reduce)").matches;
		this.panel = new Panel(element("panel"), {
			open: (request) => this.open(request, request.scene === this.request.scene ? this.bytes : undefined),
			show: (shown) => this.show(shown),
			throw: (box) => this.throw(box),
			gravity: (z) => this.live.send({ type: "gravity", gravity: [0, 0, z] }),
			cut: (joint) => this.live.send({ type: "cut", joint }),
			motor: (joint, axis, mode, target, maxForce) => this.live.send({ type: "motor", joint, axis, mode, target, maxForce }),
			control: (actuator, control) => this.live.send({ type: "control", actuator, control }),
			select: (actor) => this.page?.choose(actor),
			hide: (hidden) => this.hide(hidden),
			save: (format) => void this.save(format),
			drop: (files) => void allChosen(files).then((all) => this.drop(all)),
		}, this.served);
		const shown = (wish.get("show") ?? "").split(",");
		this.panel.shown.contacts = shown.includes("contacts");
		this.panel.shown.graph = shown.includes("graph");
		this.panel.shown.joints = shown.includes("joints");
		this.panel.shown.wireframe = shown.includes("wireframe");
		this.panel.shown.penetration = !(wish.get("off") ?? "").split(",").includes("penetration");
		this.panel.hide((wish.get("hide") ?? "").split(",").filter(Boolean).map(Number));
		this.panel.shown.coloring = (wish.get("color") as Coloring | null) ?? "own";
		this.panel.shown.ghost = wish.get("ghost") ?? "";
		this.panel.shown.plotted = wish.has("joint") ? Number(wish.get("joint")) : -1;
		element("title").querySelector("h1")!.textContent = this.request.scene;
		element("title").querySelector("p")!.textContent = "starting the engine";
	}

	async start(engine: string, script: string): Promise<void> {
		const file = parameters().get("file");
		const [wasm, bytes] = await Promise.all([unpack(engine), file ? this.fetchScene(file) : undefined]);
		this.bytes = bytes;
		await new Promise<void>((done, fail) => {
			this.live = new Live(wasm, script, {
				ready: (catalogue, methods) => {
					this.panel.setCatalogue(catalogue, methods);
					this.catalogue = catalogue.map(({ name }) => name);
					this.steppers = Object.keys(methods.steppers);
					this.open(this.request, this.bytes);
				},
				cast: (recording, description, isNew) => {
					this.setCast(recording, description, isNew);
					done();
				},
				frame: () => this.frame(),
				file: (format, content) => download(`${this.request.scene}.${format}`, new Blob([content as BlobPart])),
				recording: (recording) => this.page?.playRecording(recording),
				trouble: (sentence, fatal) => {
					this.live.stopped();
					if (fatal || !this.page) {
						fail(new Error(sentence));
						this.fatal(`The engine cannot run this: ${sentence}`, "");
					} else {
						this.notice(sentence);
					}
				},
			});
		});
		window.addEventListener("dragover", (event) => event.preventDefault());
		window.addEventListener("drop", (event) => {
			event.preventDefault();
			if (event.dataTransfer && event.dataTransfer.files.length > 0) {
				void allDropped(event.dataTransfer).then((all) => this.drop(all));
			}
		});
		window.addEventListener("keydown", (event) => this.key(event));
	}

	private catalogue: string[] = [];
	private steppers: string[] = [];

	private async fetchScene(name: string): Promise<Uint8Array> {
		const answer = await fetch(name);
		if (!answer.ok) {
			throw new Error(`the scene could not be fetched: ${await answer.text()}`);
		}
		return new Uint8Array(await answer.arrayBuffer());
	}

	private notice(sentence: string): void {
		const box = element("notice");
		box.querySelector("span")!.textContent = sentence;
		box.hidden = false;
		box.querySelector("button")!.onclick = () => (box.hidden = true);
	}

	// --- scenes ---

	private open(request: Request, bytes?: Uint8Array): void {
		element("notice").hidden = true;
		if (request.scene !== this.request.scene) {
			// these were of the scene before
			this.panel.shown.plotted = -1;
			this.forget("view");
		}
		this.request = request;
		this.bytes = bytes;
		this.want();
		this.live.open(request, bytes?.slice(), this.panel.shown.ghost || undefined);
		this.writeAddress();
	}

	private setCast(recording: Recording, description: Description, isNew: boolean): void {
		this.recording = recording;
		if (!this.page) {
			this.page = new Page(recording, this.live);
			this.page.hand = this.makeHand();
			this.page.drawn = () => this.wasDrawn();
			this.page.onTool = (name, on) => {
				if (name === "panel") {
					element("panel").hidden = !on;
					const { offsetLeft, offsetWidth } = element("panel");
					// on a narrow screen it lies over the scene for a moment only
					this.page!.setInset(on && innerWidth > 700 ? offsetLeft + offsetWidth : 0);
				}
			};
			this.page.onRestart = () => this.open(this.request, this.bytes);
			this.page.onSettings = () => this.writeAddress();
			this.page.setTool("panel", innerWidth > 900 && parameters().get("ui") !== "0");
			this.page.run();
		} else {
			this.page.setCast(recording, isNew);
		}
		if (isNew) {
			this.panel.setRunning(this.request, description, recording);
		} else {
			this.panel.setBodies(description, recording);
		}
		this.page.stage.bodies.setWireframe(this.panel.shown.wireframe);
		this.page.stage.setGhost(this.panel.shown.ghost !== "");
		if (isNew) {
			this.writeAddress();
		}
		if (isNew && this.autoplay) {
			this.live.play();
		}
	}

	private forget(word: string): void {
		const wish = parameters();
		wish.delete(word);
		history.replaceState(null, "", "#" + wish.toString());
	}

	private writeAddress(): void {
		if (!this.page) {
			return; // which has to read it first
		}
		const wish = parameters();
		const old = [...wish.keys()].filter((name) => name.startsWith("set.") || ["scene", "stepper", "dt", "show", "off", "color", "ghost", "joint", "hide"].includes(name));
		old.forEach((name) => wish.delete(name));
		const { shown } = this.panel;
		const set = (name: string, value: string | undefined) => value && wish.set(name, value);
		if (!this.bytes) {
			wish.set("scene", this.request.scene);
		}
		set("stepper", this.request.stepper);
		set("dt", this.request.dt);
		for (const [name, value] of Object.entries(this.request.set)) {
			wish.set(`set.${name}`, value);
		}
		set("show", (["contacts", "graph", "joints", "wireframe"] as const).filter((name) => shown[name]).join(","));
		set("off", [...this.page.off, ...(shown.penetration ? [] : ["penetration"])].join(","));
		set("hide", this.panel.hiddenActors.slice(0, MOST_HIDDEN).join(","));
		set("color", shown.coloring === "own" ? "" : shown.coloring);
		set("ghost", shown.ghost);
		set("joint", shown.plotted < 0 ? "" : String(shown.plotted));
		for (const [name, value] of Object.entries(this.page.settings)) {
			value === null ? wish.delete(name) : wish.set(name, value);
		}
		history.replaceState(null, "", "#" + wish.toString().replace(/%2C/g, ","));
	}

	// --- frames ---

	private want(): void {
		const { shown } = this.panel;
		const colored = shown.coloring !== "own";
		this.live.want({ contacts: shown.contacts || shown.graph || colored, joints: shown.joints || colored, penetration: shown.penetration, joint: shown.plotted });
	}

	private show(shown: Shown): void {
		this.want();
		this.page?.stage.bodies.setWireframe(shown.wireframe);
		this.writeAddress();
	}

	private frame(): void {
		const { page, live } = this;
		if (!page || !this.recording) {
			return;
		}
		const { shown } = this.panel;
		if (!page.userMoved) {
			page.stage.easeTo(live.poses, live.playing ? 0.06 : 1);
			page.look();
		}
		const size = page.stage.action.getSize(new THREE.Vector3()).length();
		page.stage.overlays.setContacts(shown.contacts ? live.contacts : null, size);
		page.stage.overlays.setGraph(shown.graph ? live.contacts : null, live.poses.position,
			(actor) => this.recording!.actors[actor].kind !== "dynamic");
		page.stage.overlays.setJoints(shown.joints ? live.joints : null, size);
		page.stage.overlays.setActive(shown.coloring === "joints" ? live.joints : null);
		page.stage.bodies.paint(coloring(shown.coloring, this.recording, live.contacts, live.description?.joints ?? [], live.joints));
		element("stats").hidden = !live.playing || live.pace === 0;
		element("stats").textContent = `${live.pace.toFixed(2)} × real time`;
		this.showHand();
		page.invalidate();
	}

	// The picture is on the screen: the worker may send another.
	private wasDrawn(): void {
		this.live.drawn();
	}

	// --- the hand ---

	private held: { actor: number; local: THREE.Vector3; plane: THREE.Plane; target: THREE.Vector3 } | null = null;

	private toLocal(actor: number, point: THREE.Vector3): THREE.Vector3 {
		const { position, rotation } = this.live.poses;
		const turn = new THREE.Quaternion().fromArray(rotation, 4 * actor).invert();
		return point.clone().sub(new THREE.Vector3().fromArray(position, 3 * actor)).applyQuaternion(turn);
	}

	private makeHand(): Hand {
		return {
			grab: (actor, point, _x, _y, push) => {
				if (this.recording!.actors[actor].kind !== "dynamic") {
					return false;
				}
				const local = this.toLocal(actor, point);
				const { camera } = this.page!.stage;
				const forward = camera.getWorldDirection(new THREE.Vector3());
				if (push) {
					const size = this.page!.stage.action.getSize(new THREE.Vector3()).length();
					const impulse = forward.clone().multiplyScalar(this.recording!.actors[actor].mass * Math.max(1, size));
					this.live.send({ type: "push", body: actor - 1, local: local.toArray(), impulse: impulse.toArray() });
					return true;
				}
				this.held = { actor, local, plane: new THREE.Plane().setFromNormalAndCoplanarPoint(forward, point), target: point.clone() };
				this.pull();
				return true;
			},
			move: (x, y) => {
				if (this.held && this.page!.stage.ray(x, y).ray.intersectPlane(this.held.plane, this.held.target)) {
					this.pull();
				}
			},
			release: () => {
				if (this.held) {
					this.held = null;
					this.live.send({ type: "letGo" });
					this.showHand();
				}
			},
			chosen: (actor) => this.panel.fillJoints(actor),
		};
	}

	private pull(): void {
		const { actor, local, target } = this.held!;
		this.live.send({ type: "drag", body: actor - 1, local: local.toArray(), target: target.toArray() });
		this.showHand();
	}

	private showHand(): void {
		const { overlays } = this.page!.stage;
		if (!this.held) {
			overlays.setHand(null, null);
			return;
		}
		const { position, rotation } = this.live.poses;
		const at = this.held.local.clone().applyQuaternion(new THREE.Quaternion().fromArray(rotation, 4 * this.held.actor))
			.add(new THREE.Vector3().fromArray(position, 3 * this.held.actor));
		overlays.setHand(at, this.held.target);
		this.page!.invalidate();
	}

	// From beside the action, along the line of sight.
	private throw(box: boolean): void {
		const { stage } = this.page!;
		const size = stage.action.getSize(new THREE.Vector3()).length();
		const middle = stage.action.getCenter(new THREE.Vector3());
		const forward = middle.clone().sub(stage.camera.position).normalize();
		const from = middle.clone().addScaledVector(forward, -Math.min(0.9 * size, stage.camera.position.distanceTo(middle)));
		const velocity = forward.multiplyScalar(Math.sqrt(10 * size) * 2);
		this.live.send({ type: "throw", box, size: 0.035 * size, density: 3000, from: from.toArray(), velocity: velocity.toArray() });
	}

	private hide(hidden: Set<number>): void {
		const { bodies, ghost } = this.page!.stage;
		for (const shown of ghost ? [bodies, ghost] : [bodies]) {
			shown.hidden = hidden;
		}
		this.writeAddress();
		this.page!.invalidate();
	}

	private key(event: KeyboardEvent): void {
		const typing = (event.target as HTMLElement).closest?.("#panel input, #panel select") !== null;
		if (event.ctrlKey || event.metaKey || event.altKey || typing) {
			return;
		}
		if (event.key === "b" || event.key === "v") {
			this.throw(event.key === "v");
		}
	}

	// --- files ---

	private async save(format: string): Promise<void> {
		const canvas = element("view") as HTMLCanvasElement;
		const name = this.request.scene;
		if (format === "png") {
			download(`${name}.png`, this.page!.shoot(0, "image/png", 1));
		} else if (format === "plots") {
			download(`${name}-plots.csv`, new Blob([seriesTable(this.live.series)], { type: "text/csv" }));
		} else if (format === "plots.png") {
			const picture = plotsPicture(element("plots"));
			picture ? download(`${name}-plots.png`, picture) : this.notice("There is no plot to save yet.");
		} else if (format === "link") {
			await navigator.clipboard?.writeText(location.href).catch(() => undefined);
			this.notice(`The address of this page tells all settings: ${location.href}`);
		} else if (format === "webm") {
			if (this.film) {
				const film = this.film;
				this.film = null;
				element("save-webm").textContent = "film (WebM)";
				return download(`${name}.webm`, await film.stop());
			}
			this.film = filmOf(canvas);
			this.film ? (element("save-webm").textContent = "stop the film") : this.notice("This browser cannot record films.");
		} else {
			this.live.send({ type: "export", format });
		}
	}

	private async drop(all: Dropped[]): Promise<void> {
		const alone = all.length === 1 ? kindOf(all[0].name) : "";
		const model = modelOf(all);
		if (alone === "knt") {
			this.live.pause();
			this.live.send({ type: "recording", name: all[0].name, bytes: all[0].bytes });
		} else if (alone === "kns") {
			this.open({ scene: all[0].name, set: {} }, all[0].bytes);
		} else if (!model) {
			this.notice(all.length === 1 ? `'${all[0].name}' is nothing that this page can show.`
				: "None of these files is a model (.xml, .urdf).");
		} else if (!this.served) {
			this.notice("This page cannot compile models: it is a static site. Use 'knuckle view model.xml', or drop a compiled scene (.kns).");
		} else {
			const answer = await fetch("compile", { method: "POST", body: packed(model, all) });
			if (answer.ok) {
				this.open({ scene: model.name.replace(/^.*\//, ""), set: {} }, new Uint8Array(await answer.arrayBuffer()));
			} else {
				this.notice(await answer.text());
			}
		}
	}

	// --- programs ---

	api(): LiveApi & Record<string, unknown> {
		const picture = () => new Promise(requestAnimationFrame);
		// done when the worker has done it and what came of it is on the screen
		const asked = async (act: () => void): Promise<void> => {
			act();
			const { step } = await this.live.hash();
			for (let i = 0; i < 600 && this.live.stepNumber !== step && step >= 0; ++i) {
				await picture();
			}
			await this.page?.stage.pictures.ready;
			await picture();
			await picture();
		};
		return {
			live: true,
			open: (request) => asked(() => this.open(request)),
			step: (count) => asked(() => this.live.step(count)),
			back: () => asked(() => this.live.step(-1)),
			goTo: (step) => asked(() => this.live.seekFrame(step * this.live.dt)),
			hash: () => this.live.hash(),
			stepNumber: () => this.live.stepNumber,
			latest: () => this.live.latestStep,
			position: (actor) => Array.from(this.live.poses.position.subarray(3 * actor, 3 * actor + 3)),
			pose: (actor) => [...this.live.poses.position.subarray(3 * actor, 3 * actor + 3),
				...this.live.poses.rotation.subarray(4 * actor, 4 * actor + 4)],
			screen: (actor) => {
				this.page!.settle();
				return this.page!.stage.project(new THREE.Vector3().fromArray(this.live.poses.position, 3 * actor));
			},
			eye: () => this.page!.eye,
			resting: () => this.page!.resting,
			holds: () => this.held?.actor ?? 0,
			ghost: (actor) => Array.from(this.live.ghost?.position.subarray(3 * actor, 3 * actor + 3) ?? []),
			actors: () => this.recording!.actors.map(({ name }) => name),
			arrows: () => this.page!.stage.overlays.arrowCount,
			normals: () => this.page!.stage.overlays.normalCount,
			edges: () => this.page!.stage.overlays.edgeCount,
			scenes: () => this.catalogue,
			steppers: () => this.steppers,
			described: () => this.live.description,
			pace: () => this.live.pace,
			time: () => this.live.shown,
			playing: () => this.live.playing,
			play: () => this.live.play(),
			pause: () => this.live.pause(),
			shoot: (_time: number, type: string, quality = 0.94) => this.page!.shoot(0, type, quality),
			share: () => this.page!.stage.share(this.live.poses),
		};
	}
}
