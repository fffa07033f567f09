// Time as the buttons see it: that of a recording (player.ts) or of the engine (live.ts).
export interface Transport {
	playing: boolean;
	speed: number;
	loop: boolean;
	readonly start: number; // s, of what can be gone to
	readonly end: number;
	readonly shown: number; // s
	readonly live: boolean; // time goes on beyond the end
	seekFrame(time: number): void; // the nearest state
	step(count: number): void; // pauses; also backwards
	play(): void;
	pause(): void;
	advance(elapsed: number): void; // s of real time
}
