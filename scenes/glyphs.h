// Capital letters of straight strokes, for letters that are things: on a cell 4 wide and 6 high, origin at the lower left.
#pragma once

#define KN_GLYPH_WIDTH 4.0
#define KN_GLYPH_HEIGHT 6.0
#define KN_GLYPH_MAX_STROKES 12

typedef struct knStroke {
	double x0, y0, x1, y1;
} knStroke;

// Strokes of a letter 'A' .. 'Z'; returns how many (0 for other characters).
int knGlyph_Strokes(char letter, knStroke strokes[KN_GLYPH_MAX_STROKES]);
