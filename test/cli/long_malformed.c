// The corpus of malformed inputs through the tool: exit status 3 and a message that names the file.
#include "cli/cli_test.h"

#include "support/malformed.h"

static void checkStatus(const char* line, const char* name) {
	Ran ran = runTool(line);
	if (ran.status != 3 || strstr(ran.err, name) == NULL) {
		fail_msg("%s: status %d, '%.500s'", line, ran.status, ran.err);
	}
	freeRan(&ran);
}

static void each_ends_with_status_3(void** state) {
	(void)state;
	MalformedList list = malformedMake();
	for (int i = 0; i < list.count; ++i) {
		const Malformed* item = &list.items[i];
		const char* ending = strrchr(item->name, '.') + 1;
		char line[128];
		writeBytes(item->name, item->bytes, item->size);
		snprintf(line, sizeof line, "info %s", item->name);
		if (strcmp(ending, "json") == 0) {
			snprintf(line, sizeof line, "dynamics %s", item->name);
		} else if (strcmp(ending, "xml") != 0 && strcmp(ending, "urdf") != 0) {
			// a mesh comes to the tool by way of a robot
			char text[512];
			snprintf(text, sizeof text,
					 "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
					 "izz='1'/></inertial>"
					 "<collision><geometry><mesh filename='%s'/></geometry></collision></link></robot>",
					 item->name);
			writeText("carrier.urdf", text);
			snprintf(line, sizeof line, "info carrier.urdf");
		}
		checkStatus(line, item->name);
		remove(item->name);
	}
	malformedFree(&list);
}

static void recordings(void** state) {
	(void)state;
	writeText("junk.knt", "this is no recording");
	writeText("none.knt", "");
	checkStatus("convert junk.knt junk.csv", "junk.knt");
	checkStatus("convert none.knt none.csv", "none.knt");
	checkStatus("convert gone.knt gone.csv", "gone.knt");
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_ends_with_status_3),
		cmocka_unit_test(recordings),
	};
	if (!haveTool() || enterFolder("cli_malformed") != 0) {
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
