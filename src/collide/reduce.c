// The reduction of reduce.h.
#include "collide/reduce.h"

#define SAME_NORMAL 0.95  // cosine
#define CLUSTER_REACH 0.5 // sizes from the first contact
#define GAP_PENALTY 4.0   // metres outwards that a metre of gap is worth
#define SLACK 1e-7        // sizes: a rival must be better by more
#define APART 1e-4        // sizes: closer points are one
#define DEEPEST_CALM 4    // once gaps that say nothing are left out

static const double directions[KN_REDUCE_DIRECTIONS][2] = {
	{ 1.0, 0.0 }, { -1.0, 0.0 },  { 0.0, 1.0 },  { 0.0, -1.0 },
	{ 0.7, 0.7 }, { -0.7, -0.7 }, { 0.7, -0.7 }, { -0.7, 0.7 },
};

void knReducer_Init(knReducer* reducer, double size) {
	reducer->size = size;
	reducer->rule = knCullingRule_Make(INFINITY, INFINITY, size);
	reducer->calm = reducer->anyWillDo = false;
	reducer->count = 0;
	reducer->deepestCount = 0;
	reducer->deepestMost = KN_REDUCE_DEEPEST;
}

void knReducer_SetMotion(knReducer* reducer, double slide, double tilt, bool calm) {
	reducer->calm = calm;
	reducer->rule = knCullingRule_Make(tilt, slide, reducer->size);
}

// The first cluster that the point fits into; else a new one; else, with all taken, that of the nearest normal.
static knCluster* findCluster(knReducer* reducer, const knContactPoint* point, bool* fresh) {
	knCluster* nearest = NULL;
	double best = -2.0;
	*fresh = false;
	for (int i = 0; i < reducer->count; ++i) {
		knCluster* cluster = &reducer->clusters[i];
		double cosine = knDot(cluster->normal, point->normal);
		bool close = knDistance(cluster->seed, point->pointA) <= CLUSTER_REACH * reducer->size;
		if (cosine > SAME_NORMAL && close) {
			return cluster;
		}
		if (cosine > best) {
			best = cosine;
			nearest = cluster;
		}
	}
	if (reducer->count == KN_REDUCE_CLUSTERS) {
		return nearest;
	}
	*fresh = true;
	return &reducer->clusters[reducer->count++];
}

static double scoreOf(const knCluster* cluster, const knContactPoint* point, int direction) {
	knVec3 from = knSub(point->pointA, cluster->seed);
	double along = directions[direction][0] * knDot(from, cluster->u) +
				   directions[direction][1] * knDot(from, cluster->v);
	return along - GAP_PENALTY * knMax(0.0, point->separation);
}

static void addDeepest(knReducer* reducer, const knContactPoint* point) {
	int place = reducer->deepestCount;
	double slack = SLACK * reducer->size;
	while (place > 0 && point->separation < reducer->deepest[place - 1].separation - slack) {
		place -= 1;
	}
	if (place == reducer->deepestMost) {
		return;
	}
	reducer->deepestCount += reducer->deepestCount < reducer->deepestMost;
	for (int i = reducer->deepestCount - 1; i > place; --i) {
		reducer->deepest[i] = reducer->deepest[i - 1];
	}
	reducer->deepest[place] = *point;
}

void knReducer_Add(knReducer* reducer, const knContactPoint* point) {
	addDeepest(reducer, point);
	bool fresh;
	knCluster* cluster = findCluster(reducer, point, &fresh);
	if (fresh) {
		cluster->normal = point->normal;
		cluster->seed = point->pointA;
		cluster->u = knAnyOrthogonal(point->normal);
		cluster->v = knCross(point->normal, cluster->u);
		cluster->deepest = *point;
		for (int k = 0; k < KN_REDUCE_DIRECTIONS; ++k) {
			cluster->extreme[k] = *point;
			cluster->score[k] = scoreOf(cluster, point, k);
		}
		return;
	}
	double slack = SLACK * reducer->size;
	if (point->separation < cluster->deepest.separation - slack) {
		cluster->deepest = *point;
	}
	for (int k = 0; k < KN_REDUCE_DIRECTIONS; ++k) {
		double score = scoreOf(cluster, point, k);
		if (score > cluster->score[k] + slack) {
			cluster->score[k] = score;
			cluster->extreme[k] = *point;
		}
	}
}

// Of points at one place with one normal the first is kept; the deepest come before.
static bool isNew(const knReducer* reducer, const knContactPoint* points, int count,
				  const knContactPoint* point) {
	for (int i = 0; i < count; ++i) {
		bool same = knDot(points[i].normal, point->normal) > SAME_NORMAL &&
					knDistance(points[i].pointA, point->pointA) <= APART * reducer->size;
		if (same || points[i].feature == point->feature) {
			return false;
		}
	}
	return true;
}

static int choose(const knReducer* reducer, knContactPoint points[KN_MESH_MAX_POINTS]) {
	int count = 0;
	for (int round = -1; round < KN_REDUCE_DIRECTIONS; ++round) {
		for (int i = 0; i < reducer->count && count < KN_MESH_MAX_POINTS; ++i) {
			const knCluster* cluster = &reducer->clusters[i];
			const knContactPoint* point = round < 0 ? &cluster->deepest : &cluster->extreme[round];
			if (isNew(reducer, points, count, point)) {
				points[count++] = *point;
			}
		}
	}
	// what lies no deeper than all of these adds nothing to them
	double shallowest = -INFINITY;
	for (int i = 0; i < count; ++i) {
		shallowest = knMax(shallowest, points[i].separation);
	}
	double enough = shallowest - SLACK * reducer->size;
	for (int i = 0; i < reducer->deepestCount && count < KN_MESH_MAX_POINTS; ++i) {
		if (reducer->deepest[i].separation < enough && isNew(reducer, points, count, &reducer->deepest[i])) {
			points[count++] = reducer->deepest[i];
		}
	}
	return count;
}

// --- gaps that say nothing -------------------------------------------------------------------------------

// Whether the gap i stays open as long as j does not close any further.
static bool isShut(const knReducer* reducer, const knContactPoint* i, const knContactPoint* j) {
	double between = knDistance(i->pointA, j->pointA), bend = knDistance(i->normal, j->normal);
	return knCullingRule_Holds(&reducer->rule, i->separation - j->separation, between, bend);
}

// Leaves out gaps that stay open, from the deepest contact on; the rest keeps its order.
static int dropShut(const knReducer* reducer, knContactPoint* points, int count) {
	uint8_t order[KN_MESH_MAX_POINTS];
	bool kept[KN_MESH_MAX_POINTS];
	for (int i = 0; i < count; ++i) {
		int place = i;
		for (; place > 0 && points[i].separation < points[order[place - 1]].separation; --place) {
			order[place] = order[place - 1];
		}
		order[place] = (uint8_t)i;
	}
	for (int i = 0; i < count; ++i) {
		const knContactPoint* point = &points[order[i]];
		bool shut = false;
		for (int j = 0; j < i && !shut && point->separation > 0.0; ++j) {
			shut = kept[order[j]] && isShut(reducer, point, &points[order[j]]);
		}
		kept[order[i]] = !shut;
	}
	int left = 0;
	for (int i = 0; i < count; ++i) {
		if (kept[i]) {
			points[left++] = points[i];
		}
	}
	return left;
}

int knReducer_Finish(const knReducer* reducer, knContactPoint points[KN_MESH_MAX_POINTS]) {
	int count = choose(reducer, points);
	if (reducer->rule.tilt == INFINITY) {
		return count;
	}
	count = dropShut(reducer, points, count);
	if (!reducer->calm) {
		return count;
	}
	knReducer again;
	knReducer_Init(&again, reducer->size);
	again.deepestMost = DEEPEST_CALM;
	for (int i = 0; i < count; ++i) {
		knReducer_Add(&again, &points[i]);
	}
	return choose(&again, points);
}
