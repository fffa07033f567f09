// The few system calls that the engine's C library makes, over files in memory: recorders write there, a dropped recording
// is read from there. Nothing reaches a disk or a network.

const ERRNO = { ok: 0, badf: 8, inval: 28, noent: 44 };
export const NOT_THERE = 52; // errno "no such function"
const ROOT = 3; // the one open folder, "/"

interface OpenFile {
	name: string;
	at: number;
}

class MemoryFile {
	bytes = new Uint8Array(1024);
	size = 0;

	write(at: number, data: Uint8Array): void {
		const end = at + data.length;
		if (end > this.bytes.length) {
			const larger = new Uint8Array(Math.max(end, 2 * this.bytes.length));
			larger.set(this.bytes.subarray(0, this.size));
			this.bytes = larger;
		}
		this.bytes.set(data, at);
		this.size = Math.max(this.size, end);
	}
}

export class Wasi {
	memory!: WebAssembly.Memory;
	said = ""; // what was printed
	private readonly files = new Map<string, MemoryFile>();
	private readonly open = new Map<number, OpenFile>();

	put(name: string, bytes: Uint8Array): void {
		const file = new MemoryFile();
		file.write(0, bytes);
		this.files.set(name, file);
	}

	// The bytes of a file, which is then gone.
	take(name: string): Uint8Array | null {
		const file = this.files.get(name);
		this.files.delete(name);
		return file ? file.bytes.slice(0, file.size) : null;
	}

	private view(): DataView {
		return new DataView(this.memory.buffer);
	}

	private text(at: number, length: number): string {
		return new TextDecoder().decode(new Uint8Array(this.memory.buffer, at, length)).replace(/^\.?\/+/, "");
	}

	// The parts of a scattered read or write.
	private parts(at: number, count: number): Uint8Array[] {
		const view = this.view();
		return Array.from({ length: count }, (_, i) =>
			new Uint8Array(this.memory.buffer, view.getUint32(at + 8 * i, true), view.getUint32(at + 8 * i + 4, true)));
	}

	private fileOf(fd: number): { open: OpenFile; file: MemoryFile } | null {
		const open = this.open.get(fd);
		const file = open && this.files.get(open.name);
		return open && file ? { open, file } : null;
	}

	readonly imports: Record<string, (...words: any[]) => number> = {
		clock_time_get: (_clock: number, _precision: bigint, at: number) => {
			this.view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
			return ERRNO.ok;
		},
		fd_close: (fd: number) => (this.open.delete(fd) ? ERRNO.ok : ERRNO.badf),
		fd_fdstat_get: (fd: number, at: number) => {
			const kind = fd === ROOT ? 3 : this.open.has(fd) ? 4 : fd <= 2 ? 2 : -1;
			if (kind < 0) {
				return ERRNO.badf;
			}
			const view = this.view();
			view.setUint8(at, kind);
			view.setUint16(at + 2, 0, true);
			view.setBigUint64(at + 8, 0xffffffffffffffffn, true);
			view.setBigUint64(at + 16, 0xffffffffffffffffn, true);
			return ERRNO.ok;
		},
		fd_fdstat_set_flags: () => ERRNO.ok,
		fd_prestat_get: (fd: number, at: number) => {
			if (fd !== ROOT) {
				return ERRNO.badf;
			}
			this.view().setUint32(at, 0, true);
			this.view().setUint32(at + 4, 1, true);
			return ERRNO.ok;
		},
		fd_prestat_dir_name: (fd: number, at: number) => {
			new Uint8Array(this.memory.buffer)[at] = 47;
			return fd === ROOT ? ERRNO.ok : ERRNO.badf;
		},
		fd_read: (fd: number, at: number, count: number, done: number) => {
			const found = this.fileOf(fd);
			let total = 0;
			for (const part of found ? this.parts(at, count) : []) {
				const from = found!.open.at, length = Math.max(0, Math.min(part.length, found!.file.size - from));
				part.set(found!.file.bytes.subarray(from, from + length));
				found!.open.at += length;
				total += length;
			}
			this.view().setUint32(done, total, true);
			return found ? ERRNO.ok : ERRNO.badf;
		},
		fd_seek: (fd: number, offset: bigint, whence: number, at: number) => {
			const found = this.fileOf(fd);
			if (!found) {
				return ERRNO.badf;
			}
			const base = whence === 0 ? 0 : whence === 1 ? found.open.at : found.file.size;
			found.open.at = base + Number(offset);
			this.view().setBigUint64(at, BigInt(found.open.at), true);
			return found.open.at >= 0 ? ERRNO.ok : ERRNO.inval;
		},
		fd_write: (fd: number, at: number, count: number, done: number) => {
			const found = this.fileOf(fd);
			let total = 0;
			for (const part of this.parts(at, count)) {
				if (found) {
					found.file.write(found.open.at, part);
					found.open.at += part.length;
				} else if (fd === 1 || fd === 2) {
					this.said = (this.said + new TextDecoder().decode(part)).slice(-4000);
				} else {
					return ERRNO.badf;
				}
				total += part.length;
			}
			this.view().setUint32(done, total, true);
			return ERRNO.ok;
		},
		path_filestat_get: (_fd: number, _flags: number, at: number, length: number, out: number) => {
			const file = this.files.get(this.text(at, length));
			if (!file) {
				return ERRNO.noent;
			}
			new Uint8Array(this.memory.buffer, out, 64).fill(0);
			this.view().setUint8(out + 16, 4);
			this.view().setBigUint64(out + 32, BigInt(file.size), true);
			return ERRNO.ok;
		},
		path_open: (_fd: number, _look: number, at: number, length: number, how: number, _base: bigint, _inherit: bigint,
			_flags: number, out: number) => {
			const name = this.text(at, length);
			const create = (how & 1) !== 0, empty = (how & 8) !== 0;
			if (!this.files.has(name) && !create) {
				return ERRNO.noent;
			}
			if (!this.files.has(name) || empty) {
				this.files.set(name, new MemoryFile());
			}
			let fd = ROOT + 1;
			while (this.open.has(fd)) {
				fd += 1;
			}
			this.open.set(fd, { name, at: 0 });
			this.view().setUint32(out, fd, true);
			return ERRNO.ok;
		},
		path_remove_directory: () => ERRNO.noent,
		path_rename: (_fd: number, at: number, length: number, _to: number, newAt: number, newLength: number) => {
			const name = this.text(at, length), file = this.files.get(name);
			if (!file) {
				return ERRNO.noent;
			}
			this.files.delete(name);
			this.files.set(this.text(newAt, newLength), file);
			return ERRNO.ok;
		},
		path_unlink_file: (_fd: number, at: number, length: number) =>
			(this.files.delete(this.text(at, length)) ? ERRNO.ok : ERRNO.noent),
		proc_exit: (status: number) => {
			throw new Error(`the engine ended itself (status ${status}): ${this.said}`);
		},
	};
}
