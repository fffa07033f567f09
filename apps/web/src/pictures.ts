// Pictures on surfaces. They are laid on in the shader, by the rule of src/record/looks.h: u is a point in units of half the
// sides of the box about its shape, h those halves in metres; `st` is where the picture is looked up.
import * as THREE from "three";
import type { Look, Recording } from "./recording";

// GLSL of `vec2 pictureAt(vec3 u, vec3 n, vec3 h)` and how it changes over a pixel; a side's own map goes on smoothly.
const LAY = `
	uniform sampler2D uPicture;
	uniform vec2 uRepeat;
	vec4 pictureAt(vec3 u, vec3 n, vec3 h) {
		vec3 a = abs(n);
		vec2 p, q, dx, dy;
		vec3 ux = dFdx(u), uy = dFdy(u);
		float across = 1.0, flip = 1.0;
		if (AROUND && a.x >= a.y && a.x >= a.z) {
			p = u.yz; dx = ux.yz; dy = uy.yz; q = h.yz; across = abs(u.x); flip = sign(n.x);
		} else if (AROUND && a.y >= a.z) {
			p = u.xz; dx = ux.xz; dy = uy.xz; q = h.xz; across = abs(u.y); flip = -sign(n.y);
		} else {
			p = u.xy; dx = ux.xy; dy = uy.xy; q = h.xy; across = AROUND ? abs(u.z) : 1.0; flip = AROUND ? sign(n.z) : 1.0;
		}
		vec2 scale = uRepeat * (UNIFORM ? q : vec2(0.5)) * vec2(flip, 1.0) / max(across, 0.5);
		return textureGrad(uPicture, 0.5 + scale * p, scale * dx, scale * dy);
	}`;

export function pictureCode(look: Look, uniform = look.uniform): string {
	return LAY.replace(/AROUND/g, String(look.around)).replace(/UNIFORM/g, String(uniform));
}

function white(): HTMLCanvasElement {
	const canvas = document.createElement("canvas");
	canvas.width = canvas.height = 1;
	const context = canvas.getContext("2d")!;
	context.fillStyle = "#fff";
	context.fillRect(0, 0, 1, 1);
	return canvas;
}

// The pictures of a recording as textures; they show once the browser has decoded them.
export class Pictures {
	private readonly textures: THREE.Texture[];
	readonly ready: Promise<unknown>;

	constructor(recording: Recording, arrived: () => void) {
		this.textures = recording.pictures.map(() => {
			const texture = new THREE.Texture(white());
			texture.colorSpace = THREE.SRGBColorSpace;
			texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
			texture.anisotropy = 4;
			texture.needsUpdate = true;
			return texture;
		});
		this.ready = Promise.all(recording.pictures.map(async (file, i) => {
			// a picture that the browser cannot read leaves its surface white
			const image = await createImageBitmap(file, { imageOrientation: "flipY" }).catch(() => null);
			if (image) {
				this.textures[i].dispose(); // another size
				this.textures[i].image = image;
				this.textures[i].flipY = false; // it is
				this.textures[i].needsUpdate = true;
			}
		})).then(arrived);
	}

	uniforms(look: Look): Record<string, THREE.IUniform> {
		return { uPicture: { value: this.textures[look.picture] }, uRepeat: { value: new THREE.Vector2(...look.repeat) } };
	}

	dispose(): void {
		this.textures.forEach((texture) => texture.dispose());
	}
}
