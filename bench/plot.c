// Plots as SVG (plot.h).
#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output_file.h"

#define WIDTH 720.0
#define HEIGHT 440.0
#define LEFT 76.0
#define RIGHT 24.0
#define LETTER 6.4       // width of one, about
#define LEGEND_MARK 34.0 // in front of a name
#define TOP 44.0
#define BOTTOM 56.0
#define LEGEND_ROW 18.0

static const uint32_t palette[] = { 0x2f6db3, 0xc0443c, 0x2e8b7c, 0x8a5a9e, 0xd08a1e, 0x4d5660,
									0x7fa832, 0xb0567e, 0x39a6c9, 0x8c6d46, 0x1c3f66, 0xe07a9a };

typedef struct Axis {
	double low, high; // as drawn: logarithms on a logarithmic axis
	bool log;
	double from, to; // on the page
} Axis;

typedef struct Page {
	FILE* out;
	const knPlot* plot;
	double left, right; // of the frame
	Axis x, y;
} Page;

// --- scales ----------------------------------------------------------------------------------------------------

static bool canDraw(double value, bool log) {
	return isfinite(value) && (!log || value > 0.0);
}

static double scaled(const Axis* axis, double value) {
	return axis->log ? log10(value) : value;
}

static double onPage(const Axis* axis, double value) {
	return axis->from +
		   (axis->to - axis->from) * (scaled(axis, value) - axis->low) / (axis->high - axis->low);
}

// On the page, of one unit on a linear axis.
static double slope(const Axis* axis) {
	return (axis->to - axis->from) / (axis->high - axis->low);
}

static double xOf(const knPlotSeries* series, int i) {
	return series->x != NULL ? series->x[i] : (double)i;
}

static bool isDrawn(const knPlot* plot, const knPlotSeries* series, int i) {
	return canDraw(xOf(series, i), plot->logX) && canDraw(series->y[i], plot->logY);
}

static void include(Axis* axis, bool first, double value) {
	double v = scaled(axis, value);
	axis->low = first || v < axis->low ? v : axis->low;
	axis->high = first || v > axis->high ? v : axis->high;
}

// 1, 2 and 5 times powers of ten, by their logarithms: the k-th above 1.
static double rung(int k) {
	static const double parts[] = { 0.0, 0.30102999566398120, 0.69897000433601880 };
	int decade = (int)floor(k / 3.0);
	return decade + parts[k - 3 * decade];
}

static int rungBelow(double value) {
	int k = 3 * (int)floor(value) + 3;
	while (rung(k) > value + 1e-9) {
		k -= 1;
	}
	return k;
}

// A logarithmic axis of at most two decades has ticks within them.
static bool hasRungs(const Axis* axis) {
	return axis->log && axis->high - axis->low < 2.0 + 1e-9;
}

static void widenLog(Axis* axis) {
	if (hasRungs(axis)) {
		int low = rungBelow(axis->low), high = rungBelow(axis->high);
		axis->low = rung(low);
		axis->high = rung(rung(high) < axis->high - 1e-9 || high == low ? high + 1 : high);
	} else {
		axis->low = floor(axis->low + 1e-9);
		axis->high = ceil(axis->high - 1e-9);
	}
}

// Room around the data.
static void widen(Axis* axis) {
	if (axis->log) {
		widenLog(axis);
	} else if (!(axis->high - axis->low > 1e-12 * fabs(axis->high))) {
		double room = axis->high == 0.0 ? 1.0 : 0.1 * fabs(axis->high);
		axis->low -= room;
		axis->high += room;
	} else {
		double room = 0.04 * (axis->high - axis->low);
		// an axis that begins at zero goes on to do so
		axis->low -= axis->low == 0.0 ? 0.0 : room;
		axis->high += room;
	}
}

static double textWidth(const char* text) {
	return LETTER * (double)strlen(text);
}

// Beside the plot, where it hides nothing; 0: no curve has a name.
static double legendWidth(const knPlot* plot) {
	double width = 0.0;
	for (int s = 0; s < plot->seriesCount; ++s) {
		const char* name = plot->series[s].name;
		width = name != NULL ? fmax(width, LEGEND_MARK + textWidth(name)) : width;
	}
	return width;
}

static bool isBars(const knPlot* plot) {
	return plot->barCount > 0;
}

// Of all that is drawn.
static void includeSeries(Page* page) {
	const knPlot* plot = page->plot;
	bool first = true;
	for (int s = 0; s < plot->seriesCount; ++s) {
		const knPlotSeries* series = &plot->series[s];
		for (int i = 0; i < series->count; ++i) {
			if (isDrawn(plot, series, i)) {
				include(&page->x, first, xOf(series, i));
				include(&page->y, first, series->y[i]);
				first = false;
			}
		}
	}
	widen(&page->x);
	widen(&page->y);
}

static double barLength(const knPlotSeries* series, int bar) {
	bool drawn = bar < series->count && isfinite(series->y[bar]) && series->y[bar] > 0.0;
	return drawn ? series->y[bar] : 0.0;
}

// The longest bar; names to the left of the frame.
static void includeBars(Page* page) {
	const knPlot* plot = page->plot;
	double longest = 0.0, name = 0.0;
	for (int i = 0; i < plot->barCount; ++i) {
		double length = 0.0;
		for (int s = 0; s < plot->seriesCount; ++s) {
			length += barLength(&plot->series[s], i);
		}
		longest = fmax(longest, length);
		name = fmax(name, textWidth(plot->bars[i]));
	}
	page->left = fmax(page->left, name + 24.0);
	page->x.from = page->left;
	page->x.high = longest > 0.0 ? longest : 1.0;
	page->y.from = TOP;
	page->y.to = HEIGHT - BOTTOM;
	page->y.high = plot->barCount;
}

// One scale for both axes: the shorter one is widened.
static void equalize(Page* page) {
	double wide = (page->x.high - page->x.low) / (page->right - page->left);
	double tall = (page->y.high - page->y.low) / (HEIGHT - BOTTOM - TOP);
	Axis* axis = wide > tall ? &page->y : &page->x;
	double grow = wide > tall ? wide / tall : tall / wide, middle = 0.5 * (axis->low + axis->high);
	axis->low = middle - grow * (middle - axis->low);
	axis->high = middle + grow * (axis->high - middle);
}

static void makeAxes(Page* page) {
	const knPlot* plot = page->plot;
	page->left = LEFT;
	page->right = WIDTH - RIGHT - legendWidth(plot);
	page->x = (Axis){ 0.0, 1.0, plot->logX, LEFT, page->right };
	page->y = (Axis){ 0.0, 1.0, plot->logY, HEIGHT - BOTTOM, TOP };
	if (isBars(plot)) {
		includeBars(page);
		return;
	}
	includeSeries(page);
	if (plot->equal) {
		equalize(page);
	}
	if (plot->downward) {
		page->y.from = TOP;
		page->y.to = HEIGHT - BOTTOM;
	}
}

// --- drawing ---------------------------------------------------------------------------------------------------

static void writeText(Page* page, double x, double y, const char* style, const char* text) {
	fprintf(page->out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
	for (; *text != '\0'; ++text) {
		const char* escaped = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : NULL;
		if (escaped != NULL) {
			fputs(escaped, page->out);
		} else {
			fputc(*text, page->out);
		}
	}
	fputs("</text>\n", page->out);
}

// 1, 2 or 5 times a power of ten, about six to an axis.
static double tickStep(const Axis* axis) {
	double raw = (axis->high - axis->low) / 6.0, power = pow(10.0, floor(log10(raw)));
	double lead = raw / power;
	return power * (lead < 1.5 ? 1.0 : lead < 3.5 ? 2.0 : lead < 7.5 ? 5.0 : 10.0);
}

static void tickLabel(const Axis* axis, double at, double step, char* text, size_t capacity) {
	double decade = floor(at + 1e-9);
	if (!axis->log) {
		snprintf(text, capacity, "%.6g", fabs(at) < 1e-9 * step ? 0.0 : at);
	} else if (at > -3.0 && at < 4.0) {
		snprintf(text, capacity, "%.6g", pow(10.0, at));
	} else {
		snprintf(text, capacity, "%.0fe%d", pow(10.0, at - decade), (int)decade);
	}
}

static void drawTick(Page* page, bool horizontal, double at, double step) {
	const Axis* axis = horizontal ? &page->x : &page->y;
	double place = axis->from + (axis->to - axis->from) * (at - axis->low) / (axis->high - axis->low);
	char text[32];
	tickLabel(axis, at, step, text, sizeof(text));
	if (horizontal) {
		fprintf(page->out, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", place,
				TOP, place, HEIGHT - BOTTOM);
		writeText(page, place, HEIGHT - BOTTOM + 18.0, "text-anchor=\"middle\"", text);
	} else {
		fprintf(page->out, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
				page->left, place, page->right, place);
		writeText(page, page->left - 8.0, place + 4.0, "text-anchor=\"end\"", text);
	}
}

static void drawTicks(Page* page, bool horizontal) {
	const Axis* axis = horizontal ? &page->x : &page->y;
	if (hasRungs(axis)) {
		for (int k = rungBelow(axis->low); rung(k) <= axis->high + 1e-9; ++k) {
			drawTick(page, horizontal, rung(k), 1.0);
		}
		return;
	}
	double step = axis->log ? fmax(1.0, ceil((axis->high - axis->low) / 8.0)) : tickStep(axis);
	for (double at = step * ceil(axis->low / step - 1e-9); at <= axis->high + 1e-9 * step; at += step) {
		drawTick(page, horizontal, at, step);
	}
}

static void drawFrame(Page* page) {
	const knPlot* plot = page->plot;
	drawTicks(page, true);
	if (!isBars(plot)) {
		drawTicks(page, false);
	}
	fprintf(page->out, "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
			page->left, TOP, page->right - page->left, HEIGHT - BOTTOM - TOP);
	double center = 0.5 * (page->left + page->right);
	writeText(page, center, 26.0, "text-anchor=\"middle\" class=\"title\"", plot->title);
	writeText(page, center, HEIGHT - 14.0, "text-anchor=\"middle\"", plot->xLabel);
	if (plot->yLabel == NULL) {
		return;
	}
	char turn[96];
	double middle = 0.5 * (TOP + HEIGHT - BOTTOM);
	snprintf(turn, sizeof(turn), "text-anchor=\"middle\" transform=\"rotate(-90 18 %.1f)\"", middle);
	writeText(page, 18.0, middle, turn, plot->yLabel);
}

static uint32_t colorOf(const knPlot* plot, int s) {
	uint32_t color = plot->series[s].color;
	return color != 0 ? color : knPlot_Color(s);
}

static void drawLine(Page* page, int s) {
	const knPlotSeries* series = &page->plot->series[s];
	const char* dashes = series->style == KN_PLOT_DASHED ? " stroke-dasharray=\"6 4\"" : "";
	bool open = false;
	for (int i = 0; i < series->count; ++i) {
		if (!isDrawn(page->plot, series, i)) {
			open = open ? (fputs("\"/>\n", page->out), false) : false;
			continue;
		}
		if (!open) {
			fprintf(page->out, "<polyline class=\"line\" stroke=\"#%06x\"%s points=\"",
					colorOf(page->plot, s), dashes);
			open = true;
		}
		fprintf(page->out, "%.1f,%.1f ", onPage(&page->x, xOf(series, i)), onPage(&page->y, series->y[i]));
	}
	if (open) {
		fputs("\"/>\n", page->out);
	}
}

// Small squares in one path: a matrix may have thousands. Neighbours of a row that overlap become one bar.
static void drawDots(Page* page, int s) {
	const knPlot* plot = page->plot;
	const knPlotSeries* series = &plot->series[s];
	double side = series->count > 2000 ? 1.6 : 4.0;
	double wide = plot->dotWidth > 0.0 ? plot->dotWidth * fabs(slope(&page->x)) : side;
	double tall = plot->dotHeight > 0.0 ? plot->dotHeight * fabs(slope(&page->y)) : side;
	fprintf(page->out, "<path fill=\"#%06x\" fill-opacity=\"0.75\" d=\"", colorOf(plot, s));
	for (int i = 0; i < series->count; ++i) {
		if (!isDrawn(plot, series, i)) {
			continue;
		}
		double first = onPage(&page->x, xOf(series, i)), last = first, y = onPage(&page->y, series->y[i]);
		for (; i + 1 < series->count && isDrawn(plot, series, i + 1) && series->y[i + 1] == series->y[i];
			 ++i) {
			double next = onPage(&page->x, xOf(series, i + 1));
			if (next < last || next > last + wide) {
				break;
			}
			last = next;
		}
		double width = last - first + wide;
		fprintf(page->out, "M%.1f %.1fh%.4gv%.4gh-%.4gz", first - 0.5 * wide, y - 0.5 * tall, width, tall,
				width);
	}
	fputs("\"/>\n", page->out);
}

static void drawMarks(Page* page, int s) {
	const knPlotSeries* series = &page->plot->series[s];
	for (int i = 0; i < series->count; ++i) {
		if (isDrawn(page->plot, series, i)) {
			fprintf(page->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.8\" fill=\"#%06x\"/>\n",
					onPage(&page->x, xOf(series, i)), onPage(&page->y, series->y[i]), colorOf(page->plot, s));
		}
	}
}

// With the length in each part that has room for it.
static void drawBars(Page* page) {
	const knPlot* plot = page->plot;
	for (int i = 0; i < plot->barCount; ++i) {
		double top = onPage(&page->y, i + 0.18), height = onPage(&page->y, i + 0.82) - top, sum = 0.0;
		writeText(page, page->left - 10.0, top + 0.5 * height + 4.0, "text-anchor=\"end\"", plot->bars[i]);
		for (int s = 0; s < plot->seriesCount; ++s) {
			double length = barLength(&plot->series[s], i);
			double from = onPage(&page->x, sum), to = onPage(&page->x, sum + length);
			sum += length;
			fprintf(page->out,
					"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#%06x\"/>\n", from,
					top, to - from, height, colorOf(plot, s));
			char text[32];
			snprintf(text, sizeof(text), length < 10.0 ? "%.1f" : "%.0f", length);
			if (to - from > textWidth(text) + 6.0) {
				writeText(page, 0.5 * (from + to), top + 0.5 * height + 4.0,
						  "text-anchor=\"middle\" fill=\"#fff\"", text);
			}
		}
	}
}

static void drawSeries(Page* page, int s) {
	switch (page->plot->series[s].style) {
	case KN_PLOT_DOTS:
		drawDots(page, s);
		break;
	case KN_PLOT_LINE:
		drawLine(page, s);
		break;
	case KN_PLOT_MARKED:
	case KN_PLOT_DASHED:
		drawLine(page, s);
		drawMarks(page, s);
		break;
	case KN_PLOT_BARS:
		break; // all together
	}
}

static void drawLegend(Page* page) {
	double y = TOP + 16.0;
	for (int s = 0; s < page->plot->seriesCount; ++s) {
		const knPlotSeries* series = &page->plot->series[s];
		if (series->name == NULL) {
			continue;
		}
		double x = page->right + 12.0;
		if (series->style == KN_PLOT_DASHED) {
			fprintf(page->out,
					"<path d=\"M%.1f %.1fh16\" stroke=\"#%06x\" stroke-width=\"2.5\" "
					"stroke-dasharray=\"6 4\"/>\n",
					x, y - 4.0, colorOf(page->plot, s));
		} else {
			double height = series->style == KN_PLOT_BARS ? 12.0 : 4.0;
			fprintf(page->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"16\" height=\"%g\" fill=\"#%06x\"/>\n", x,
					y - 4.0 - 0.5 * height, height, colorOf(page->plot, s));
		}
		writeText(page, page->right + LEGEND_MARK, y, "", series->name);
		y += LEGEND_ROW;
	}
}

static void drawPage(Page* page) {
	fprintf(page->out,
			"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" "
			"font-size=\"12\" "
			"fill=\"#333\">\n<style>.grid{stroke:#e6e6e6}.frame{fill:none;stroke:#999}"
			".line{fill:none;stroke-width:1.6;stroke-linejoin:round}.title{font-size:15px}</style>\n<rect "
			"width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
			WIDTH, HEIGHT);
	makeAxes(page);
	drawFrame(page);
	if (isBars(page->plot)) {
		drawBars(page);
	}
	for (int s = 0; s < page->plot->seriesCount; ++s) {
		drawSeries(page, s);
	}
	drawLegend(page);
	fputs("</svg>\n", page->out);
}

uint32_t knPlot_Color(int index) {
	return palette[index % (int)(sizeof(palette) / sizeof(palette[0]))];
}

void knPlot_Add(knPlot* plot, knPlotStyle style, const char* name, const double* x, const double* y,
				int count) {
	if (plot->seriesCount < KN_PLOT_MAX_SERIES) {
		plot->series[plot->seriesCount++] = (knPlotSeries){ name, x, y, count, style, 0 };
	}
}

bool knPlot_Write(const knPlot* plot, const char* folder, const char* name) {
	char path[1024];
	snprintf(path, sizeof(path), "%s/%s.svg", folder, name);
	cliOutputFile file;
	if (!cliCanWrite(path) || !cliOutputFile_Open(&file, path)) {
		return false;
	}
	Page page = { .out = file.stream, .plot = plot };
	drawPage(&page);
	return cliOutputFile_Commit(&file);
}
