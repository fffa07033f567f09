// Numbers for people: engineering prefixes where a unit takes them, few digits.
const PREFIXES: [number, string][] = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];

function digits(value: number): string {
	const size = Math.abs(value);
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

// Labels of an axis: one prefix for all of them, as many digits as they need to differ.
export function axisLabels(values: number[], unit: string): string[] {
	const most = Math.max(...values.map(Math.abs), 0);
	const [scale, prefix] = unit === "" || most < 1e-12 ? [1, ""] : PREFIXES.find(([s]) => most >= 0.9995 * s) ?? [1e-12, "p"];
	const step = values.length > 1 ? Math.abs(values[1] - values[0]) / scale : 1;
	const places = Math.min(4, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
	return values.map((v) => `${(v / scale).toFixed(places)}${unit === "" ? "" : ` ${prefix}${unit}`}`);
}
