// Supports of Knuckle's geometries for libccd, and its functions by name.
#include "peers/peer_ccd.h"

#ifdef KN_HAVE_CCD

#include <ccd/ccd.h>
#include <dlfcn.h>
#include <stdlib.h>

struct knCcdPeer {
	void* library;
	int (*intersect)(const void* a, const void* b, const ccd_t* ccd);
	int (*penetration)(const void* a, const void* b, const ccd_t* ccd, ccd_real_t* depth, ccd_vec3_t* dir,
					   ccd_vec3_t* pos);
	void (*firstDirection)(const void* a, const void* b, ccd_vec3_t* dir);
};

static knVec3 localSupport(const knGeom* geom, knVec3 d) {
	knVec3 e = knGeom_Size(geom), unit = knNormalize(d);
	switch (knGeom_Kind(geom)) {
	case KN_GEOM_SPHERE:
		return knScale(e.x, unit);
	case KN_GEOM_CAPSULE:
		return knMulAdd(knV3(0.0, 0.0, d.z < 0.0 ? -e.y : e.y), e.x, unit);
	case KN_GEOM_BOX:
		return knV3(d.x < 0.0 ? -e.x : e.x, d.y < 0.0 ? -e.y : e.y, d.z < 0.0 ? -e.z : e.z);
	case KN_GEOM_CYLINDER: {
		double rho = sqrt(d.x * d.x + d.y * d.y), scale = rho > 0.0 ? e.x / rho : 0.0;
		return knV3(scale * d.x, scale * d.y, d.z < 0.0 ? -e.y : e.y);
	}
	case KN_GEOM_ELLIPSOID: {
		knVec3 ed = knMulComponents(e, unit);
		return knScale(1.0 / knLength(ed), knMulComponents(e, ed));
	}
	default:
		break;
	}
	int count, best = 0;
	const knVec3* vertices = knGeom_Vertices(geom, &count);
	for (int i = 1; i < count; ++i) {
		best = knDot(vertices[i], d) > knDot(vertices[best], d) ? i : best;
	}
	return vertices[best];
}

static void support(const void* object, const ccd_vec3_t* direction, ccd_vec3_t* point) {
	const knCcdShape* shape = object;
	knVec3 d = knV3(direction->v[0], direction->v[1], direction->v[2]);
	knVec3 p = knPoint(shape->frame, localSupport(shape->geom, knInvRotate(shape->frame.q, d)));
	ccdVec3Set(point, p.x, p.y, p.z);
}

knCcdPeer* knCcdPeer_Open(const char** reason) {
	knCcdPeer* peer = calloc(1, sizeof(knCcdPeer));
	void* library = peer != NULL ? dlopen("libccd.so.2", RTLD_NOW | RTLD_LOCAL) : NULL;
	if (library == NULL) {
		*reason = "libccd.so.2 is not installed (Debian package libccd2)";
		free(peer);
		return NULL;
	}
	peer->library = library;
	*(void**)&peer->intersect = dlsym(library, "ccdGJKIntersect");
	*(void**)&peer->penetration = dlsym(library, "ccdGJKPenetration");
	*(void**)&peer->firstDirection = dlsym(library, "ccdFirstDirDefault");
	if (peer->intersect == NULL || peer->penetration == NULL || peer->firstDirection == NULL) {
		*reason = "libccd.so.2 lacks functions of version 2.1";
		knCcdPeer_Close(peer);
		return NULL;
	}
	return peer;
}

void knCcdPeer_Close(knCcdPeer* peer) {
	if (peer != NULL) {
		dlclose(peer->library);
		free(peer);
	}
}

static ccd_t settings(const knCcdPeer* peer) {
	ccd_t ccd = { .first_dir = peer->firstDirection, .support1 = support, .support2 = support };
	ccd.max_iterations = 500;
	ccd.epa_tolerance = 1e-4; // its defaults
	ccd.mpr_tolerance = 1e-4;
	ccd.dist_tolerance = 1e-6;
	return ccd;
}

bool knCcdPeer_Intersect(const knCcdPeer* peer, const knCcdShape* a, const knCcdShape* b) {
	ccd_t ccd = settings(peer);
	return peer->intersect(a, b, &ccd) != 0;
}

double knCcdPeer_Depth(const knCcdPeer* peer, const knCcdShape* a, const knCcdShape* b) {
	ccd_t ccd = settings(peer);
	ccd_real_t depth = 0.0;
	ccd_vec3_t direction, position;
	return peer->penetration(a, b, &ccd, &depth, &direction, &position) == 0 ? depth : -1.0;
}

#else

knCcdPeer* knCcdPeer_Open(const char** reason) {
	*reason = "the tool was built without libccd's header (Debian package libccd-dev)";
	return NULL;
}

void knCcdPeer_Close(knCcdPeer* peer) {
	(void)peer;
}

bool knCcdPeer_Intersect(const knCcdPeer* peer, const knCcdShape* a, const knCcdShape* b) {
	(void)peer;
	(void)a;
	(void)b;
	return false;
}

double knCcdPeer_Depth(const knCcdPeer* peer, const knCcdShape* a, const knCcdShape* b) {
	(void)peer;
	(void)a;
	(void)b;
	return -1.0;
}

#endif
