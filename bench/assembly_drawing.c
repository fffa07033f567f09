// Drawings of assembly trees (assembly_drawing.h).
#include "assembly_drawing.h"

#include <stdlib.h>

#include "output_file.h"

#define LINK_WIDTH 26.0
#define LEVEL_HEIGHT 38.0
#define MARGIN 24.0
#define HEAD 44.0

typedef struct Page {
	const knAssembly* assembly;
	const knRegion* region;
	FILE* out;
	double *x, *y; // [nodeCount]
	bool* hidden;  // [nodeCount] inside a part of the front
} Page;

static bool isActive(const Page* page, int node) {
	return page->region == NULL || page->region->active[node];
}

// Leaves from left to right, joints in the middle of their parts; a part of the front takes the place of its links.
static int placeNodes(Page* page, int* levels) {
	const knAssembly* assembly = page->assembly;
	int leaves = 0;
	bool* all = calloc((size_t)assembly->count + 1, sizeof(bool));
	for (int i = 0; all != NULL && i < assembly->count; ++i) {
		all[i] = true;
	}
	knRegionWalk walk = { assembly->root, -1 };
	int node;
	for (knRegionStop stop;
		 all != NULL && (stop = knRegionWalk_Next(&walk, assembly, all, &node)) != KN_REGION_END;) {
		const knAssemblyNode* own = &assembly->nodes[node];
		if (stop == KN_REGION_FRONT) {
			page->x[node] = MARGIN + LINK_WIDTH * (leaves++ + 0.5);
		} else if (stop == KN_REGION_DONE) {
			page->x[node] = 0.5 * (page->x[own->left] + page->x[own->right]);
		}
	}
	free(all);
	*levels = 0;
	for (int k = assembly->count - 1; k >= 0; --k) {
		int joint = assembly->order[k],
			parts[2] = { assembly->nodes[joint].left, assembly->nodes[joint].right };
		for (int i = 0; i < 2; ++i) {
			page->y[parts[i]] = page->y[joint] + 1.0;
			page->hidden[parts[i]] = page->hidden[joint] || !isActive(page, joint);
			if (!page->hidden[parts[i]] && page->y[parts[i]] > *levels) {
				*levels = (int)page->y[parts[i]];
			}
		}
	}
	return leaves;
}

static double heightOf(const Page* page, int node) {
	return HEAD + LEVEL_HEIGHT * (page->y[node] + 0.5);
}

static void drawLines(const Page* page) {
	for (int joint = 0; joint < page->assembly->count; ++joint) {
		const int parts[2] = { page->assembly->nodes[joint].left, page->assembly->nodes[joint].right };
		for (int i = 0; i < 2 && !page->hidden[joint] && isActive(page, joint); ++i) {
			fprintf(page->out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#8a929b\"/>\n",
					page->x[joint], heightOf(page, joint), page->x[parts[i]], heightOf(page, parts[i]));
		}
	}
}

// A part: its links as one bar.
static void drawPart(const Page* page, int node) {
	const knAssemblyNode* own = &page->assembly->nodes[node];
	int leaves = own->links + (own->top < 0);
	double left = page->x[node], right = page->x[node];
	if (knAssembly_IsJoint(page->assembly, node)) {
		int first = node, last = node;
		while (knAssembly_IsJoint(page->assembly, first)) {
			first = page->assembly->nodes[first].left;
		}
		while (knAssembly_IsJoint(page->assembly, last)) {
			last = page->assembly->nodes[last].right;
		}
		left = page->x[first];
		right = page->x[last];
	}
	bool base = own->top < 0;
	fprintf(page->out,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"16\" rx=\"3\" fill=\"%s\" "
			"stroke=\"#4d5660\"/>\n",
			left - 0.42 * LINK_WIDTH, heightOf(page, node) - 8.0, right - left + 0.84 * LINK_WIDTH,
			base ? "#c9ced4" : "#e8ecf0");
	fprintf(page->out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"10\" text-anchor=\"middle\">",
			0.5 * (left + right), heightOf(page, node) + 3.5);
	if (knAssembly_IsJoint(page->assembly, node)) {
		fprintf(page->out, "%d links%s", leaves - base, base ? " and the base" : "");
	} else if (base) {
		fputs("base", page->out);
	} else {
		fprintf(page->out, "%d", own->top);
	}
	fputs("</text>\n", page->out);
}

static void drawNodes(const Page* page) {
	for (int node = 0; node < page->assembly->nodeCount; ++node) {
		if (page->hidden[node]) {
			continue;
		}
		if (!knAssembly_IsJoint(page->assembly, node) || !isActive(page, node)) {
			drawPart(page, node);
			continue;
		}
		fprintf(page->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"9\" fill=\"%s\" stroke=\"#4d5660\"/>\n",
				page->x[node], heightOf(page, node), page->region != NULL ? "#e07a3a" : "#bcd3ec");
		fprintf(page->out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"10\" text-anchor=\"middle\">%d</text>\n",
				page->x[node], heightOf(page, node) + 3.5, node);
	}
}

static bool drawPage(Page* page, const char* title, const char* path) {
	int levels, leaves = placeNodes(page, &levels);
	double width = 2.0 * MARGIN + LINK_WIDTH * leaves, height = HEAD + LEVEL_HEIGHT * (levels + 1) + 8.0;
	cliOutputFile file;
	if (!cliOutputFile_Open(&file, path)) {
		return false;
	}
	page->out = file.stream;
	fprintf(
		page->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
		"font-family=\"sans-serif\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
		"<text x=\"%.1f\" y=\"24\" font-size=\"13\">%s</text>\n",
		width, height, width, height, MARGIN, title);
	drawLines(page);
	drawNodes(page);
	fputs("</svg>\n", page->out);
	return cliOutputFile_Commit(&file);
}

bool knAssembly_Draw(const knAssembly* assembly, const knRegion* region, const char* title,
					 const char* folder, const char* name) {
	char path[1024];
	snprintf(path, sizeof(path), "%s/%s.svg", folder, name);
	size_t n = (size_t)assembly->nodeCount;
	Page page = { .assembly = assembly,
				  .region = region,
				  .x = calloc(n, sizeof(double)),
				  .y = calloc(n, sizeof(double)),
				  .hidden = calloc(n, sizeof(bool)) };
	bool done = page.x != NULL && page.y != NULL && page.hidden != NULL && drawPage(&page, title, path);
	free(page.x);
	free(page.y);
	free(page.hidden);
	return done;
}
