// Numbers for people: engineering prefixes where a unit takes them, few digits.
const PREFIXES: [number, string][] = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];

function digits(value: number): string {
	const size = Math.abs(value);
	if (size > 0 && (size < 1e-2 || size >= 1e6)) {
		return value.toExponential(1).replace("-", "−").replace("e+", "e");
	}
	return size === 0 ? "0" : size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
}

// "12.3 mm", "4.56 kJ", "17" (no unit)
export function withUnit(value: number, unit: string): string {
	if (!Number.isFinite(value)) {
		return "–";
	}
	if (unit === "") {
		return Number.isInteger(value) ? String(value) : digits(value);
	}
	const size = Math.abs(value);
	if (size < 1e-12) {
		return `0 ${unit}`;
	}
	const [scale, prefix] = PREFIXES.find(([s]) => size >= 0.9995 * s) ?? [1e-12, "p"];
	return `${digits(value / scale)} ${prefix}${unit}`;
}

// Digits after the point that write a number in full, up to a few.
function placesOf(value: number): number {
	for (let places = 0; places < 6; ++places) {
		const shifted = value * Math.pow(10, places);
		if (Math.abs(shifted - Math.round(shifted)) < 1e-3 && Math.round(shifted) !== 0) {
			return places;
		}
	}
	return 6;
}

// Labels of an axis: one prefix, or power of ten, for all of them, as many digits as their steps have.
export function axisLabels(values: number[], unit: string): string[] {
	const most = Math.max(...values.map(Math.abs), 0);
	const step = values.length > 1 ? Math.abs(values[1] - values[0]) : most || 1;
	if (unit === "" && most > 0 && (most < 1e-2 || most >= 1e6)) {
		const power = Math.floor(Math.log10(most) + 1e-9);
		const places = placesOf(step / Math.pow(10, power));
		return values.map((v) => (v === 0 ? "0" : `${(v / Math.pow(10, power)).toFixed(places)}e${power}`.replace("-", "−")));
	}
	const [scale, prefix] = unit === "" || most < 1e-12 ? [1, ""] : PREFIXES.find(([s]) => most >= 0.9995 * s) ?? [1e-12, "p"];
	const places = placesOf(step / scale);
	return values.map((v) => `${(v / scale).toFixed(places)}${unit === "" ? "" : ` ${prefix}${unit}`}`);
}

// What never changes stands above a zero line; what hardly does gets a band around it, so that noise in the last digit does not
// fill the plot.
export function yRange(series: { values: ArrayLike<number> }[]): [number, number] {
	let low = Infinity, high = -Infinity;
	for (const { values } of series) {
		for (let i = 0; i < values.length; ++i) {
			low = Math.min(low, values[i]);
			high = Math.max(high, values[i]);
		}
	}
	if (!(high >= low)) {
		return [0, 1];
	}
	const size = Math.max(Math.abs(low), Math.abs(high));
	if (high - low <= 1e-9 * size && size > 0) {
		return low > 0 ? [0, 1.25 * high] : [1.25 * low, 0];
	}
	low = low >= 0 && low < 0.5 * high ? 0 : low;
	const pad = Math.max(0.08 * (high - low), 1e-4 * size, size === 0 ? 1e-6 : 0);
	return [low === 0 ? 0 : low - pad, high + pad];
}
