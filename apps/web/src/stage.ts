// The three.js side: renderer, lights, camera and the scene's parts. Draws when asked; when drawing is slow (software
// rendering), it lowers the resolution and then the shadows' cost until the page feels alive.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Bodies } from "./bodies";
import { actionBox, actorExtents, actorRadius, bulkBox, fitCamera, shareOf, type Extents, type Placed } from "./framing";
import { Ground } from "./ground";
import { Overlays } from "./overlays";
import { Pictures } from "./pictures";
import type { Recording } from "./recording";

export interface View {
	azimuth: number; // degrees about z
	elevation: number;
	zoom: number;
}

const THEMES = {
	light: { top: 0xd3dfeb, bottom: 0xf7f9fb, sheet: 0xd3d8de, line: 0x76828f, sky: 0xf4f8ff, earth: 0xc4beb6, sun: 2.7, fill: 2.1 },
	dark: { top: 0x0d1116, bottom: 0x262e38, sheet: 0x2f3740, line: 0x93a1b0, sky: 0xdbe5f5, earth: 0x6b6560, sun: 3.0, fill: 1.9 },
};
const SLOW = 45; // ms a frame

function gradient(top: number, bottom: number): THREE.Texture {
	const canvas = document.createElement("canvas");
	canvas.width = 2;
	canvas.height = 256;
	const context = canvas.getContext("2d")!;
	const fill = context.createLinearGradient(0, 0, 0, 256);
	fill.addColorStop(0, "#" + new THREE.Color(top).getHexString());
	fill.addColorStop(0.75, "#" + new THREE.Color(bottom).getHexString());
	context.fillStyle = fill;
	context.fillRect(0, 0, 2, 256);
	const texture = new THREE.CanvasTexture(canvas);
	texture.colorSpace = THREE.SRGBColorSpace;
	return texture;
}

export class Stage {
	readonly camera = new THREE.PerspectiveCamera(35, 1, 0.1, 1000);
	readonly controls: OrbitControls;
	readonly overlays = new Overlays();
	bodies!: Bodies;
	ground!: Ground;
	ghost: Bodies | null = null;
	pictures!: Pictures;
	onArrival: (() => void) | null = null; // pictures on the surfaces have been decoded
	private extents!: Extents;
	private box!: THREE.Box3;
	private theme: keyof typeof THEMES = "light";
	fixedQuality = false; // pictures: never degrade
	private readonly renderer: THREE.WebGLRenderer;
	private readonly scene = new THREE.Scene();
	private readonly sun = new THREE.DirectionalLight(0xfff4e6, 2.6);
	private readonly sky = new THREE.HemisphereLight(0xffffff, 0xbbb3a8, 1.4);
	private inset = 0; // px at the left that something lies over
	private lit = 0; // size of the box that the sun lights
	private ratio = 1;
	private slow = 0;

	constructor(private readonly canvas: HTMLCanvasElement, private recording: Recording) {
		this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
		this.renderer.shadowMap.enabled = true;
		this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
		this.renderer.toneMapping = THREE.NeutralToneMapping;
		this.ratio = Math.min(window.devicePixelRatio || 1, 2);
		this.scene.add(this.overlays.root, this.sky, this.sun, this.sun.target);
		this.setCast(recording, false);
		this.controls = new OrbitControls(this.camera, canvas);
		this.controls.enableDamping = true;
		this.controls.dampingFactor = 0.12;
		this.controls.zoomToCursor = true;
		this.setTheme("light");
	}

	// Other bodies; what counts as the action may stay as it is.
	setCast(recording: Recording, keepBox: boolean): void {
		const grid = this.ground?.root.visible ?? true;
		for (const old of [this.bodies, this.ground, this.ghost]) {
			if (old) {
				this.scene.remove(old.root);
				old.dispose();
			}
		}
		this.pictures?.dispose();
		this.pictures = new Pictures(recording, () => this.onArrival?.());
		this.recording = recording;
		this.extents = actorExtents(recording);
		this.box = keepBox ? this.box : actionBox(recording);
		this.bodies = new Bodies(recording, this.pictures);
		this.ground = new Ground(recording, this.box, this.pictures);
		this.ground.root.visible = grid;
		this.ghost = null;
		this.scene.add(this.bodies.root, this.ground.root);
		this.placeSun();
		this.setTheme(this.theme);
	}

	// The same bodies once more, faint: another method's.
	setGhost(on: boolean): void {
		if (this.ghost && !on) {
			this.scene.remove(this.ghost.root);
			this.ghost.dispose();
			this.ghost = null;
		} else if (!this.ghost && on) {
			this.ghost = new Bodies(this.recording, this.pictures, true);
			this.scene.add(this.ghost.root);
		}
	}

	// A sun from the viewer's left, so that shadows fall into sight; its shadow map just holds the action.
	private placeSun(): void {
		const middle = this.box.getCenter(new THREE.Vector3());
		this.lit = this.box.getSize(new THREE.Vector3()).length();
		const radius = 0.62 * this.lit;
		this.sun.castShadow = true;
		this.sun.position.copy(middle).add(new THREE.Vector3(-0.62, -0.6, 1.15).normalize().multiplyScalar(4 * radius));
		this.sun.target.position.copy(middle);
		const shadow = this.sun.shadow;
		const size = Math.min(2048, this.renderer.capabilities.maxTextureSize);
		shadow.mapSize.set(size, size);
		shadow.camera.left = shadow.camera.bottom = -radius;
		shadow.camera.right = shadow.camera.top = radius;
		shadow.camera.near = 0.5 * radius;
		shadow.camera.far = 9 * radius;
		shadow.normalBias = radius / 400;
		shadow.bias = -0.0004;
		shadow.radius = 3;
		shadow.camera.updateProjectionMatrix();
	}

	// From now on what this frame shows counts as the action.
	frameOn(frame: number): void {
		this.box = actionBox(this.recording, frame);
		this.placeSun();
	}

	// Likewise for the bodies as they are, or for one of them.
	frameNow(poses: Placed, actor = 0): void {
		const box = bulkBox(this.recording, poses, this.extents);
		if (actor > 0) {
			const middle = new THREE.Vector3().fromArray(poses.position, 3 * actor);
			const size = 2.2 * actorRadius(this.extents, actor);
			this.box = new THREE.Box3(middle.clone().subScalar(size), middle.addScalar(size));
		} else if (!box.isEmpty()) {
			this.box = box;
		}
		this.placeSun();
	}

	frameAll(): void {
		this.box = actionBox(this.recording);
		this.placeSun();
	}

	// Moves what counts as the action towards where the bodies are now, by this share of the difference.
	easeTo(poses: Placed, share: number): void {
		const box = bulkBox(this.recording, poses, this.extents);
		if (box.isEmpty()) {
			return;
		}
		this.box.min.lerp(box.min, share);
		this.box.max.lerp(box.max, share);
		this.ground.keepBelow(box, Math.min(1, 4 * share));
		// the sun only moves when it must: its shadows shimmer
		const size = this.box.getSize(new THREE.Vector3()).length();
		const off = this.box.getCenter(new THREE.Vector3()).distanceTo(this.sun.target.position);
		if (off > 0.2 * size || size > 1.25 * this.lit || size < 0.6 * this.lit) {
			this.placeSun();
		}
	}

	// How much of the picture the bulk of the moving bodies takes.
	share(poses: Placed): { width: number; height: number } {
		const box = bulkBox(this.recording, poses, this.extents);
		return box.isEmpty() ? { width: 1, height: 1 } : shareOf(this.camera, box);
	}

	get action(): THREE.Box3 {
		return this.box;
	}

	setTheme(name: "light" | "dark"): void {
		const theme = THEMES[name];
		this.theme = name;
		this.scene.background = gradient(theme.top, theme.bottom);
		this.ground.setColors(theme.sheet, theme.line);
		this.sky.color.setHex(theme.sky);
		this.sky.groundColor.setHex(theme.earth);
		this.sky.intensity = theme.fill;
		this.sun.intensity = theme.sun;
	}

	setShadows(on: boolean): void {
		this.sun.castShadow = on;
	}

	get shadows(): boolean {
		return this.sun.castShadow;
	}

	look(view: View): void {
		const aspect = Math.max(0.3, 1 - this.inset / Math.max(1, this.canvas.clientWidth)) * this.camera.aspect;
		fitCamera(this.camera, this.controls.target, this.box, view.azimuth, view.elevation, view.zoom, aspect);
		this.controls.minDistance = this.camera.near * 2;
		this.controls.maxDistance = this.camera.far / 3;
		this.controls.update();
	}

	// The camera at a place of its own, which looks at a point.
	lookFrom(eye: THREE.Vector3, target: THREE.Vector3): void {
		const distance = Math.max(1e-6, eye.distanceTo(target));
		this.camera.position.copy(eye);
		this.controls.target.copy(target);
		this.camera.near = distance / 200;
		this.camera.far = distance * 60;
		this.camera.updateProjectionMatrix();
		this.controls.minDistance = this.camera.near * 2;
		this.controls.maxDistance = this.camera.far / 3;
		this.controls.update();
	}

	// What lies over the canvas's left side: the middle of the picture is the middle of the rest.
	setInset(inset: number): void {
		this.inset = inset;
		this.shiftMiddle();
	}

	private shiftMiddle(): void {
		const width = Math.max(1, this.canvas.clientWidth), height = Math.max(1, this.canvas.clientHeight);
		if (this.inset > 0) {
			this.camera.setViewOffset(width, height, -0.5 * this.inset, 0, width, height);
		} else {
			this.camera.clearViewOffset();
		}
	}

	// The drawing buffer follows the canvas's size on the page; true if it changed.
	resize(): boolean {
		const width = Math.max(1, this.canvas.clientWidth), height = Math.max(1, this.canvas.clientHeight);
		const size = this.renderer.getSize(new THREE.Vector2());
		if (size.x === width && size.y === height && this.renderer.getPixelRatio() === this.ratio) {
			return false;
		}
		this.renderer.setPixelRatio(this.ratio);
		this.renderer.setSize(width, height, false);
		this.camera.aspect = width / height;
		this.shiftMiddle();
		this.camera.updateProjectionMatrix();
		return true;
	}

	draw(poses: Placed, ghost: Placed | null = null): void {
		// metres of a pixel at a metre's distance
		const pixel = (2 * Math.tan((this.camera.fov * Math.PI) / 360)) / this.canvas.height;
		this.bodies.update(poses, this.camera.position, pixel, this.box);
		if (this.ghost && ghost) {
			this.ghost.update(ghost, this.camera.position, pixel, this.box);
		}
		this.ground.update(poses, this.camera.position);
		this.renderer.render(this.scene, this.camera);
	}

	// What a frame cost, in ms; after some slow ones in a row the picture gets cheaper.
	report(cost: number): void {
		if (this.fixedQuality) {
			return;
		}
		this.slow = cost > SLOW ? this.slow + 1 : Math.max(0, this.slow - 1);
		if (this.slow < 8) {
			return;
		}
		this.slow = 0;
		if (this.ratio > 0.5) {
			this.ratio = Math.max(0.5, 0.75 * this.ratio);
		} else if (this.renderer.shadowMap.type === THREE.PCFSoftShadowMap) {
			this.renderer.shadowMap.type = THREE.BasicShadowMap;
			this.sun.shadow.mapSize.set(1024, 1024);
			this.sun.shadow.map?.dispose();
			this.sun.shadow.map = null;
			this.scene.traverse((object) => {
				const material = (object as THREE.Mesh).material as THREE.Material | undefined;
				if (material) {
					material.needsUpdate = true;
				}
			});
		}
	}

	// From the eye through a point of the canvas.
	ray(x: number, y: number): THREE.Raycaster {
		const raycaster = new THREE.Raycaster();
		this.camera.updateMatrixWorld();
		const point = new THREE.Vector2((2 * x) / this.canvas.clientWidth - 1, 1 - (2 * y) / this.canvas.clientHeight);
		raycaster.setFromCamera(point, this.camera);
		return raycaster;
	}

	pick(x: number, y: number, at?: THREE.Vector3): number {
		return this.bodies.pick(this.ray(x, y), at);
	}

	// Where a point of the world is on the canvas.
	project(point: THREE.Vector3): { x: number; y: number } {
		this.camera.updateMatrixWorld();
		const p = point.clone().project(this.camera);
		return { x: ((p.x + 1) / 2) * this.canvas.clientWidth, y: ((1 - p.y) / 2) * this.canvas.clientHeight };
	}
}
