// Which joints of a hybrid body are active: sets of joints that hold the root of the assembly tree, and the choice of
// those that matter by a priority queue (Redon, Galoppo and Lin 2005). See hybrid.h.
//
// The queue holds parts; the one with the largest key is cut next: its joint becomes active, and its two parts go into the
// queue. The key of a part is the sum of the scores of all candidates in it, so a joint far down draws the joints above it.
#include "articulated/hybrid.h"
#include "articulated/part_queue.h"

// --- walks -------------------------------------------------------------------------------------------------

knRegionStop knRegionWalk_Next(knRegionWalk* walk, const knAssembly* assembly, const bool* active, int* at) {
	while (walk->node >= 0) {
		int node = walk->node, from = walk->from;
		const knAssemblyNode* own = &assembly->nodes[node];
		walk->from = *at = node;
		if (!knAssembly_IsJoint(assembly, node) || !active[node]) {
			walk->node = own->parent;
			return KN_REGION_FRONT;
		}
		if (from == own->left) {
			walk->node = own->right;
			return KN_REGION_JOINT;
		}
		if (from == own->right) {
			walk->node = own->parent;
			return KN_REGION_DONE;
		}
		walk->node = own->left;
	}
	return KN_REGION_END;
}

// --- regions -----------------------------------------------------------------------------------------------

bool knRegion_Init(knRegion* region, const knAssembly* assembly, int capacity, const knAllocator* allocator) {
	size_t n = (size_t)assembly->count;
	*region = (knRegion){ .capacity = capacity < assembly->count ? capacity : assembly->count };
	region->joints = knAllocArray(allocator, (size_t)region->capacity, sizeof(int));
	region->active = knAllocZero(allocator, n * sizeof(bool));
	return (region->joints != NULL || region->capacity == 0) && (region->active != NULL || n == 0);
}

void knRegion_Free(knRegion* region, const knAssembly* assembly, const knAllocator* allocator) {
	knFree(allocator, region->joints, (size_t)region->capacity * sizeof(int));
	knFree(allocator, region->active, (size_t)assembly->count * sizeof(bool));
	*region = (knRegion){ 0 };
}

void knRegion_Clear(knRegion* region) {
	for (int k = 0; k < region->count; ++k) {
		region->active[region->joints[k]] = false;
	}
	region->count = 0;
}

static void addJoint(knRegion* region, int joint) {
	KN_ASSERT(region->count < region->capacity);
	region->active[joint] = true;
	region->joints[region->count++] = joint;
}

void knRegion_Copy(const knRegion* from, knRegion* to) {
	knRegion_Clear(to);
	for (int k = 0; k < from->count && k < to->capacity; ++k) {
		addJoint(to, from->joints[k]);
	}
}

// Lists the joints left parts before right parts, whatever the order of choice was.
static void sortJoints(const knAssembly* assembly, knRegion* region) {
	knRegionWalk walk = { assembly->root, -1 };
	int node, count = 0;
	for (knRegionStop stop;
		 (stop = knRegionWalk_Next(&walk, assembly, region->active, &node)) != KN_REGION_END;) {
		if (stop == KN_REGION_JOINT) {
			region->joints[count++] = node;
		}
	}
	KN_ASSERT(count == region->count);
}

void knRegion_Take(const knAssembly* assembly, const int* joints, int count, knRegion* region) {
	knRegion_Clear(region);
	for (int k = 0; k < count; ++k) {
		addJoint(region, joints[k]);
	}
	sortJoints(assembly, region);
}

// --- choice ------------------------------------------------------------------------------------------------

static bool isFree(const knHybrid* hybrid, int joint) {
	return hybrid->tree->nodes[joint].nv == 6;
}

typedef struct Choice {
	knHybrid* hybrid;
	const bool* candidates; // [count]; NULL: all
	const double* score;    // [count] by joint; NULL: none
	int most, minLinks;
	double threshold, left; // of scores
	knRegion* chosen;
	knPartQueue queue;
} Choice;

static bool mayCut(const Choice* choice, int node) {
	const knHybrid* hybrid = choice->hybrid;
	return knAssembly_IsJoint(hybrid->assembly, node) &&
		   (choice->candidates == NULL || choice->candidates[node]) &&
		   (hybrid->assembly->nodes[node].links >= choice->minLinks || isFree(hybrid, node));
}

static bool follows(const knHybrid* hybrid, int node) {
	return knAssembly_IsJoint(hybrid->assembly, node) && hybrid->assembly->nodes[node].follows;
}

// Without scores, the largest part goes first.
static void offer(Choice* choice, int node) {
	if (!mayCut(choice, node)) {
		return;
	}
	double* key = &choice->hybrid->key[node];
	if (isFree(choice->hybrid, node)) {
		*key = KN_REGION_FIRST;
	} else if (choice->score == NULL) {
		*key = choice->hybrid->assembly->nodes[node].links;
	}
	knPartQueue_Push(&choice->queue, node);
}

static void cut(Choice* choice, int joint) {
	const knAssemblyNode* own = &choice->hybrid->assembly->nodes[joint];
	addJoint(choice->chosen, joint);
	choice->left -= choice->score != NULL ? choice->score[joint] : 0.0;
	offer(choice, own->left);
	if (follows(choice->hybrid, own->right)) {
		cut(choice, own->right); // once: the second of a pair is followed by none
	} else {
		offer(choice, own->right);
	}
}

static void choose(Choice* choice) {
	const knHybrid* hybrid = choice->hybrid;
	knRegion_Clear(choice->chosen);
	offer(choice, hybrid->assembly->root);
	while (choice->queue.count > 0) {
		int joint = knPartQueue_Pop(&choice->queue);
		int needed = 1 + follows(hybrid, hybrid->assembly->nodes[joint].right);
		bool room = choice->chosen->count + needed <= choice->chosen->capacity;
		bool wanted = choice->chosen->count + needed <= choice->most && choice->left > choice->threshold;
		if (room && (wanted || isFree(hybrid, joint))) {
			cut(choice, joint);
		}
	}
	sortJoints(hybrid->assembly, choice->chosen);
}

void knRegion_Fill(knHybrid* hybrid, int count, int minLinks, knRegion* region) {
	Choice choice = { .hybrid = hybrid,
					  .most = count,
					  .minLinks = minLinks,
					  .threshold = 0.0,
					  .left = 1.0,
					  .chosen = region,
					  .queue = { hybrid->key, hybrid->heap, 0 } };
	choose(&choice);
}

double knRegion_Select(knHybrid* hybrid, const knRegion* candidates, const double* score,
					   const knRegionOptions* options, knRegion* chosen) {
	KN_ASSERT(candidates != chosen);
	const knAssembly* assembly = hybrid->assembly;
	for (int k = 0; k < candidates->count; ++k) {
		hybrid->score[candidates->joints[k]] = hybrid->key[candidates->joints[k]] = score[k];
	}
	// sums over parts, from the leaves
	knRegionWalk walk = { assembly->root, -1 };
	int node;
	double total = 0.0;
	for (knRegionStop stop;
		 (stop = knRegionWalk_Next(&walk, assembly, candidates->active, &node)) != KN_REGION_END;) {
		if (stop == KN_REGION_DONE) {
			int parent = assembly->nodes[node].parent;
			*(parent >= 0 ? &hybrid->key[parent] : &total) += hybrid->key[node];
		}
	}
	Choice choice = { .hybrid = hybrid,
					  .candidates = candidates->active,
					  .score = hybrid->score,
					  .most = options->count > 0 ? options->count : chosen->capacity,
					  .minLinks = options->minLinks,
					  .threshold = options->threshold,
					  .left = total,
					  .chosen = chosen,
					  .queue = { hybrid->key, hybrid->heap, 0 } };
	choose(&choice);
	return choice.left;
}

void knRegion_Score(const knHybrid* hybrid, const knWelded* body, const double* x, const double* weights,
					double* score) {
	for (int s = 0; s < body->tree.count; ++s) {
		const knTreeNode* own = &body->tree.nodes[s];
		int offset = hybrid->tree->nodes[body->region.joints[s]].vOffset;
		score[s] = 0.0;
		for (int k = 0; k < own->nv; ++k) {
			double value = x[own->vOffset + k];
			score[s] += (weights != NULL ? weights[offset + k] : 1.0) * value * value;
		}
	}
}

void knRegion_LookAhead(knHybrid* hybrid, const knRegion* from, int levels, int minLinks, knRegion* to) {
	const knAssembly* assembly = hybrid->assembly;
	knRegion_Copy(from, to);
	for (int level = 0; level < levels; ++level) {
		knRegionWalk walk = { assembly->root, -1 };
		int node, count = 0;
		for (knRegionStop stop;
			 (stop = knRegionWalk_Next(&walk, assembly, to->active, &node)) != KN_REGION_END;) {
			if (stop == KN_REGION_FRONT && knAssembly_IsJoint(assembly, node) &&
				assembly->nodes[node].links >= minLinks) {
				hybrid->heap[count++] = node;
			}
		}
		for (int k = 0; k < count; ++k) {
			int right = assembly->nodes[hybrid->heap[k]].right;
			bool pair = follows(hybrid, right);
			if (to->count + 1 + pair <= to->capacity) {
				addJoint(to, hybrid->heap[k]);
				if (pair) {
					addJoint(to, right);
				}
			}
		}
		sortJoints(assembly, to);
	}
}
