// The three.js side: renderer, lights, camera and the scene's parts. Draws when asked; when drawing is slow (software
// rendering), it lowers the resolution and then the shadows' cost until the page feels alive.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Bodies } from "./bodies";
import { actionBox, fitCamera } from "./framing";
import { Ground } from "./ground";
import type { Poses } from "./poses";
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
	readonly bodies: Bodies;
	readonly ground: Ground;
	private box: THREE.Box3;
	fixedQuality = false; // pictures: never degrade
	private readonly renderer: THREE.WebGLRenderer;
	private readonly scene = new THREE.Scene();
	private readonly sun = new THREE.DirectionalLight(0xfff4e6, 2.6);
	private readonly sky = new THREE.HemisphereLight(0xffffff, 0xbbb3a8, 1.4);
	private ratio = 1;
	private slow = 0;

	constructor(private readonly canvas: HTMLCanvasElement, private readonly recording: Recording) {
		this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
		this.renderer.shadowMap.enabled = true;
		this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
		this.renderer.toneMapping = THREE.NeutralToneMapping;
		this.ratio = Math.min(window.devicePixelRatio || 1, 2);
		this.box = actionBox(recording);
		this.bodies = new Bodies(recording);
		this.ground = new Ground(recording, this.box);
		this.scene.add(this.bodies.root, this.ground.root, this.sky, this.sun, this.sun.target);
		this.placeSun();
		this.controls = new OrbitControls(this.camera, canvas);
		this.controls.enableDamping = true;
		this.controls.dampingFactor = 0.12;
		this.controls.zoomToCursor = true;
		this.setTheme("light");
	}

	// A sun from the viewer's left, so that shadows fall into sight; its shadow map just holds the action.
	private placeSun(): void {
		const middle = this.box.getCenter(new THREE.Vector3());
		const radius = 0.62 * this.box.getSize(new THREE.Vector3()).length();
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
	}

	// From now on what this frame shows counts as the action.
	frameOn(frame: number): void {
		this.box = actionBox(this.recording, frame);
		this.placeSun();
	}

	setTheme(name: "light" | "dark"): void {
		const theme = THEMES[name];
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
		fitCamera(this.camera, this.controls.target, this.box, view.azimuth, view.elevation, view.zoom);
		this.controls.minDistance = this.camera.near * 2;
		this.controls.maxDistance = this.camera.far / 3;
		this.controls.update();
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
		this.camera.updateProjectionMatrix();
		return true;
	}

	draw(poses: Poses): void {
		// metres of a pixel at a metre's distance
		const pixel = (2 * Math.tan((this.camera.fov * Math.PI) / 360)) / this.canvas.height;
		this.bodies.update(poses, this.camera.position, pixel);
		this.ground.update(poses);
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

	pick(x: number, y: number): number {
		const raycaster = new THREE.Raycaster();
		const point = new THREE.Vector2((2 * x) / this.canvas.clientWidth - 1, 1 - (2 * y) / this.canvas.clientHeight);
		raycaster.setFromCamera(point, this.camera);
		return this.bodies.pick(raycaster);
	}
}
