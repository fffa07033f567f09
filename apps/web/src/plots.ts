// The measures as plots under the scene: one for each name of a plot, with a line at the time that is shown. A click or
// drag in one seeks.
import uPlot from "uplot";
import { axisLabels, withUnit } from "./format";
import type { Recording, Series } from "./recording";

const HEIGHT = 118;
const COLORS = ["#3b82c4", "#e07b2f", "#4f9d69", "#b05fa8"];

interface Plot {
	chart: uPlot;
	frame: HTMLElement;
	now: HTMLElement;
	values: HTMLElement[];
	series: Series[];
}

function style(name: string): string {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// The value that held at a time: the last sample at or before it.
function valueAt(series: Series, time: number): number {
	let low = 0, high = series.times.length - 1;
	if (high < 0) {
		return NaN;
	}
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (series.times[middle] <= time + 1e-9) {
			low = middle;
		} else {
			high = middle - 1;
		}
	}
	return series.values[low];
}

// Flat lines get a band around them, so that noise in the last digit does not fill the plot.
function yRange(series: Series[]): [number, number] {
	let low = Infinity, high = -Infinity;
	for (const { values } of series) {
		for (const value of values) {
			low = Math.min(low, value);
			high = Math.max(high, value);
		}
	}
	if (!(high >= low)) {
		return [0, 1];
	}
	const size = Math.max(Math.abs(low), Math.abs(high));
	low = low >= 0 && low < 0.5 * high ? 0 : low;
	const pad = Math.max(0.08 * (high - low), 1e-4 * size, size === 0 ? 1e-6 : 0);
	return [low === 0 ? 0 : low - pad, high + pad];
}

export class Plots {
	private plots: Plot[] = [];

	constructor(private readonly root: HTMLElement, private readonly recording: Recording,
		private readonly seek: (time: number) => void) {
		this.build();
	}

	get empty(): boolean {
		return this.plots.length === 0;
	}

	// Again, for another theme.
	build(): void {
		this.root.replaceChildren();
		this.plots.forEach((plot) => plot.chart.destroy());
		const names = [...new Set(this.recording.series.map((s) => s.plot))];
		this.plots = names.map((name) => this.makePlot(name, this.recording.series.filter((s) => s.plot === name)));
		this.root.hidden = this.empty;
		this.resize();
	}

	private makePlot(name: string, series: Series[]): Plot {
		const frame = document.createElement("div");
		frame.className = series.length > 1 ? "plot several" : "plot";
		const head = document.createElement("h2");
		head.append(name);
		const values = series.map((s, i) => {
			const item = document.createElement("span");
			if (series.length > 1) {
				const mark = document.createElement("i");
				mark.style.background = COLORS[i % COLORS.length];
				item.append(mark, `${s.name} `);
			}
			const value = document.createElement("span");
			item.append(value);
			head.append(item);
			return value;
		});
		frame.append(head);
		this.root.append(frame);
		const chart = this.makeChart(frame, series);
		const now = document.createElement("div");
		now.className = "now";
		chart.over.append(now);
		this.listen(chart);
		return { chart, frame, now, values, series };
	}

	private makeChart(frame: HTMLElement, series: Series[]): uPlot {
		const times = this.recording.times;
		const [low, high] = yRange(series);
		const tables = series.map((s) => [Array.from(s.times), Array.from(s.values)] as uPlot.AlignedData);
		const data = tables.length > 1 ? uPlot.join(tables) : tables[0];
		const axis = { stroke: style("--soft"), font: "11px system-ui, sans-serif", ticks: { show: false } };
		const grid = { stroke: style("--line"), width: 1 };
		return new uPlot({
			width: 240,
			height: HEIGHT,
			legend: { show: false },
			cursor: { show: false },
			padding: [6, 8, 0, 0],
			scales: {
				x: { time: false, range: [times[0], Math.max(times[times.length - 1], times[0] + 1e-9)] },
				y: { range: [low, high] },
			},
			axes: [
				{ ...axis, grid: { show: false }, size: 22, gap: 2, space: 50, values: (_, v) => axisLabels(v, "s").map((label, i) => (i === 0 ? "" : label)) },
				{ ...axis, grid, size: 64, gap: 4, space: 26, values: (_, v) => axisLabels(v, series[0].unit) },
			],
			series: [{}, ...series.map((_, i) => ({
				stroke: COLORS[i % COLORS.length], width: 1.5, points: { show: false }, spanGaps: true }))],
		}, data, frame);
	}

	private listen(chart: uPlot): void {
		const over = chart.over;
		const at = (event: PointerEvent) => this.seek(chart.posToVal(event.clientX - over.getBoundingClientRect().left, "x"));
		over.addEventListener("pointerdown", (event) => {
			over.setPointerCapture(event.pointerId);
			at(event);
		});
		over.addEventListener("pointermove", (event) => {
			if (over.hasPointerCapture(event.pointerId)) {
				at(event);
			}
		});
	}

	resize(): void {
		for (const { chart, frame } of this.plots) {
			const width = Math.max(120, frame.clientWidth);
			if (Math.abs(chart.width - width) >= 1) {
				chart.setSize({ width, height: HEIGHT });
			}
		}
	}

	update(time: number): void {
		for (const { chart, now, values, series } of this.plots) {
			now.style.transform = `translateX(${chart.valToPos(time, "x").toFixed(1)}px)`;
			series.forEach((s, i) => (values[i].textContent = withUnit(valueAt(s, time), s.unit)));
		}
	}
}
