// What was dropped on the page: files, or a folder with all that is in it; and which of them is the model.
export interface Dropped {
	name: string; // with folders, "/" between them
	bytes: Uint8Array;
}

async function ofFile(file: File, folder: string): Promise<Dropped> {
	return { name: folder + file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
}

async function ofEntry(entry: FileSystemEntry, folder: string): Promise<Dropped[]> {
	if (entry.name.startsWith(".")) {
		return [];
	}
	if (entry.isFile) {
		const file = await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail));
		return [await ofFile(file, folder)];
	}
	const reader = (entry as FileSystemDirectoryEntry).createReader();
	const all: Dropped[] = [];
	// a reader gives its entries a hundred at a time
	for (;;) {
		const entries = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
		if (entries.length === 0) {
			return all;
		}
		for (const inner of entries) {
			all.push(...await ofEntry(inner, `${folder}${entry.name}/`));
		}
	}
}

export async function allDropped(transfer: DataTransfer): Promise<Dropped[]> {
	// entries are there only while the event is: they are taken before anything is waited for
	const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null);
	const files = [...transfer.files];
	if (entries.some((entry) => entry?.isDirectory)) {
		return (await Promise.all(entries.map((entry) => (entry ? ofEntry(entry, "") : [])))).flat();
	}
	return allChosen(files);
}

export function allChosen(files: File[]): Promise<Dropped[]> {
	return Promise.all(files.map((file) => ofFile(file, "")));
}

export function kindOf(name: string): string {
	return name.toLowerCase().replace(/^.*\./, "");
}

// The model among the files: of several, the one that no other includes, that lies in the fewest folders, that is called
// "scene".
export function modelOf(all: Dropped[]): Dropped | null {
	const models = all.filter(({ name }) => ["xml", "urdf"].includes(kindOf(name)));
	if (models.length === 1) {
		return models[0];
	}
	const texts = models.map(({ bytes }) => new TextDecoder().decode(bytes));
	const base = (name: string) => name.replace(/^.*\//, "");
	const rank = ({ name }: Dropped) => [texts.some((text) => /<include\b/.test(text) && text.includes(`${base(name)}"`)) ? 1 : 0,
		name.split("/").length, /^scene\b/.test(base(name)) ? 0 : 1];
	return models.map((model) => ({ model, rank: rank(model) }))
		.filter(({ model }) => /<(mujoco|robot)\b/.test(texts[models.indexOf(model)]))
		.sort((a, b) => a.rank.map((v, i) => v - b.rank[i]).find((v) => v !== 0) ?? 0)[0]?.model ?? null;
}

// As `knuckle view` takes them (apps/cli/dropped_model.h).
export function packed(model: Dropped, all: Dropped[]): Blob {
	const folder = model.name.replace(/[^/]*$/, "");
	const parts: BlobPart[] = [];
	// what lies above the model's folder cannot be asked for by it
	for (const { name, bytes } of [model, ...all.filter((other) => other !== model)]) {
		if (name.startsWith(folder)) {
			parts.push(`${name.slice(folder.length)}\n${bytes.length}\n`, bytes as BlobPart);
		}
	}
	return new Blob(parts);
}
