// The report of knuckle compare (compare_page.h).
//
// A replay page is a program with a recording in it, in base64, in a <script> of its own. The report keeps what stands before and
// behind the first page's recording, and of the others the recording alone; its script puts each page together again and
// shows it in a frame. The frames belong to the report's origin, so that its clock can drive them (window.knuckle).
#include "compare_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output_file.h"

#define RECORDING "id=\"recording\">"
#define RECORDING_END "</script>"

static const char STYLE[] =
	"body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:1500px;padding:1em "
	"1.5em;color:#1d2733;background:#fff}"
	"h1{font-size:1.5em;margin:.2em 0}h2{font-size:1.1em;margin:1.6em 0 .4em}"
	"table{border-collapse:collapse}td,th{padding:.15em .9em;text-align:right;border-bottom:1px solid "
	"#dde3ea}"
	"td:first-child,th:first-child{text-align:left;padding-left:0}"
	"#replays{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:12px}"
	"figure{margin:0}figcaption{font-weight:600}iframe{width:100%;height:380px;border:1px solid "
	"#dde3ea;border-radius:6px}"
	"#clock{display:flex;gap:.8em;align-items:center;margin:.5em 0}#clock input{flex:1}#clock "
	"output{min-width:5.5em}"
	"#plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(460px,1fr));gap:12px}#plots "
	"svg{width:100%;height:auto}"
	"@media(max-width:600px){#replays,#plots{grid-template-columns:1fr}}";

static const char SCRIPT[] =
	"const text=(id)=>document.getElementById(id).textContent;"
	"const unpack=(id)=>new TextDecoder().decode(Uint8Array.from(atob(text(id)),(c)=>c.charCodeAt(0)));"
	"const before=unpack('before'),behind=unpack('behind');"
	"const frames=[...document.querySelectorAll('iframe')];"
	"for(const f of frames)f.srcdoc=before+text(f.dataset.recording)+behind;"
	"const "
	"pages=()=>frames.map((f)=>f.contentWindow&&f.contentWindow.knuckle).filter((k)=>k&&k.end!==undefined);"
	"const "
	"play=document.getElementById('play'),slider=document.getElementById('time'),shown=document."
	"getElementById('shown');"
	"let time=0,running=!matchMedia('(prefers-reduced-motion: reduce)').matches,last=0;"
	"const mark=()=>{play.textContent=running?'pause':'play'};"
	"play.onclick=()=>{running=!running;mark()};"
	"slider.oninput=()=>{running=false;time=Number(slider.value);mark()};"
	"const tick=(now)=>{const all=pages(),end=Math.max(0,...all.map((k)=>k.end));slider.max=String(end);"
	"if(running&&all.length>0){time+=Math.min(.1,(now-last)/1e3);if(time>end)time=0}last=now;"
	"for(const k of all)k.seek(Math.min(time,k.end));"
	"slider.value=String(time);shown.textContent=time.toFixed(2)+' s';"
	"window.compared={time,runs:all.length};requestAnimationFrame(tick)};"
	"mark();requestAnimationFrame(tick);";

// --- files -----------------------------------------------------------------------------------------------------------

// The whole file with a zero behind it, to be freed; NULL when it is not there.
static char* readText(const char* path, size_t* size) {
	FILE* file = fopen(path, "rb");
	if (file == NULL) {
		return NULL;
	}
	char* text = NULL;
	if (fseek(file, 0, SEEK_END) == 0) {
		long end = ftell(file);
		rewind(file);
		text = end >= 0 ? malloc((size_t)end + 1) : NULL;
		*size = text != NULL ? fread(text, 1, (size_t)end, file) : 0;
	}
	fclose(file);
	if (text != NULL) {
		text[*size] = '\0';
	}
	return text;
}

static void writeEscaped(FILE* out, const char* text) {
	for (; *text != '\0'; ++text) {
		const char* escaped = *text == '&'   ? "&amp;"
							  : *text == '<' ? "&lt;"
							  : *text == '>' ? "&gt;"
							  : *text == '"' ? "&quot;"
											 : NULL;
		escaped != NULL ? fputs(escaped, out) : fputc(*text, out);
	}
}

static void writeBase64(FILE* out, const char* text, size_t size) {
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char* bytes = (const unsigned char*)text;
	for (size_t i = 0; i < size; i += 3) {
		size_t left = size - i;
		unsigned group = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0u) |
						 (left > 2 ? (unsigned)bytes[i + 2] : 0u);
		fputc(letters[group >> 18], out);
		fputc(letters[group >> 12 & 63], out);
		fputc(left > 1 ? letters[group >> 6 & 63] : '=', out);
		fputc(left > 2 ? letters[group & 63] : '=', out);
	}
}

// --- parts -----------------------------------------------------------------------------------------------------------

void cliComparePage_RunPath(const cliTempFolder* folder, int run, char* path, size_t capacity) {
	snprintf(path, capacity, "%s/run%d.html", folder->path, run);
}

void cliComparePage_Row(FILE* out, const char* label, const double* values, int count) {
	fputs("<tr><td>", out);
	writeEscaped(out, label);
	for (int i = 0; i < count; ++i) {
		isfinite(values[i]) ? fprintf(out, "<td>%.5g", values[i]) : fputs("<td>&ndash;", out);
	}
	fputs("\n", out);
}

void cliComparePage_Note(FILE* out, const char* text) {
	fputs("<p>", out);
	writeEscaped(out, text);
	fputs("\n", out);
}

static void writePlots(FILE* out, const cliComparePage* page, const cliTempFolder* folder) {
	fputs("<h2>Over time</h2>\n<div id=\"plots\">\n", out);
	for (int i = 0; i < page->plotCount; ++i) {
		char path[600];
		size_t size;
		snprintf(path, sizeof(path), "%s/%s.svg", folder->path, page->plots[i]);
		char* svg = readText(path, &size);
		const char* start = svg != NULL ? strstr(svg, "<svg") : NULL; // without the XML head
		if (start != NULL) {
			fputs(start, out);
		}
		free(svg);
	}
	fputs("</div>\n", out);
}

// Where the last recording of a page begins and ends; the program before it may well speak of one.
static bool findRecording(char* page, char** start, char** end) {
	*start = NULL;
	for (char* at = page; (at = strstr(at, RECORDING)) != NULL; ++at) {
		*start = at + strlen(RECORDING);
	}
	*end = *start != NULL ? strstr(*start, RECORDING_END) : NULL;
	return *end != NULL;
}

// The recordings of all runs that have one, with the program of the first. Returns how many there are.
static int writeRecordings(FILE* out, const cliComparePage* page, const cliTempFolder* folder) {
	int written = 0;
	for (int i = 0; i < page->runCount; ++i) {
		char path[600];
		size_t size;
		cliComparePage_RunPath(folder, i, path, sizeof(path));
		char *text = readText(path, &size), *start, *end;
		if (text != NULL && findRecording(text, &start, &end)) {
			if (written++ == 0) {
				fputs("<script type=\"text/plain\" id=\"before\">", out);
				writeBase64(out, text, (size_t)(start - text));
				fputs("</script>\n<script type=\"text/plain\" id=\"behind\">", out);
				writeBase64(out, end, size - (size_t)(end - text));
				fputs("</script>\n", out);
			}
			fprintf(out, "<script type=\"text/plain\" id=\"run%d\">%.*s</script>\n", i, (int)(end - start),
					start);
		}
		free(text);
	}
	return written;
}

static void writeFrames(FILE* out, const cliComparePage* page, const cliTempFolder* folder) {
	fputs("<h2>Side by side</h2>\n<div id=\"clock\"><button id=\"play\" type=\"button\">play</button>"
		  "<input id=\"time\" type=\"range\" min=\"0\" step=\"any\" value=\"0\" aria-label=\"time\">"
		  "<output id=\"shown\"></output></div>\n<div id=\"replays\">\n",
		  out);
	for (int i = 0; i < page->runCount; ++i) {
		char path[600];
		cliComparePage_RunPath(folder, i, path, sizeof(path));
		FILE* made = fopen(path, "rb");
		fputs("<figure><figcaption>", out);
		writeEscaped(out, page->runs[i]);
		fputs("</figcaption>", out);
		if (made != NULL) {
			fclose(made);
			fprintf(out, "<iframe data-recording=\"run%d\" data-wish=\"ui=0&amp;play=0\" title=\"", i);
			writeEscaped(out, page->runs[i]);
			fputs("\"></iframe>", out);
		} else {
			fputs("<p>cannot run this scene", out);
		}
		fputs("</figure>\n", out);
	}
	fputs("</div>\n", out);
}

// --- the whole -------------------------------------------------------------------------------------------------------

bool cliComparePage_Write(const cliComparePage* page, const cliTempFolder* folder, const char* path) {
	cliOutputFile file;
	if (!cliOutputFile_Open(&file, path)) {
		return false;
	}
	FILE* out = file.stream;
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\">"
		  "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
		  out);
	writeEscaped(out, page->title);
	fprintf(out, " compared - Knuckle</title>\n<style>%s</style>\n<h1>", STYLE);
	writeEscaped(out, page->title);
	fputs("</h1>\n", out);
	writeFrames(out, page, folder);
	fputs("<h2>Measures</h2>\n<table>\n<tr><th>", out);
	for (int i = 0; i < page->runCount; ++i) {
		fputs("<th>", out);
		writeEscaped(out, page->runs[i]);
	}
	fputs("\n", out);
	page->rows(out, page->context);
	fputs("</table>\n", out);
	writePlots(out, page, folder);
	if (writeRecordings(out, page, folder) > 0) {
		fprintf(out, "<script>%s</script>\n", SCRIPT);
	}
	return cliOutputFile_Commit(&file);
}
