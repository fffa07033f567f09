// Where every body is at a moment: unpacks the counts of a frame, and blends two frames for smooth slow motion.
//
// A rotation is its three smaller quaternion components, 15 bits each in units of 1 / (16383 sqrt 2); the two top bits
// that are left name the component that was dropped. The larger one is positive, so it follows from the others.
import { ABSENT, type Recording } from "./recording";

export class Poses {
	readonly count: number;
	readonly position: Float32Array; // 3 an actor
	readonly rotation: Float32Array; // 4 an actor, x y z w
	readonly present: Uint8Array;
	private readonly nextPosition = new Float32Array(3);
	private readonly nextRotation = new Float32Array(4);

	constructor(private readonly recording: Recording) {
		this.count = recording.actors.length;
		this.position = new Float32Array(3 * this.count);
		this.rotation = new Float32Array(4 * this.count);
		this.present = new Uint8Array(this.count);
		this.rotation[3] = 1;
		this.present[0] = 1;
	}

	// The last frame at or before a time.
	frameAt(time: number): number {
		const times = this.recording.times;
		let low = 0, high = times.length - 1;
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (times[middle] <= time + 1e-9) {
				low = middle;
			} else {
				high = middle - 1;
			}
		}
		return low;
	}

	setFrame(frame: number): void {
		for (let a = 1; a < this.count; ++a) {
			this.present[a] = this.unpack(frame, a, this.position, 3 * a, this.rotation, 4 * a) ? 1 : 0;
		}
	}

	// Between two frames, straight; a body that comes or goes keeps the pose of the earlier one.
	setTime(time: number): void {
		const times = this.recording.times;
		const frame = this.frameAt(time);
		this.setFrame(frame);
		if (frame + 1 >= times.length || time <= times[frame]) {
			return;
		}
		const share = (time - times[frame]) / (times[frame + 1] - times[frame]);
		for (let a = 1; a < this.count; ++a) {
			if (this.present[a] && this.unpack(frame + 1, a, this.nextPosition, 0, this.nextRotation, 0)) {
				this.blend(a, share);
			}
		}
	}

	private blend(actor: number, share: number): void {
		const { position, rotation, nextPosition: p, nextRotation: q } = this;
		for (let k = 0; k < 3; ++k) {
			position[3 * actor + k] += share * (p[k] - position[3 * actor + k]);
		}
		const at = 4 * actor;
		let dot = 0;
		for (let k = 0; k < 4; ++k) {
			dot += rotation[at + k] * q[k];
		}
		const sign = dot < 0 ? -1 : 1;
		let length = 0;
		for (let k = 0; k < 4; ++k) {
			rotation[at + k] += share * (sign * q[k] - rotation[at + k]);
			length += rotation[at + k] * rotation[at + k];
		}
		for (let k = 0; k < 4; ++k) {
			rotation[at + k] /= Math.sqrt(length);
		}
	}

	private unpack(frame: number, actor: number, p: Float32Array, pAt: number, q: Float32Array, qAt: number): boolean {
		const { codes, origins } = this.recording;
		const at = 6 * (frame * this.count + actor);
		if (codes[at] === ABSENT) {
			return false;
		}
		const count = origins[4 * actor + 3];
		for (let k = 0; k < 3; ++k) {
			p[pAt + k] = origins[4 * actor + k] + count * codes[at + k];
		}
		const dropped = (codes[at + 3] >> 15) | ((codes[at + 4] >> 15) << 1);
		let rest = 1;
		for (let k = 0, c = 0; k < 4; ++k) {
			if (k !== dropped) {
				const value = ((codes[at + 3 + c++] & 0x7fff) / 16383 - 1) * Math.SQRT1_2;
				q[qAt + k] = value;
				rest -= value * value;
			}
		}
		q[qAt + dropped] = Math.sqrt(Math.max(0, rest));
		return true;
	}
}
