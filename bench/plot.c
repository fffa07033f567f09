// Plots as SVG (plot.h).
#include "plot.h"

#include <math.h>
#include <stdio.h>

#include "output_file.h"

#define WIDTH 720.0
#define HEIGHT 440.0
#define LEFT 76.0
#define RIGHT 24.0
#define LEGEND_WIDTH 150.0 // beside the plot, where it hides nothing
#define TOP 44.0
#define BOTTOM 56.0
#define LEGEND_ROW 18.0

static const uint32_t palette[] = { 0x2f6db3, 0xc0443c, 0x2e8b7c, 0x8a5a9e, 0xd08a1e,
									0x4d5660, 0x7fa832, 0xb0567e, 0x39a6c9, 0x8c6d46 };

typedef struct Axis {
	double low, high; // as drawn: logarithms on a logarithmic axis
	bool log;
	double from, to; // on the page
} Axis;

typedef struct Page {
	FILE* out;
	const knPlot* plot;
	double right; // of the frame
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

// Room around the data; whole decades on a logarithmic axis.
static void widen(Axis* axis) {
	if (axis->log) {
		axis->low = floor(axis->low + 1e-9);
		axis->high = ceil(axis->high - 1e-9);
	}
	if (!(axis->high - axis->low > 1e-12 * fabs(axis->high))) {
		double room = axis->high == 0.0 ? 1.0 : 0.1 * fabs(axis->high);
		axis->low -= room;
		axis->high += room;
	} else if (!axis->log) {
		double room = 0.04 * (axis->high - axis->low);
		// an axis that begins at zero goes on to do so
		axis->low -= axis->low == 0.0 ? 0.0 : room;
		axis->high += room;
	}
}

static bool hasLegend(const knPlot* plot) {
	bool named = false;
	for (int s = 0; s < plot->seriesCount; ++s) {
		named = named || plot->series[s].name != NULL;
	}
	return named;
}

static void makeAxes(Page* page) {
	const knPlot* plot = page->plot;
	page->right = WIDTH - RIGHT - (hasLegend(plot) ? LEGEND_WIDTH : 0.0);
	page->x = (Axis){ 0.0, 1.0, plot->logX, LEFT, page->right };
	page->y = (Axis){ 0.0, 1.0, plot->logY, HEIGHT - BOTTOM, TOP };
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
	if (plot->equal) {
		double wide = (page->x.high - page->x.low) / (page->right - LEFT);
		double tall = (page->y.high - page->y.low) / (HEIGHT - BOTTOM - TOP);
		Axis* axis = wide > tall ? &page->y : &page->x;
		double grow = wide > tall ? wide / tall : tall / wide, middle = 0.5 * (axis->low + axis->high);
		axis->low = middle - grow * (middle - axis->low);
		axis->high = middle + grow * (axis->high - middle);
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
	if (!axis->log) {
		snprintf(text, capacity, "%.6g", fabs(at) < 1e-9 * step ? 0.0 : at);
	} else if (at >= -2.0 && at <= 3.0) {
		snprintf(text, capacity, "%g", pow(10.0, at));
	} else {
		snprintf(text, capacity, "1e%d", (int)at);
	}
}

static void drawTicks(Page* page, bool horizontal) {
	const Axis* axis = horizontal ? &page->x : &page->y;
	double step = axis->log ? fmax(1.0, ceil((axis->high - axis->low) / 8.0)) : tickStep(axis);
	for (double at = step * ceil(axis->low / step - 1e-9); at <= axis->high + 1e-9 * step; at += step) {
		double place = axis->from + (axis->to - axis->from) * (at - axis->low) / (axis->high - axis->low);
		char text[32];
		tickLabel(axis, at, step, text, sizeof(text));
		if (horizontal) {
			fprintf(page->out, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
					place, TOP, place, HEIGHT - BOTTOM);
			writeText(page, place, HEIGHT - BOTTOM + 18.0, "text-anchor=\"middle\"", text);
		} else {
			fprintf(page->out, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
					LEFT, place, page->right, place);
			writeText(page, LEFT - 8.0, place + 4.0, "text-anchor=\"end\"", text);
		}
	}
}

static void drawFrame(Page* page) {
	const knPlot* plot = page->plot;
	drawTicks(page, true);
	drawTicks(page, false);
	fprintf(page->out, "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", LEFT,
			TOP, page->right - LEFT, HEIGHT - BOTTOM - TOP);
	writeText(page, 0.5 * (LEFT + page->right), 26.0, "text-anchor=\"middle\" class=\"title\"", plot->title);
	writeText(page, 0.5 * (LEFT + page->right), HEIGHT - 14.0, "text-anchor=\"middle\"", plot->xLabel);
	char turn[96];
	double middle = 0.5 * (TOP + HEIGHT - BOTTOM);
	snprintf(turn, sizeof(turn), "text-anchor=\"middle\" transform=\"rotate(-90 18 %.1f)\"", middle);
	writeText(page, 18.0, middle, turn, plot->yLabel);
}

static uint32_t colorOf(const knPlot* plot, int s) {
	uint32_t color = plot->series[s].color;
	return color != 0 ? color : palette[s % (int)(sizeof(palette) / sizeof(palette[0]))];
}

static void drawLine(Page* page, int s) {
	const knPlotSeries* series = &page->plot->series[s];
	bool open = false;
	for (int i = 0; i < series->count; ++i) {
		if (!isDrawn(page->plot, series, i)) {
			open = open ? (fputs("\"/>\n", page->out), false) : false;
			continue;
		}
		if (!open) {
			fprintf(page->out, "<polyline class=\"line\" stroke=\"#%06x\" points=\"", colorOf(page->plot, s));
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
	const knPlotSeries* series = &page->plot->series[s];
	double half = series->count > 2000 ? 0.8 : 2.0;
	fprintf(page->out, "<path fill=\"#%06x\" fill-opacity=\"0.75\" d=\"", colorOf(page->plot, s));
	for (int i = 0; i < series->count; ++i) {
		if (!isDrawn(page->plot, series, i)) {
			continue;
		}
		double first = onPage(&page->x, xOf(series, i)), last = first, y = onPage(&page->y, series->y[i]);
		for (;
			 i + 1 < series->count && isDrawn(page->plot, series, i + 1) && series->y[i + 1] == series->y[i];
			 ++i) {
			double next = onPage(&page->x, xOf(series, i + 1));
			if (next < last || next > last + 2.0 * half) {
				break;
			}
			last = next;
		}
		double width = last - first + 2.0 * half;
		fprintf(page->out, "M%.1f %.1fh%.4gv%gh-%.4gz", first - half, y - half, width, 2.0 * half, width);
	}
	fputs("\"/>\n", page->out);
}

static void drawLegend(Page* page) {
	double y = TOP + 16.0;
	for (int s = 0; s < page->plot->seriesCount; ++s) {
		if (page->plot->series[s].name == NULL) {
			continue;
		}
		fprintf(page->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"4\" fill=\"#%06x\"/>\n",
				page->right + 14.0, y - 6.0, colorOf(page->plot, s));
		writeText(page, page->right + 34.0, y, "", page->plot->series[s].name);
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
	for (int s = 0; s < page->plot->seriesCount; ++s) {
		if (page->plot->series[s].style == KN_PLOT_LINE) {
			drawLine(page, s);
		} else {
			drawDots(page, s);
		}
	}
	drawLegend(page);
	fputs("</svg>\n", page->out);
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
