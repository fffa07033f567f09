// Plots as SVG: lines, dots and bars on linear or logarithmic axes, with ticks and a legend. Nothing but a text file, so that figures
// in the docs can be remade by a command and compared by a diff.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define KN_PLOT_MAX_SERIES 16

typedef enum knPlotStyle {
	KN_PLOT_LINE,
	KN_PLOT_DOTS,
	KN_PLOT_MARKED, // a line with a mark at each point
	KN_PLOT_DASHED, // the same, dashed
	KN_PLOT_BARS,   // y are lengths, one for each of the plot's bars, stacked from left to right
} knPlotStyle;

// Points that are not finite, or not positive on a logarithmic axis, are left out and break a line.
typedef struct knPlotSeries {
	const char* name; // NULL: not in the legend
	const double* x;  // NULL: 0, 1, 2, ...
	const double* y;
	int count;
	knPlotStyle style;
	uint32_t color; // 0: the next of the palette
} knPlotSeries;

typedef struct knPlot {
	const char *title, *xLabel, *yLabel;
	bool logX, logY;
	bool equal;                 // one scale for both axes
	bool downward;              // y grows downwards (matrices)
	double dotWidth, dotHeight; // of KN_PLOT_DOTS, as long as on linear axes; 0: small squares
	const char* const* bars;    // with KN_PLOT_BARS, and nothing else: their names, from the top
	int barCount;
	int seriesCount;
	knPlotSeries series[KN_PLOT_MAX_SERIES];
} knPlot;

// Of the palette, again from its start where it ends.
uint32_t knPlot_Color(int index);
// Adds a curve; ignored when full.
void knPlot_Add(knPlot* plot, knPlotStyle style, const char* name, const double* x, const double* y,
				int count);
// Writes FOLDER/NAME.svg. False after a complaint on standard error.
bool knPlot_Write(const knPlot* plot, const char* folder, const char* name);
