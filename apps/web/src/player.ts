// The time that is shown, and how it runs: play, pause, step by frames, seek, speed, loop.
import type { Poses } from "./poses";
import type { Transport } from "./transport";

export class Player implements Transport {
	readonly live = false;
	time: number;
	playing = false;
	speed = 1;
	loop = true;
	readonly start: number;
	readonly end: number;

	constructor(private readonly times: Float64Array, private readonly poses: Poses) {
		this.start = times.length > 0 ? times[0] : 0;
		this.end = times.length > 0 ? times[times.length - 1] : 0;
		this.time = this.start;
	}

	get frame(): number {
		return this.poses.frameAt(this.time);
	}

	seek(time: number): void {
		this.time = Math.min(this.end, Math.max(this.start, Number.isFinite(time) ? time : this.start));
	}

	// To the nearest frame.
	seekFrame(time: number): void {
		this.seek(time);
		const frame = this.frame;
		const next = Math.min(frame + 1, this.times.length - 1);
		this.time = this.times[this.times[next] - this.time < this.time - this.times[frame] ? next : frame];
	}

	step(frames: number): void {
		this.playing = false;
		const frame = Math.min(this.times.length - 1, Math.max(0, this.frame + frames));
		this.time = this.times[frame];
	}

	play(): void {
		if (this.time >= this.end) {
			this.time = this.start;
		}
		this.playing = this.end > this.start;
	}

	pause(): void {
		this.playing = false;
		this.time = this.times[this.frame];
	}

	// `elapsed` in s of real time.
	advance(elapsed: number): void {
		if (!this.playing) {
			return;
		}
		this.time += this.speed * elapsed;
		if (this.time >= this.end) {
			// the last frame stays for a moment before the loop begins again
			if (!this.loop) {
				this.time = this.end;
				this.playing = false;
			} else if (this.time > this.end + 0.6 * this.speed) {
				this.time = this.start;
			}
		}
	}

	// What to draw: within the recording even while the end lingers.
	get shown(): number {
		return Math.min(this.time, this.end);
	}
}
