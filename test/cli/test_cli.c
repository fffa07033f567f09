// The tool's contract: options, exit statuses, messages, files.
#include "cli_test.h"

static bool hasMjcf = true; // set by main

// --- wrong usage and bad input: exit status and one sentence --------------------------------------------------------

typedef struct BadCase {
	const char* line;
	int status;
	const char* says; // part of the message
} BadCase;

// One line on stderr that begins with the tool's name, nothing on stdout.
static void checkBad(const BadCase* bad) {
	Ran ran = runTool(bad->line);
	if (ran.status != bad->status || strstr(ran.err, bad->says) == NULL) {
		fail_msg("knuckle %s: exit status %d (expected %d), says: %s (expected '%s')", bad->line, ran.status,
				 bad->status, ran.err, bad->says);
	}
	assert_int_equal(strncmp(ran.err, "knuckle: ", 9), 0);
	assert_ptr_equal(strchr(ran.err, '\n'), ran.err + strlen(ran.err) - 1);
	assert_string_equal(ran.out, "");
	freeRan(&ran);
}

static void test_wrong_usage(void** state) {
	(void)state;
	static const BadCase cases[] = {
		{ "rnu", 2, "did you mean 'run'?" },
		{ "view", 2, "view what?" },
		{ "view slope --port x", 2, "--port must be" },
		{ "view slope --stepper velocty", 2, "did you mean 'velocity'?" },
		{ "run", 2, "run what?" },
		{ "run towr", 2, "unknown scene 'towr'; did you mean 'tower'?" },
		{ "run qqqqqqqq", 2, "unknown scene" },
		{ "run slope wall", 2, "one scene at a time" },
		{ "run slope --tme 3", 2, "unknown option '--tme'; did you mean '--time'?" },
		{ "run slope --xyzzy", 2, "unknown option '--xyzzy'" },
		{ "run slope --dt", 2, "needs a value" },
		{ "run slope --dt --steps 3", 2, "needs a value" },
		{ "run slope --dt 0", 2, "--dt must be" },
		{ "run slope --dt -0.01", 2, "--dt must be" },
		{ "run slope --dt nan", 2, "--dt must be" },
		{ "run slope --dt inf", 2, "--dt must be" },
		{ "run slope --dt 0.01x", 2, "--dt must be" },
		{ "run slope --time -1", 2, "--time must be" },
		{ "run slope --time 1e200", 2, "steps" },
		{ "run slope --steps -1", 2, "--steps must be" },
		{ "run slope --steps 2.5", 2, "--steps must be" },
		{ "run slope --steps 1e12", 2, "--steps must be" },
		{ "run slope --steps 3 --time 1", 2, "either" },
		{ "run slope --threads 0", 2, "--threads must be" },
		{ "run slope --threads 100000", 2, "--threads must be" },
		{ "run slope --seed x", 2, "--seed must be" },
		{ "run slope --fps 0", 2, "--fps must be" },
		{ "run slope --measure-every 0", 2, "--measure-every must be" },
		{ "run slope --stepper velocty", 2, "did you mean 'velocity'?" },
		{ "run slope --set angle", 2, "name=value" },
		{ "run slope --set =3", 2, "name=value" },
		{ "run slope --set angel=3", 2, "did you mean 'angle'?" },
		{ "run slope --set angle=steep", 2, "'angle'" },
		{ "run slope --set twin=2", 2, "'twin'" },
		{ "run slope --set gravity=1,2", 2, "gravity must be" },
		{ "run slope --set gravity=1,2,nan", 2, "gravity must be" },
		{ "run slope --set friction=-1", 2, "friction must be" },
		{ "run slope --set restitution=2", 2, "restitution must be" },
		{ "run slope --set scheme=best", 2, "scheme" },
		{ "run slope --set integrator=rk4", 2, "it is a setting of reduced" },
		{ "run slope --stepper impulse --set warm_start=0", 2, "it is a setting of velocity" },
		{ "run slope --set weighting=0.1", 2, "velocity with scheme=default does not read it" },
		{ "run slope --set articulation=sweep --set scheme=paper", 2, "it is a setting of velocity with" },
		{ "info slope --set newton=damped", 2, "impulse with scheme=paper" },
		{ "run box-stack --set boxes=1e9", 2, "'boxes'" },
		{ "run box-stack --set boxes=0", 2, "'boxes'" },
		{ "run slope --keyframe home", 2, "--keyframe" },
		{ "run slope --control motors.csv", 3, "cannot open 'motors.csv'" },
		{ "run slope --out slope.htm", 2, ".html, .glb, .csv or .knt" },
		{ "run slope --out slope.txt", 2, ".html, .glb, .csv or .knt" },
		{ "run slope --out a.csv --out a.csv", 2, "twice" },
		{ "scenes wall", 2, "takes no operand" },
		{ "info", 2, "about what?" },
		{ "info slop", 2, "did you mean 'slope'?" },
		{ "convert a.knt", 2, "IN and OUT" },
		{ "convert slope slope.csv", 2, ".xml" },
		{ "bench nosuch", 2, "unknown scene" },
		{ "bench --peers", 2, "--peers" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
		checkBad(&cases[i]);
	}
}

static void test_bad_input(void** state) {
	(void)state;
	static const BadCase cases[] = {
		{ "run missing.obj", 3, "missing.obj" },
		{ "run some.knt", 3, "recording" },
		{ "run slope --steps 1 --out nowhere/a.csv", 3, "nowhere/a.csv" },
		{ "run slope --steps 1 --out nowhere/a.knt", 3, "nowhere/a.knt" },
		{ "run slope --steps 1 --json nowhere/a.json", 3, "nowhere/a.json" },
		{ "run slope --steps 1 --json .", 3, "'.'" },
		{ "run slope --steps 1 --out good.csv --out good.knt --out nowhere/b.csv", 3, "nowhere/b.csv" },
		{ "convert missing.knt out.csv", 3, "missing.knt" },
		{ "bench slope --steps 1 --out nowhere/bench.csv", 3, "nowhere/bench.csv" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
		checkBad(&cases[i]);
	}
	assert_false(exists("good.csv"));
	assert_false(exists("good.knt"));
	assert_false(exists("good.csv.part"));
	assert_false(exists("out.csv"));
}

// A refused run leaves older results alone.
static void test_refusal_keeps_older_files(void** state) {
	(void)state;
	writeText("older.csv", "precious\n");
	writeText("older.knt", "precious\n");
	Ran ran = runTool("run slope --steps 1 --out older.csv --out older.knt --json nowhere/a.json");
	assert_int_equal(ran.status, 3);
	freeRan(&ran);
	char* csv = readWhole("older.csv");
	char* knt = readWhole("older.knt");
	assert_string_equal(csv, "precious\n");
	assert_string_equal(knt, "precious\n");
	free(csv);
	free(knt);
}

// More bodies at one place than the documented number of pairs.
static void test_pair_limit(void** state) {
	(void)state;
	static const BadCase bad = { "run ball-grid --set n=47 --set pitch=0.001 --steps 1", 3, "pairs" };
	checkBad(&bad);
}

// --- scene files -----------------------------------------------------------------------------------------------------

#define MJCF(body) "<mujoco><worldbody>" body "</worldbody></mujoco>"
#define GOOD_BODY(name)                                                                                      \
	"<body name='" name "' pos='0 0 1'><freejoint/><geom type='sphere' size='0.1'/></body>"

static void test_bad_scene_files(void** state) {
	(void)state;
	static const struct {
		const char* text;
		const char* says;
	} cases[] = {
		{ "<mujoco><worldbody>", "bad.xml" },
		{ "not XML at all", "bad.xml" },
		{ "", "bad.xml" },
		{ "<robot/>", "bad.xml" },
		{ MJCF("<body name='crank'><freejoint/><inertial pos='0 0 0' mass='-1' diaginertia='1 1 1'/></body>"),
		  "mass" },
		{ MJCF("<body name='crank' pos='0 0 nan'><freejoint/><geom type='sphere' size='1'/></body>"), "pos" },
		{ MJCF("<body name='crank'><freejoint/><geom type='box' size='0 1 1'/></body>"), "size" },
		{ "<mujoco><worldbody>" GOOD_BODY(
			  "a") "</worldbody><equality><connect body1='a' body2='a' anchor='0 0 0'/>"
				   "</equality></mujoco>",
		  "itself" },
		{ "<mujoco><worldbody>" GOOD_BODY(
			  "a") "</worldbody><equality><connect body1='a' body2='b' anchor='0 0 0'/>"
				   "</equality></mujoco>",
		  "'b'" },
	};
	if (!hasMjcf) {
		skip();
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
		remove("bad.csv"); // an earlier run that failed here may have left one
		writeText("bad.xml", cases[i].text);
		BadCase run = { "run bad.xml --steps 1 --out bad.csv", 3, cases[i].says };
		BadCase info = { "info bad.xml", 3, cases[i].says };
		checkBad(&run);
		checkBad(&info);
		assert_false(exists("bad.csv"));
	}
	BadCase missing = { "run missing.xml", 3, "missing.xml" };
	checkBad(&missing);
}

static void test_scene_file(void** state) {
	(void)state;
	if (!hasMjcf) {
		skip();
	}
	writeText(
		"drop.xml",
		"<mujoco><option timestep='0.005' gravity='0 0 -2'/><worldbody>" GOOD_BODY(
			"ball") "</worldbody><keyframe><key name='high' qpos='0 0 5 1 0 0 0'/></keyframe></mujoco>");
	Ran plain = runTool("run drop.xml --time 1 --json -"),
		high = runTool("run drop.xml --time 1 --keyframe high --json -");
	assert_int_equal(plain.status, 0);
	assert_int_equal(high.status, 0);
	assert_near(jsonNumberAt(plain.out, "dt"), 0.005, 0.0);
	assert_near(jsonNumberAt(plain.out, "steps"), 200.0, 0.0);
	assert_near(jsonNumberAt(plain.out, "displacement.max"), 2.0 * 1.0 * 1.0 / 2.0, 1e-9);
	double mass = 1000.0 * 4.0 / 3.0 * KN_PI * 1e-3;
	assert_near(jsonNumberAt(high.out, "energy.initial") - jsonNumberAt(plain.out, "energy.initial"),
				mass * 2.0 * 4.0, 1e-9);
	freeRan(&plain);
	freeRan(&high);
	BadCase unknown = { "run drop.xml --keyframe low", 3, "low" };
	checkBad(&unknown);
}

// A file may serve several steppers: what the one that runs does not read is noted, not refused.
static void test_unread_setting_of_a_file(void** state) {
	(void)state;
	if (!hasMjcf) {
		skip();
	}
	writeText("unread.xml",
			  "<mujoco><worldbody><body pos='0 0 1'><freejoint/><geom size='0.1'/></body></worldbody>"
			  "<custom><text name='knuckle.set.integrator' data='rk4'/></custom></mujoco>");
	Ran run = runTool("run unread.xml --steps 3"), info = runTool("info unread.xml --json");
	const char* note = "integrator=rk4 has no effect: velocity does not read it; it is a setting of reduced";
	assert_int_equal(run.status, 0);
	assert_non_null(strstr(run.err, note));
	assert_int_equal(info.status, 0);
	assert_non_null(strstr(info.out, note));
	freeRan(&run);
	freeRan(&info);
	BadCase said = { "run unread.xml --set integrator=rk4", 2, "reduced" };
	checkBad(&said);
}

// Values for actuators over time: a torque that begins at 0.05 s turns the arm only after that.
static void test_control_file(void** state) {
	(void)state;
	if (!hasMjcf) {
		skip();
	}
	writeText("driven.xml",
			  "<mujoco><option gravity='0 0 0' timestep='0.01'/><worldbody><body><joint name='j'/>"
			  "<geom size='0.1' pos='1 0 0'/></body></worldbody>"
			  "<actuator><motor name='m' joint='j'/></actuator></mujoco>");
	writeText("late.csv", "time, m\n0, 0\n0.05, 3\n");
	writeText("wrong.csv", "time,n\n0,0\n");
	writeText("short.csv", "time,m\n0\n");
	Ran before = runTool("run driven.xml --control late.csv --steps 5 --json -");
	Ran after = runTool("run driven.xml --control late.csv --steps 6 --json -");
	assert_int_equal(before.status, 0);
	assert_int_equal(after.status, 0);
	assert_non_null(strstr(before.out, "\"kinetic\": {\n    \"final\": 0,"));
	assert_null(strstr(after.out, "\"kinetic\": {\n    \"final\": 0,"));
	freeRan(&before);
	freeRan(&after);
	BadCase bad[] = { { "run driven.xml --control wrong.csv", 3,
						"wrong.csv:1: the scene has no actuator 'n'" },
					  { "run driven.xml --control short.csv", 3, "short.csv:2: the line has not as many" } };
	checkBad(&bad[0]);
	checkBad(&bad[1]);
	Ran info = runTool("info driven.xml");
	assert_non_null(strstr(info.out, "1 actuators"));
	freeRan(&info);
}

// What would change the motion is an error, unless --lenient.
static void test_lenient(void** state) {
	(void)state;
	if (!hasMjcf) {
		skip();
	}
	writeText("muscle.xml",
			  "<mujoco><worldbody><body><joint name='j'/><geom size='0.1'/></body></worldbody>\n"
			  "<actuator><muscle joint='j'/></actuator></mujoco>");
	BadCase bad = { "run muscle.xml --steps 1", 3, "muscle.xml:2:11: <muscle> without lengthrange left out" };
	checkBad(&bad);
	Ran run = runTool("run muscle.xml --steps 1 --lenient");
	assert_int_equal(run.status, 0);
	assert_non_null(strstr(run.err, "warning: muscle.xml:2:11: <muscle> without lengthrange left out"));
	freeRan(&run);
}

// scene -> MJCF -> scene: the same bits.
static void test_convert_scene(void** state) {
	(void)state;
	static const char* const scenes[] = { "box-stack", "heavy-chain", "cradle", "joints" };
	if (!hasMjcf) {
		skip();
	}
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); ++i) {
		char line[128], direct[17], through[17];
		snprintf(line, sizeof(line), "convert %s copy.xml --set small=1", scenes[i]);
		Ran ran = runTool(line);
		if (ran.status != 0) {
			fail_msg("knuckle %s: %s", line, ran.err);
		}
		freeRan(&ran);
		snprintf(line, sizeof(line), "run %s --set small=1 --steps 50 --json -", scenes[i]);
		ran = runTool(line);
		jsonTextAt(ran.out, "hash", direct, sizeof(direct));
		freeRan(&ran);
		ran = runTool("run copy.xml --steps 50 --json -");
		assert_int_equal(ran.status, 0);
		jsonTextAt(ran.out, "hash", through, sizeof(through));
		freeRan(&ran);
		assert_string_equal(direct, through);
	}
	BadCase custom = { "convert joints custom.xml --set custom=1", 3, "custom" };
	checkBad(&custom);
	assert_false(exists("custom.xml"));
}

// --- recordings --------------------------------------------------------------------------------------------------

static int countLines(const char* text) {
	int lines = 0;
	for (; *text != '\0'; ++text) {
		lines += *text == '\n';
	}
	return lines;
}

#define CSV_HEAD "time,body,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n"

static void test_recordings(void** state) {
	(void)state;
	Ran ran = runTool("run wall --set small=1 --steps 30 --out wall.csv --out wall.knt");
	assert_int_equal(ran.status, 0);
	assert_string_equal(ran.err, "");
	assert_non_null(strstr(ran.out, "wall.csv"));
	freeRan(&ran);
	// t = 0 and every step, one row per body
	char* csv = readWhole("wall.csv");
	assert_int_equal(strncmp(csv, CSV_HEAD, strlen(CSV_HEAD)), 0);
	assert_int_equal(countLines(csv), 1 + 31 * 34);
	// the recording converts to the same text, and to itself
	ran = runTool("convert wall.knt again.csv");
	assert_int_equal(ran.status, 0);
	freeRan(&ran);
	ran = runTool("convert wall.knt again.knt");
	assert_int_equal(ran.status, 0);
	freeRan(&ran);
	ran = runTool("convert again.knt third.csv");
	assert_int_equal(ran.status, 0);
	freeRan(&ran);
	char* again = readWhole("again.csv");
	char* third = readWhole("third.csv");
	assert_string_equal(csv, again);
	assert_string_equal(csv, third);
	free(csv);
	free(again);
	free(third);
}

// --fps picks steps: every row is a row of the full recording.
static void test_fps_picks_steps(void** state) {
	(void)state;
	Ran all = runTool("run pendulum --steps 100 --out all.csv"),
		some = runTool("run pendulum --steps 100 --fps 30 --out some.csv");
	assert_int_equal(all.status + some.status, 0);
	freeRan(&all);
	freeRan(&some);
	char* full = readWhole("all.csv");
	char* picked = readWhole("some.csv");
	assert_int_equal(countLines(picked), 1 + 31);
	char* rest = NULL;
	for (char* row = strtok_r(picked, "\n", &rest); row != NULL; row = strtok_r(NULL, "\n", &rest)) {
		assert_non_null(strstr(full, row));
	}
	free(full);
	free(picked);
}

// A recording that ends too early gives its whole frames; one without a sound head gives nothing.
static void test_truncated_recording(void** state) {
	(void)state;
	Ran ran = runTool("run slope --steps 50 --out whole.knt --out whole.csv");
	assert_int_equal(ran.status, 0);
	freeRan(&ran);
	struct stat info;
	assert_int_equal(stat("whole.knt", &info), 0);
	char* bytes = readWhole("whole.knt");
	char* whole = readWhole("whole.csv");
	static const double shares[] = { 0.0, 0.001, 0.01, 0.3, 0.5, 0.7, 0.9, 0.99 };
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); ++i) {
		size_t size = (size_t)(shares[i] * (double)info.st_size);
		remove("cut.csv");
		writeBytes("cut.knt", bytes, size);
		BadCase cut = { "convert cut.knt cut.csv", 3, "cut.knt" };
		checkBad(&cut);
		char* text = readWhole("cut.csv");
		if (text != NULL) {
			assert_int_equal(strncmp(whole, text, strlen(text)), 0);
			assert_int_equal(text[strlen(text) - 1], '\n');
			free(text);
		}
		assert_true(shares[i] < 0.5 || exists("cut.csv"));
	}
	free(bytes);
	free(whole);
}

// --- measures ----------------------------------------------------------------------------------------------------

static void test_json_file(void** state) {
	(void)state;
	remove("out.json");
	Ran ran = runTool("run pendulum --steps 5 --json out.json");
	assert_int_equal(ran.status, 0);
	assert_non_null(strstr(ran.out, "pendulum"));
	freeRan(&ran);
	char* json = readWhole("out.json");
	assert_non_null(json);
	assert_true(jsonValid(json));
	free(json);
	assert_false(exists("out.json.part"));
}

static void test_steps_of_a_time(void** state) {
	(void)state;
	static const struct {
		const char* options;
		double steps;
	} cases[] = {
		{ "--time 0.996", 100 }, { "--time 0.994", 99 }, { "--time 0.3 --dt 0.1", 3 },
		{ "--time 0", 0 },       { "--steps 0", 0 },     { "--dt=0.02 --time=1", 50 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
		char line[128];
		snprintf(line, sizeof(line), "run pendulum --json - %s", cases[i].options);
		Ran ran = runTool(line);
		assert_int_equal(ran.status, 0);
		assert_true(jsonValid(ran.out));
		assert_near(jsonNumberAt(ran.out, "steps"), cases[i].steps, 0.0);
		freeRan(&ran);
	}
}

static void test_set_reaches_the_scene(void** state) {
	(void)state;
	double angle = 20.0 * KN_PI / 180.0;
	Ran ice = runTool("run slope --time 1 --set friction=0 --json -");
	assert_int_equal(ice.status, 0);
	double slid = 0.5 * 9.81 * knSin(angle) * 1.01;
	assert_near(jsonNumberAt(ice.out, "checks.slid"), slid, 0.01 * slid);
	freeRan(&ice);

	// without gravity nothing moves and there is no potential energy
	Ran still = runTool("run pendulum --time 1 --set gravity=0,0,0 --json -");
	assert_int_equal(still.status, 0);
	assert_near(jsonNumberAt(still.out, "energy.initial"), 0.0, 0.0);
	assert_near(jsonNumberAt(still.out, "displacement.max"), 0.0, 1e-12);
	freeRan(&still);

	// stepper settings
	Ran few = runTool("run slope --steps 1 --set scheme=default --set sweeps=7 --json -");
	Ran many = runTool("run slope --steps 1 --set scheme=default --set sweeps=70 --json -");
	assert_int_equal(few.status + many.status, 0);
	assert_true(jsonNumberAt(few.out, "iterations") < jsonNumberAt(many.out, "iterations"));
	freeRan(&few);
	freeRan(&many);
}

// The push at 3 s brings energy, which is no gain of the solver's.
static void test_script_energy_is_no_gain(void** state) {
	(void)state;
	Ran ran = runTool("run mass-ratio --set small=1 --set ratio=1 --time 3.1 --json -");
	assert_int_equal(ran.status, 0);
	double initial = jsonNumberAt(ran.out, "energy.initial"), added = jsonNumberAt(ran.out, "energy.added");
	assert_near(added, 12.5, 0.1); // 1/2 m v^2
	assert_true(jsonNumberAt(ran.out, "energy.final") > initial + 1.0);
	assert_true(jsonNumberAt(ran.out, "energy.max_gain") < 1.0);
	freeRan(&ran);
}

static void test_measure_every(void** state) {
	(void)state;
	Ran every = runTool("run ball-grid --set small=1 --steps 40 --json -");
	Ran rarely = runTool("run ball-grid --set small=1 --steps 40 --measure-every 20 --json -");
	assert_int_equal(every.status + rarely.status, 0);
	assert_near(jsonNumberAt(every.out, "penetration.final"), jsonNumberAt(rarely.out, "penetration.final"),
				0.0);
	assert_near(jsonNumberAt(every.out, "energy.final"), jsonNumberAt(rarely.out, "energy.final"), 0.0);
	assert_true(jsonNumberAt(every.out, "kinetic.max") >= jsonNumberAt(rarely.out, "kinetic.max"));
	assert_near(jsonNumberAt(every.out, "penetration.max"), 0.2, 1e-9);
	freeRan(&every);
	freeRan(&rarely);
}

// A run that leaves the numbers: exit status 1, what was until there is reported and recorded.
static void test_diverged_run(void** state) {
	(void)state;
	Ran ran = runTool("run slope --steps 50 --set gravity=0,0,-1e200 --json - --out lost.csv");
	assert_int_equal(ran.status, 1);
	assert_non_null(strstr(ran.err, "stopped after"));
	assert_true(jsonValid(ran.out));
	assert_int_equal(strncmp(jsonFind(ran.out, "finite"), "false", 5), 0);
	assert_true(isfinite(jsonNumberAt(ran.out, "energy.final")));
	assert_true(jsonNumberAt(ran.out, "steps") < 50.0);
	char* csv = readWhole("lost.csv");
	assert_non_null(csv);
	assert_int_equal(strncmp(csv, CSV_HEAD, strlen(CSV_HEAD)), 0);
	free(csv);
	freeRan(&ran);
}

// --- info ----------------------------------------------------------------------------------------------------------

// The pose of a joint frame in the world, from info's numbers alone.
static knFrame jointFrame(const char* json, int joint, const char* side, const char* key, int bodies) {
	char path[96], name[64], other[64];
	snprintf(path, sizeof(path), "joints.%d.%s", joint, side);
	jsonTextAt(json, path, name, sizeof(name));
	knFrame pose = knIdentityF();
	for (int i = 0; i < bodies && strcmp(name, "world") != 0; ++i) {
		snprintf(path, sizeof(path), "bodies.%d.name", i);
		jsonTextAt(json, path, other, sizeof(other));
		if (strcmp(name, other) == 0) {
			snprintf(path, sizeof(path), "bodies.%d.position", i);
			pose.p = jsonVecAt(json, path);
			snprintf(path, sizeof(path), "bodies.%d.rotation", i);
			pose.q = jsonQuatAt(json, path);
			break;
		}
	}
	snprintf(path, sizeof(path), "joints.%d.%s.position", joint, key);
	knFrame local = knIdentityF();
	local.p = jsonVecAt(json, path);
	snprintf(path, sizeof(path), "joints.%d.%s.rotation", joint, key);
	local.q = jsonQuatAt(json, path);
	return knMulF(pose, local);
}

static void test_info_closes_joints(void** state) {
	(void)state;
	Ran ran = runTool("info heavy-chain --json --set small=1");
	assert_int_equal(ran.status, 0);
	assert_true(jsonValid(ran.out));
	for (int i = 0; i < 10; ++i) {
		knFrame parent = jointFrame(ran.out, i, "parent", "frame_parent", 10);
		knFrame child = jointFrame(ran.out, i, "child", "frame_child", 10);
		assert_near3(parent.p, child.p, 1e-12);
		assert_near(fabs(knDotQ(parent.q, child.q)), 1.0, 1e-12);
	}
	// a ratio of 1000 is worth a warning
	assert_non_null(strstr(ran.out, "ratio"));
	freeRan(&ran);
}

static void test_info_gives_the_energy(void** state) {
	(void)state;
	Ran info = runTool("info joints --json"), run = runTool("run joints --steps 0 --json -");
	assert_int_equal(info.status + run.status, 0);
	knVec3 gravity = jsonVecAt(info.out, "gravity");
	double energy = 0.0;
	for (int i = 0; i < 20; ++i) {
		char path[64];
		knVec3 rows[3];
		snprintf(path, sizeof(path), "bodies.%d", i);
		const char* body = jsonFind(info.out, path);
		double mass = jsonNumberAt(body, "mass");
		knVec3 v = jsonVecAt(body, "velocity");
		knVec3 w = knInvRotate(jsonQuatAt(body, "rotation"), jsonVecAt(body, "angular_velocity"));
		for (int r = 0; r < 3; ++r) {
			snprintf(path, sizeof(path), "inertia.%d", r);
			rows[r] = jsonVecAt(body, path);
		}
		knVec3 spin = knV3(knDot(rows[0], w), knDot(rows[1], w), knDot(rows[2], w));
		energy += 0.5 * mass * knDot(v, v) + 0.5 * knDot(w, spin) -
				  mass * knDot(gravity, jsonVecAt(body, "position"));
	}
	assert_near(energy, jsonNumberAt(run.out, "energy.initial"), 1e-9 * fabs(energy));
	freeRan(&info);
	freeRan(&run);
}

static void test_info_shapes_and_warnings(void** state) {
	(void)state;
	Ran ran = runTool("info ball-grid --json --set small=1 --set friction=0.25 --set gravity=1,2,3");
	assert_int_equal(ran.status, 0);
	assert_near3(jsonVecAt(ran.out, "gravity"), knV3(1.0, 2.0, 3.0), 0.0);
	char text[64];
	jsonTextAt(ran.out, "shapes.0.geom", text, sizeof(text));
	assert_string_equal(text, "plane");
	jsonTextAt(ran.out, "shapes.0.body", text, sizeof(text));
	assert_string_equal(text, "world");
	assert_near(jsonNumberAt(ran.out, "shapes.3.radius"), 0.5, 0.0);
	assert_near(jsonNumberAt(ran.out, "shapes.3.friction"), 0.25, 0.0);
	assert_non_null(strstr(jsonFind(ran.out, "warnings"), "overlap"));
	freeRan(&ran);
	ran = runTool("info wall");
	assert_int_equal(ran.status, 0);
	assert_non_null(strstr(ran.out, "205 bodies"));
	assert_null(strstr(ran.out, "warning"));
	freeRan(&ran);
}

static void test_info_finds_loops(void** state) {
	(void)state;
	if (!hasMjcf) {
		skip();
	}
	// two hinged rods from the world, tied at their ends: one loop
	writeText(
		"loop.xml",
		"<mujoco><worldbody>"
		"<body name='left'><joint name='l' type='hinge' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 1 0 "
		"0' size='.02'/></body>"
		"<body name='right' pos='2 0 0'><joint name='r' type='hinge' axis='0 1 0'/><geom type='capsule' "
		"fromto='0 0 0 -.9 0 0' size='.02'/></body>"
		"</worldbody><equality><connect name='tie' body1='left' body2='right' anchor='1 0 "
		"0'/></equality></mujoco>");
	Ran ran = runTool("info loop.xml --json");
	assert_int_equal(ran.status, 0);
	char name[64];
	jsonTextAt(ran.out, "loops.0", name, sizeof(name));
	assert_string_equal(name, "tie");
	assert_null(jsonFind(ran.out, "loops.1"));
	freeRan(&ran);
}

// --- the rest --------------------------------------------------------------------------------------------------------

static void test_help(void** state) {
	(void)state;
	static const char* const commands[] = { "scenes", "run", "info", "convert", "bench" };
	Ran top = runTool("--help"), version = runTool("--version");
	assert_int_equal(top.status, 0);
	assert_int_equal(version.status, 0);
	assert_int_equal(strncmp(version.out, "knuckle " KN_VERSION_STRING, strlen("knuckle " KN_VERSION_STRING)),
					 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); ++i) {
		char line[32];
		assert_non_null(strstr(top.out, commands[i]));
		snprintf(line, sizeof(line), "%s --help", commands[i]);
		Ran ran = runTool(line);
		assert_int_equal(ran.status, 0);
		assert_non_null(strstr(ran.out, "usage: knuckle"));
		assert_string_equal(ran.err, "");
		freeRan(&ran);
	}
	freeRan(&top);
	freeRan(&version);
}

static void test_bench(void** state) {
	(void)state;
	Ran ran = runTool("bench slope pendulum --steps 5 --out bench.csv");
	assert_int_equal(ran.status, 0);
	assert_non_null(strstr(ran.out, "slope"));
	char* csv = readWhole("bench.csv");
	assert_int_equal(countLines(csv), 3);
	// the hash is that of the same run
	Ran same = runTool("run slope --steps 5 --json -");
	char hash[17];
	jsonTextAt(same.out, "hash", hash, sizeof(hash));
	assert_non_null(strstr(csv, hash));
	free(csv);
	freeRan(&ran);
	freeRan(&same);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_usage),
		cmocka_unit_test(test_bad_input),
		cmocka_unit_test(test_refusal_keeps_older_files),
		cmocka_unit_test(test_pair_limit),
		cmocka_unit_test(test_bad_scene_files),
		cmocka_unit_test(test_scene_file),
		cmocka_unit_test(test_unread_setting_of_a_file),
		cmocka_unit_test(test_control_file),
		cmocka_unit_test(test_lenient),
		cmocka_unit_test(test_convert_scene),
		cmocka_unit_test(test_recordings),
		cmocka_unit_test(test_fps_picks_steps),
		cmocka_unit_test(test_truncated_recording),
		cmocka_unit_test(test_json_file),
		cmocka_unit_test(test_steps_of_a_time),
		cmocka_unit_test(test_set_reaches_the_scene),
		cmocka_unit_test(test_script_energy_is_no_gain),
		cmocka_unit_test(test_measure_every),
		cmocka_unit_test(test_diverged_run),
		cmocka_unit_test(test_info_closes_joints),
		cmocka_unit_test(test_info_gives_the_energy),
		cmocka_unit_test(test_info_shapes_and_warnings),
		cmocka_unit_test(test_info_finds_loops),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_bench),
	};
	if (!haveTool()) {
		return 0;
	}
	if (enterFolder("cli_contract") != 0) {
		return 1;
	}
	Ran ran = runTool("info missing.xml");
	hasMjcf = strstr(ran.err, "libexpat") == NULL;
	freeRan(&ran);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
