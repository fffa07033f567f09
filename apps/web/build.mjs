// Builds the page: one HTML file with script and style inside. Two forms of it:
//
//   node build.mjs PAGE.html [PAGE.c]            the replay page, also as a C string for libknuckle_io. It has one marker,
//                                                which a recording in base64 takes the place of (io/page.c)
//   node build.mjs --viewer FOLDER ENGINE.wasm   the live page with the engine inside (gzip, base64), as FOLDER/index.html,
//                                                and the gallery's pictures beside it: a static site
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const words = process.argv.slice(2);
const viewer = words[0] === "--viewer";
const [html, source] = viewer ? [join(words[1] ?? "", "index.html"), undefined] : words;
if (!html || (viewer && words.length !== 3)) {
	console.error("usage: node build.mjs PAGE.html [PAGE.c] | --viewer FOLDER ENGINE.wasm");
	process.exit(2);
}

async function bundle(entry) {
	const result = await build({
		entryPoints: [join(here, "src", entry)],
		bundle: true,
		minify: true,
		write: false,
		format: "iife",
		target: ["es2020"],
		charset: "utf8",
		legalComments: "inline",
		logLevel: "warning",
	});
	return result.outputFiles[0].text.trim();
}

function fill(text, marker, value) {
	if (text.split(marker).length !== 2) {
		throw new Error(`the page must hold ${marker} once`);
	}
	return text.replace(marker, () => value);
}

// C strings: octal escapes end after three digits, so whatever follows stays itself; ?? would be a trigraph
function cString(bytes) {
	const lines = [];
	for (let start = 0; start < bytes.length; start += 120) {
		let line = "";
		for (const byte of bytes.subarray(start, start + 120)) {
			const plain = byte >= 32 && byte < 127 && byte !== 34 && byte !== 92 && byte !== 63;
			line += plain ? String.fromCharCode(byte) : "\\" + byte.toString(8).padStart(3, "0");
		}
		lines.push(`"${line}"`);
	}
	return lines.join("\n");
}

const [script, style, worker] = await Promise.all([bundle("main.ts"), bundle("page.css"),
	viewer ? bundle("worker.ts") : ""]);
let page = readFileSync(join(here, "src", "page.html"), "utf8");
page = fill(page, "/*STYLE*/", style);
page = fill(page, "/*SCRIPT*/", script);
page = fill(page, "/*WORKER*/", worker.replace(/<\/script/g, "<\\/script"));
page = fill(page, "@KNUCKLE-ENGINE@", viewer ? gzipSync(readFileSync(words[2]), { level: 9 }).toString("base64") : "");
if (viewer) {
	// the recording's marker stands twice: in the script that looks for it, and where a recording would be
	const at = page.lastIndexOf("@KNUCKLE-RECORDING@");
	page = page.slice(0, at) + page.slice(at + "@KNUCKLE-RECORDING@".length);
	const pictures = join(here, "..", "..", "docs", "pictures");
	mkdirSync(join(words[1], "pictures"), { recursive: true });
	for (const name of existsSync(pictures) ? readdirSync(pictures) : []) {
		copyFileSync(join(pictures, name), join(words[1], "pictures", name));
	}
}
const bytes = Buffer.from(page, "utf8");
writeFileSync(html, bytes);
if (source) {
	writeFileSync(
		source,
		`// Made by apps/web/build.mjs.\n#include "page_template.h"\n\n` +
			`const size_t knPageTemplateSize = ${bytes.length};\nconst char knPageTemplate[] =\n${cString(bytes)};\n`,
	);
}
