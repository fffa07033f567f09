// What goes wrong is said on the page, never a blank one.
import { RecordingError } from "./recording";

export function show(sentence: string, detail: string): void {
	const box = document.getElementById("trouble")!;
	if (!box.hidden) {
		return; // the first cause counts
	}
	box.hidden = false;
	box.querySelector("p")!.textContent = sentence;
	box.querySelector("pre")!.textContent = detail;
}

export function showError(error: unknown): void {
	if (error instanceof RecordingError) {
		show(error.message, "");
	} else {
		const text = error instanceof Error ? `${error.message}\n${error.stack ?? ""}` : String(error);
		show("Something in this page failed. The recording may still be sound: try another browser, or make the page again.", text);
	}
}
