// docs/mjcf.md says what the reader's tables say: every attribute that is followed, and every one that is followed only
// roughly, stands in the table of elements; so does every element that the reader knows.
#include "mjcf_test.h"

#include "mjcf.h"

static char* readDocs(void) {
	char path[1024];
	FILE* file = fopen(repositoryPath("docs/mjcf.md", path, sizeof path), "rb");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	const size_t size = (size_t)ftell(file);
	rewind(file);
	char* text = malloc(size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, size, file), size);
	text[size] = '\0';
	fclose(file);
	return text;
}

// The rows of the table whose first cell names the element; "" if there are none.
static void rowsOf(const char* docs, const char* tag, char* rows, size_t capacity) {
	char quoted[64];
	snprintf(quoted, sizeof quoted, "`%s`", tag);
	rows[0] = '\0';
	for (const char* line = docs; line != NULL && *line != '\0';) {
		const char* end = strchr(line, '\n');
		const char* second = line[0] == '|' ? strchr(line + 1, '|') : NULL;
		const char* found = second != NULL && second < end ? strstr(line, quoted) : NULL;
		if (found != NULL && found < second) {
			const size_t used = strlen(rows);
			assert_true(used + (size_t)(end - line) + 1 < capacity);
			memcpy(rows + used, line, (size_t)(end - line));
			rows[used + (size_t)(end - line)] = '\0';
		}
		line = end != NULL ? end + 1 : NULL;
	}
}

static bool says(const char* text, const char* name) {
	char quoted[64];
	snprintf(quoted, sizeof quoted, "`%s`", name);
	return strstr(text, quoted) != NULL;
}

static void test_every_attribute_is_in_the_table(void** state) {
	(void)state;
	// under which element's row an attribute is looked for; an actuator's kinds and what has an orientation share theirs
	static const struct {
		const knMjcfElementType* type;
		const char* element;
	} types[] = {
		{ &knMjcfModelType, "mujoco" },       { &knMjcfCompilerType, "compiler" },
		{ &knMjcfOptionType, "option" },      { &knMjcfFlagType, "option" },
		{ &knMjcfDefaultType, "default" },    { &knMjcfGeomType, "geom" },
		{ &knMjcfJointType, "joint" },        { &knMjcfFreeJointType, "freejoint" },
		{ &knMjcfInertialType, "inertial" },  { &knMjcfBodyType, "body" },
		{ &knMjcfConnectType, "equality" },   { &knMjcfWeldType, "equality" },
		{ &knMjcfCoupleType, "equality" },    { &knMjcfExcludeType, "contact" },
		{ &knMjcfPairType, "contact" },       { &knMjcfKeyType, "keyframe" },
		{ &knMjcfFrameType, "frame" },        { &knMjcfSiteType, "site" },
		{ &knMjcfMeshType, "asset" },         { &knMjcfMaterialType, "asset" },
		{ &knMjcfTextureType, "asset" },      { &knMjcfHfieldType, "asset" },
		{ &knMjcfLightType, "light" },        { &knMjcfHeadlightType, "visual" },
		{ &knMjcfActuatorType, "actuator" },  { &knMjcfTendonType, "tendon" },
		{ &knMjcfTendonJointType, "tendon" }, { &knMjcfTendonSiteType, "tendon" },
	};
	static const char* const everywhere[] = { "name",      "class", "pos",    "quat",
											  "axisangle", "euler", "xyaxes", "zaxis" };
	char* docs = readDocs();
	char rows[8192];
	int missing = 0;
	for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
		rowsOf(docs, types[i].element, rows, sizeof rows);
		if (rows[0] == '\0') {
			fail_msg("docs/mjcf.md has no row for <%s>", types[i].element);
		}
		for (int k = 0; k < types[i].type->fieldCount; ++k) {
			const knMjcfField* field = &types[i].type->fields[k];
			bool common = field->kind == KN_MJCF_FIELD_SILENT;
			for (size_t e = 0; e < sizeof everywhere / sizeof *everywhere; ++e) {
				common = common || strcmp(field->name, everywhere[e]) == 0;
			}
			if (!common && !says(rows, field->name)) {
				print_message("<%s> %s\n", types[i].type->tag, field->name);
				++missing;
			}
		}
	}
	free(docs);
	assert_int_equal(missing, 0);
}

int main(void) {
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_attribute_is_in_the_table) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
