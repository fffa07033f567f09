// Patterns of textures as PNG files, without a library: 256 colours (the mixtures of the pattern's two, and the mark's) and
// pixels that are not compressed, in stored blocks of deflate.
#include "core/hash.h"
#include "record/looks.h"

enum { MAX_SIDE = 128, MIXTURES = 255, MARK = 255, MAX_BLOCK = 65535 };

// --- pixels ----------------------------------------------------------------------------------------------

static int sideOf(int wanted) {
	return wanted <= 0 || wanted > MAX_SIDE ? MAX_SIDE : wanted < 2 ? 2 : wanted;
}

// The colour's number of a pixel; x and y count from the upper left corner.
static uint8_t pixelOf(const knTextureDef* texture, int x, int y, int width, int height) {
	const bool edge = x == 0 || y == 0 || x == width - 1 || y == height - 1;
	const bool cross = x == width / 2 || y == height / 2;
	const uint64_t chance = knHash_Word((uint64_t)y << 32 | (uint32_t)x) >> 11;
	if ((texture->mark == KN_MARK_EDGE && edge) || (texture->mark == KN_MARK_CROSS && cross) ||
		(texture->mark == KN_MARK_RANDOM && (double)chance < texture->random * 0x1p53)) {
		return MARK;
	}
	const double u = (2.0 * x + 1.0) / width - 1.0, v = (2.0 * y + 1.0) / height - 1.0;
	double share = 0.0; // of the second colour
	if (texture->pattern == KN_PATTERN_CHECKER) {
		share = (u < 0.0) == (v < 0.0) ? 0.0 : 1.0;
	} else if (texture->pattern == KN_PATTERN_GRADIENT) {
		share = texture->kind == KN_TEXTURE_SKYBOX ? 0.5 * (v + 1.0) : knMin(sqrt(u * u + v * v), 1.0);
	}
	return (uint8_t)(share * (MIXTURES - 1) + 0.5);
}

// --- the file --------------------------------------------------------------------------------------------

static void putBig32(uint8_t* at, uint32_t value) {
	for (int k = 0; k < 4; ++k) {
		at[k] = (uint8_t)(value >> (24 - 8 * k));
	}
}

// CRC-32 of PNG chunks.
static uint32_t crcOf(const uint8_t* bytes, size_t size) {
	uint32_t crc = 0xffffffffu;
	for (size_t i = 0; i < size; ++i) {
		crc ^= bytes[i];
		for (int k = 0; k < 8; ++k) {
			crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1u)));
		}
	}
	return ~crc;
}

// A chunk with room for its payload, which is filled in at once and then closed; NULL when out of memory.
static uint8_t* openChunk(knBytes* bytes, const char type[4], size_t size, const knAllocator* allocator) {
	uint8_t* at = knBytes_Extend(bytes, size + 12, allocator);
	if (at == NULL) {
		return NULL;
	}
	putBig32(at, (uint32_t)size);
	memcpy(at + 4, type, 4);
	return at + 8;
}

static void closeChunk(uint8_t* payload, size_t size) {
	putBig32(payload + size, crcOf(payload - 4, size + 4));
}

static bool putHead(knBytes* bytes, const knTextureDef* texture, int width, int height,
					const knAllocator* allocator) {
	static const uint8_t signature[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
	uint8_t* at = knBytes_Extend(bytes, sizeof(signature), allocator);
	if (at == NULL) {
		return false;
	}
	memcpy(at, signature, sizeof(signature));
	uint8_t* head = openChunk(bytes, "IHDR", 13, allocator);
	if (head == NULL) {
		return false;
	}
	putBig32(head, (uint32_t)width);
	putBig32(head + 4, (uint32_t)height);
	memcpy(head + 8, (const uint8_t[]){ 8, 3, 0, 0, 0 }, 5); // 8 bits, colours by number
	closeChunk(head, 13);
	uint8_t* colors = openChunk(bytes, "PLTE", 768, allocator);
	for (int i = 0; i < 256 && colors != NULL; ++i) {
		for (int c = 0; c < 3; ++c) {
			const int shift = 16 - 8 * c;
			const double a = texture->color1 >> shift & 0xff, b = texture->color2 >> shift & 0xff;
			const double mixed = a + (b - a) * i / (MIXTURES - 1);
			colors[3 * i + c] = i == MARK ? (uint8_t)(texture->markColor >> shift) : (uint8_t)(mixed + 0.5);
		}
	}
	if (colors != NULL) {
		closeChunk(colors, 768);
	}
	return colors != NULL;
}

// Rows, each after a 0 (no filter), in stored blocks between zlib's head and checksum (Adler-32).
static bool putPixels(knBytes* bytes, const knTextureDef* texture, int width, int height,
					  const knAllocator* allocator) {
	const size_t row = (size_t)width + 1, all = row * (size_t)height;
	const size_t blocks = (all + MAX_BLOCK - 1) / MAX_BLOCK, size = 2 + 5 * blocks + all + 4;
	uint8_t* payload = openChunk(bytes, "IDAT", size, allocator);
	if (payload == NULL) {
		return false;
	}
	uint8_t* at = payload;
	uint32_t a = 1, b = 0;
	*at++ = 0x78, *at++ = 0x01;
	for (size_t i = 0; i < all; ++i) {
		if (i % MAX_BLOCK == 0) {
			const uint16_t length = (uint16_t)(all - i < MAX_BLOCK ? all - i : MAX_BLOCK);
			*at = all - i <= MAX_BLOCK;
			knPut16(at + 1, length);
			knPut16(at + 3, (uint16_t)~length);
			at += 5;
		}
		const int x = (int)(i % row) - 1, y = (int)(i / row);
		*at = x < 0 ? 0 : pixelOf(texture, x, y, width, height);
		a = (a + *at++) % 65521;
		b = (b + a) % 65521;
	}
	putBig32(at, b << 16 | a);
	closeChunk(payload, size);
	return true;
}

bool knPattern_Png(const knTextureDef* texture, const knAllocator* allocator, knBytes* bytes) {
	const int width = sideOf(texture->width);
	const int height = texture->kind == KN_TEXTURE_FLAT ? sideOf(texture->height) : width;
	uint8_t* end = NULL;
	if (putHead(bytes, texture, width, height, allocator) &&
		putPixels(bytes, texture, width, height, allocator)) {
		end = openChunk(bytes, "IEND", 0, allocator);
	}
	if (end != NULL) {
		closeChunk(end, 0);
	}
	return end != NULL;
}
