// Time of whichever source plays now: the engine, or a recording that was dropped on a live page.
import type { Transport } from "./transport";

export class Deck implements Transport {
	constructor(private source: Transport) {}

	use(source: Transport): void {
		source.speed = this.source.speed;
		this.source.playing = false;
		this.source = source;
	}

	get live(): boolean {
		return this.source.live;
	}

	get playing(): boolean {
		return this.source.playing;
	}

	set playing(on: boolean) {
		this.source.playing = on;
	}

	get speed(): number {
		return this.source.speed;
	}

	set speed(speed: number) {
		this.source.speed = speed;
	}

	get loop(): boolean {
		return this.source.loop;
	}

	set loop(on: boolean) {
		this.source.loop = on;
	}

	get start(): number {
		return this.source.start;
	}

	get end(): number {
		return this.source.end;
	}

	get shown(): number {
		return this.source.shown;
	}

	seekFrame(time: number): void {
		this.source.seekFrame(time);
	}

	step(count: number): void {
		this.source.step(count);
	}

	play(): void {
		this.source.play();
	}

	pause(): void {
		this.source.pause();
	}

	advance(elapsed: number): void {
		this.source.advance(elapsed);
	}
}
