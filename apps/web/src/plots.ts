// The measures as plots under the scene: one for each name of a plot, with a line at the time that is shown. A click or
// drag in one seeks. Plots of nothing but zeros are folded away; those of a running scene grow.
import uPlot from "uplot";
import { axisLabels, withUnit, yRange } from "./format";
import type { Series } from "./recording";

const HEIGHT = 118;
const LOW = 84; // where there is room for two or three beside each other only
const NARROW = 620; // px
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

const NOTHING = 1e-11; // what rounding leaves of a zero, in any unit

function isNothing(series: Series): boolean {
	for (let i = 0; i < series.values.length; ++i) {
		if (Math.abs(series.values[i]) > NOTHING) {
			return false;
		}
	}
	return true;
}

// px that the longest label of a vertical axis needs.
function labelWidth(labels: string[] | null): number {
	return 14 + 6.4 * Math.max(4, ...(labels ?? []).map((label) => label.length));
}

// What is plotted: the curves, and the times that all plots show.
export interface Curves {
	readonly series: Series[];
	readonly span: [number, number];
}

export class Plots {
	private plots: Plot[] = [];
	private names = "";
	private wantedAtAll = true;
	private refreshed = 0;
	private shown = NaN; // the time that the lines tell

	constructor(private readonly root: HTMLElement, private readonly curves: Curves,
		private readonly seek: (time: number) => void) {
		this.build();
	}

	private wanted(): string[] {
		const { series } = this.curves;
		return [...new Set(series.map((s) => s.plot))].filter((name) => series.some((s) => s.plot === name && !isNothing(s)));
	}

	private tables(series: Series[]): uPlot.AlignedData {
		const tables = series.map((s) => [Array.from(s.times), Array.from(s.values)] as uPlot.AlignedData);
		return tables.length > 1 ? uPlot.join(tables) : tables[0];
	}

	// For curves that grow: new data, a few times a second.
	refresh(now: number, force = false): void {
		if (!force && now - this.refreshed < 250) {
			return;
		}
		this.refreshed = now;
		if (this.wanted().join() !== this.names) {
			this.build();
			return;
		}
		this.grow();
		this.update(this.shown);
	}

	private grow(): void {
		for (const plot of this.plots) {
			plot.chart.batch(() => {
				const [low, high] = yRange(plot.series), [from, to] = this.curves.span;
				plot.chart.setData(this.tables(plot.series), false);
				plot.chart.setScale("x", { min: from, max: Math.max(to, from + 1e-9) });
				plot.chart.setScale("y", { min: low, max: high });
			});
		}
	}

	private get height(): number {
		return innerWidth < NARROW ? LOW : HEIGHT;
	}

	private get empty(): boolean {
		return this.plots.length === 0;
	}

	set visible(on: boolean) {
		this.wantedAtAll = on;
		this.root.hidden = this.empty || !on;
	}

	// Again, for another theme.
	build(): void {
		this.root.replaceChildren();
		this.plots.forEach((plot) => plot.chart.destroy());
		const names = this.wanted();
		this.names = names.join();
		this.plots = names.map((name) => this.makePlot(name, this.curves.series.filter((s) => s.plot === name)));
		this.root.hidden = this.empty || !this.wantedAtAll;
		this.resize();
		this.update(this.shown);
	}

	private makePlot(name: string, series: Series[]): Plot {
		const frame = document.createElement("div");
		frame.className = "plot";
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
		const [from, to] = this.curves.span;
		const [low, high] = yRange(series);
		const data = this.tables(series);
		const axis = { stroke: style("--soft"), font: "11px system-ui, sans-serif", ticks: { show: false } };
		const grid = { stroke: style("--line"), width: 1 };
		return new uPlot({
			width: 240,
			height: this.height,
			legend: { show: false },
			cursor: { show: false },
			padding: [6, 30, 0, 0],
			scales: {
				x: { time: false, auto: false, min: from, max: Math.max(to, from + 1e-9) },
				y: { auto: false, min: low, max: high },
			},
			axes: [
				{ ...axis, grid: { show: false }, size: 22, gap: 2, space: 50, values: (_, v) => axisLabels(v, "s").map((label, i) => (i === 0 ? "" : label)) },
				{ ...axis, grid, size: (_, labels) => labelWidth(labels), gap: 4, space: 26, values: (_, v) => axisLabels(v, series[0].unit) },
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
			const width = Math.max(120, frame.clientWidth), { height } = this;
			if (Math.abs(chart.width - width) >= 1 || chart.height !== height) {
				chart.setSize({ width, height });
			}
		}
	}

	update(time: number): void {
		this.shown = time;
		for (const { chart, now, values, series } of this.plots) {
			now.style.transform = `translateX(${chart.valToPos(time, "x").toFixed(1)}px)`;
			series.forEach((s, i) => (values[i].textContent = withUnit(valueAt(s, time), s.unit)));
		}
	}
}
