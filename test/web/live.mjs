// What the tests of the live page share: the served viewer, and what programs may ask of it (window.knuckle).
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { root, skip, tool } from "./harness.mjs";

export const built = join(dirname(tool), "viewer", "index.html");
export const models = join(process.env.KN_SOURCE_DIR ?? root, "models");

export function needViewer() {
	if (!existsSync(built)) {
		skip("the viewer is not built (cmake --build --preset release --target viewer)");
	}
}

// Starts `knuckle view` and gives its address.
export async function view(...words) {
	const server = spawn(tool, ["view", ...words, "--no-browser"], { stdio: ["ignore", "pipe", "inherit"] });
	const url = await new Promise((done, fail) => {
		let text = "";
		server.stdout.on("data", (data) => {
			text += data;
			if (text.includes("\n")) {
				done(text.split("\n")[0]);
			}
		});
		server.on("exit", (status) => fail(new Error(`knuckle view ended with ${status}`)));
	});
	return { url, stop: () => server.kill("SIGINT") };
}

export const ready = (page) => page.evaluate(() => window.knuckle.ready);
export const ask = (page, name, ...words) => page.evaluate(([n, w]) => window.knuckle[n](...w), [name, words]);
export const open = (page, scene, set = {}, more = {}) => ask(page, "open", { scene, set, ...more });
export const showPanel = (page) => page.evaluate(() => {
	document.querySelector("#panel").hidden = false;
	document.querySelectorAll("#panel details").forEach((part) => (part.open = true));
});

// Moves a slider, as a hand would.
export const slide = (slider, value) => slider.evaluate((input, v) => {
	input.value = String(v);
	input.dispatchEvent(new Event("input"));
}, value);

// Drops files on the page: [name, bytes] each.
export async function drop(page, ...files) {
	const plain = files.map(([name, bytes]) => [name, Buffer.from(bytes).toString("base64")]);
	await page.evaluate((all) => {
		const transfer = new DataTransfer();
		for (const [name, text] of all) {
			transfer.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name));
		}
		window.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
	}, plain);
}

// The red, green and blue of every pixel of the canvas.
export async function pixels(page, address) {
	// as one text: lists of lists take seconds on their way
	const text = await page.evaluate(async (source) => {
		const image = new Image();
		image.src = source;
		await image.decode();
		const canvas = document.createElement("canvas");
		canvas.width = image.width;
		canvas.height = image.height;
		const context = canvas.getContext("2d");
		context.drawImage(image, 0, 0);
		const data = context.getImageData(0, 0, image.width, image.height).data;
		let all = "";
		for (let i = 0; i < data.length; i += 16384) {
			all += String.fromCharCode(...data.subarray(i, i + 16384));
		}
		return btoa(all);
	}, address);
	const data = Buffer.from(text, "base64");
	return Array.from({ length: data.length / 4 }, (_, i) => [data[4 * i], data[4 * i + 1], data[4 * i + 2]]);
}
