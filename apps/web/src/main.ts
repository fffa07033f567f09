// The page's beginning: it plays the recording in it, or runs the engine in it. Whatever goes wrong is said on the page.
//
// The address may set things, for pictures and links: #t=1.5&play=0&ui=0&speed=0.5&view=AZIMUTH,ELEVATION[,ZOOM]&theme=dark;
// fit=now frames each picture for itself.
// window.knuckle is the same for programs: `knuckle render` and the browser tests use it.
import { LivePage, type LiveApi } from "./live_page";
import { element, Page } from "./page";
import { readRecording, RecordingError } from "./recording";
import { show, showError } from "./trouble";

interface Api extends Partial<LiveApi> {
	ready: Promise<void>; // fails with the sentence that the page shows; made by page.html
	started(): void;
	failed(error: unknown): void;
	frames: number;
	start: number;
	end: number;
	time(): number;
	playing(): boolean;
	play(): void;
	pause(): void;
	seek(time: number): void; // pauses, at the nearest frame
	shoot(time: number, type: string, quality?: number): string; // a picture of the canvas as a data: address
	share(): { width: number; height: number }; // of the picture that the bulk of the moving bodies takes
}

declare global {
	interface Window {
		knuckle: Api;
	}
}

function hasWebGL(): boolean {
	const canvas = document.createElement("canvas");
	return canvas.getContext("webgl2") !== null;
}

async function startLive(engine: string): Promise<void> {
	const page = new LivePage(show);
	Object.assign(window.knuckle, page.api());
	await page.start(engine, element("worker").textContent!);
}

async function start(): Promise<void> {
	if (!hasWebGL()) {
		throw new RecordingError("This browser shows no 3D graphics: WebGL 2 is missing or switched off. "
			+ "Switch on hardware acceleration or WebGL in its settings, update it, or try another browser.");
	}
	const engine = element("engine").textContent!.trim();
	const text = element("recording").textContent ?? "";
	if (engine !== "" && text.trim() === "") {
		return startLive(engine);
	}
	const recording = readRecording(text);
	if (recording.times.length === 0) {
		throw new RecordingError("The recording in this page holds no frame: there is nothing to play.");
	}
	const page = new Page(recording);
	page.draw();
	page.run();
	await page.stage.pictures.ready;
	Object.assign(window.knuckle, {
		frames: recording.times.length,
		start: page.player.start,
		end: page.player.end,
		share: () => page.stage.share(page.poses),
		time: () => page.player.shown,
		playing: () => page.player.playing,
		play: () => page.player.play(),
		pause: () => page.seek(page.player.shown),
		seek: (time: number) => page.seek(time),
		shoot: (time: number, type: string, quality = 0.94) => page.shoot(time, type, quality),
	});
}

window.addEventListener("error", (event) => showError(event.error ?? event.message));
window.addEventListener("unhandledrejection", (event) => showError(event.reason));
// the page has said it; programs that wait see it too
window.knuckle.ready.catch(() => undefined);
start().then(window.knuckle.started, (error) => {
	showError(error);
	window.knuckle.failed(error);
});
