// Files that the page gives away: pictures, films, tables.
import type { Series } from "./recording";

export function download(name: string, content: Blob | string): void {
	const link = document.createElement("a");
	link.download = name;
	link.href = typeof content === "string" ? content : URL.createObjectURL(content);
	link.click();
	if (typeof content !== "string") {
		setTimeout(() => URL.revokeObjectURL(link.href), 10000);
	}
}

// One row a time, one column a curve; empty where a curve has no value.
export function seriesTable(series: Series[]): string {
	const used = series.filter((s) => s.times.length > 0);
	const rows = new Map<number, string[]>();
	used.forEach((s, column) => {
		for (let i = 0; i < s.times.length; ++i) {
			const row = rows.get(s.times[i]) ?? [];
			row[column] = String(s.values[i]);
			rows.set(s.times[i], row);
		}
	});
	const head = ["time s", ...used.map((s) => `${s.plot}: ${s.name}${s.unit ? ` ${s.unit}` : ""}`)];
	const lines = [...rows.keys()].sort((a, b) => a - b)
		.map((time) => [String(time), ...used.map((_, i) => rows.get(time)![i] ?? "")].join(","));
	return [head.map((h) => `"${h}"`).join(","), ...lines].join("\n") + "\n";
}

// The plots' own canvases side by side, under their titles.
export function plotsPicture(root: HTMLElement): string | null {
	const plots = [...root.querySelectorAll<HTMLElement>(".plot")].flatMap((plot) => {
		const canvas = plot.querySelector("canvas");
		return canvas ? [{ canvas, title: plot.querySelector("h2")?.firstChild?.textContent ?? "" }] : [];
	});
	if (plots.length === 0) {
		return null;
	}
	const head = 26 * (window.devicePixelRatio || 1);
	const picture = document.createElement("canvas");
	picture.width = plots.reduce((sum, { canvas }) => sum + canvas.width, 0);
	picture.height = head + Math.max(...plots.map(({ canvas }) => canvas.height));
	const context = picture.getContext("2d")!;
	const style = getComputedStyle(document.documentElement);
	context.fillStyle = style.getPropertyValue("--paper");
	context.fillRect(0, 0, picture.width, picture.height);
	context.fillStyle = style.getPropertyValue("--ink");
	context.font = `600 ${Math.round(0.5 * head)}px system-ui, sans-serif`;
	let x = 0;
	for (const { canvas, title } of plots) {
		context.fillText(title, x + 10, 0.7 * head);
		context.drawImage(canvas, x, head);
		x += canvas.width;
	}
	return picture.toDataURL("image/png");
}

// Records the canvas until stopped; null where the browser cannot.
export function filmOf(canvas: HTMLCanvasElement): { stop(): Promise<Blob> } | null {
	if (typeof MediaRecorder === "undefined" || !canvas.captureStream) {
		return null;
	}
	const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: "video/webm", videoBitsPerSecond: 8e6 });
	const parts: Blob[] = [];
	recorder.ondataavailable = (event) => parts.push(event.data);
	recorder.start(500);
	return {
		stop: () => new Promise((done) => {
			recorder.onstop = () => done(new Blob(parts, { type: "video/webm" }));
			recorder.stop();
		}),
	};
}
