// Capital letters of straight strokes (glyphs.h). A letter is a text: pairs of digits are points of the cell, x then y, joined
// by strokes; a blank lifts the pen. Round letters have their corners cut.
#include "glyphs.h"

#include <stdbool.h>

static const char* const letters[26] = {
	"002640 1333",
	"00063645443303 3342413000",
	"4536160501103041",
	"00062644422000",
	"46060040 0333",
	"460600 0333",
	"453616050110404323",
	"0006 4046 0343",
	"2026 1636 1030",
	"4641301001",
	"0006 460340",
	"060040",
	"0006234640",
	"00064046",
	"100105163645413010",
	"00063645443303",
	"100105163645413010 2240",
	"00063645443303 2340",
	"453616050413334241301001",
	"0646 2026",
	"060110304146",
	"062046",
	"0610243046",
	"0046 0640",
	"062346 2320",
	"06460040",
};

int knGlyph_Strokes(char letter, knStroke strokes[KN_GLYPH_MAX_STROKES]) {
	int count = 0;
	if (letter < 'A' || letter > 'Z') {
		return 0;
	}
	for (const char* at = letters[letter - 'A']; at[0] != '\0'; at += at[2] == ' ' ? 3 : 2) {
		bool drawn = at[2] != '\0' && at[2] != ' ';
		if (drawn) {
			strokes[count++] = (knStroke){ at[0] - '0', at[1] - '0', at[2] - '0', at[3] - '0' };
		}
	}
	return count;
}
