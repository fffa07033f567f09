// Small line drawings for buttons, on a grid of 24.
const DRAWINGS: Record<string, string> = {
	play: '<path class="solid" d="M7 4.5v15l12-7.5z"/>',
	pause: '<path d="M8 5v14M16 5v14" stroke-width="3.4"/>',
	back: '<path class="solid" d="M18 6v12l-9-6z"/><path d="M6 6v12"/>',
	forward: '<path class="solid" d="M6 6v12l9-6z"/><path d="M18 6v12"/>',
	start: '<path class="solid" d="M12 7v10l-6-5zM19 7v10l-6-5z"/><path d="M4 6v12"/>',
	loop: '<path d="M17 3l3 3-3 3M4 11V9a3 3 0 0 1 3-3h13M7 21l-3-3 3-3M20 13v2a3 3 0 0 1-3 3H4"/>',
	restart: '<path d="M5 4v5h5M5.6 9A8 8 0 1 1 4 13"/>',
	panel: '<path d="M4 6h16M4 12h16M4 18h16"/><circle class="solid" cx="9" cy="6" r="2"/><circle class="solid" cx="15" cy="12" r="2"/><circle class="solid" cx="8" cy="18" r="2"/>',
	fit: '<path d="M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5"/><circle cx="12" cy="12" r="2.4"/>',
	follow: '<circle cx="12" cy="12" r="6"/><path d="M12 2v5M12 17v5M2 12h5M17 12h5"/>',
	shadow: '<circle cx="10" cy="9" r="5.5"/><path d="M4 19.5c4 1.6 12 1.6 16 0" stroke-width="2.6"/>',
	grid: '<path d="M4 9h16M4 15h16M9 4v16M15 4v16"/>',
	plots: '<path d="M4 4v16h16"/><path d="M7 15l4-5 3 3 5-7"/>',
	theme: '<circle cx="12" cy="12" r="8"/><path class="solid" d="M12 4a8 8 0 0 1 0 16z"/>',
	active: '<path d="M3 15l5-5M11 10l5 5"/><circle class="solid" cx="9.5" cy="9" r="2.2"/><circle cx="18" cy="16.5" r="2.2"/>',
	info: '<circle cx="12" cy="12" r="8.5"/><path d="M12 11v5M12 7.6v.2" stroke-width="2.2"/>',
};

export function icon(name: string): string {
	return `<svg viewBox="0 0 24 24" aria-hidden="true">${DRAWINGS[name]}</svg>`;
}
