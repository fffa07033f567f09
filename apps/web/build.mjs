// Builds the replay page: one HTML file with script and style inside, and the same as a C string for libknuckle_io.
//
//   node build.mjs PAGE.html [PAGE.c]
//
// The page has one marker, which a recording in base64 takes the place of (io/page_file.c).
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const [html, source] = process.argv.slice(2);
if (!html) {
	console.error("usage: node build.mjs PAGE.html [PAGE.c]");
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

const [script, style] = await Promise.all([bundle("main.ts"), bundle("page.css")]);
let page = readFileSync(join(here, "src", "page.html"), "utf8");
page = fill(page, "/*STYLE*/", style);
page = fill(page, "/*SCRIPT*/", script);
const bytes = Buffer.from(page, "utf8");
writeFileSync(html, bytes);
if (source) {
	writeFileSync(
		source,
		`// Made by apps/web/build.mjs.\n#include "page_template.h"\n\n` +
			`const size_t knPageTemplateSize = ${bytes.length};\nconst char knPageTemplate[] =\n${cString(bytes)};\n`,
	);
}
