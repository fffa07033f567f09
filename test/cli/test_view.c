// knuckle view: one page on 127.0.0.1 alone, on a free port; nothing beside what it serves; Ctrl-C ends it.
#include "cli_test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>

#include "knuckle/scene.h"

typedef struct Viewing {
	pid_t process;
	int port;
	char url[1024];
} Viewing;

static void nap(void) {
	struct timespec pause = { .tv_nsec = 10000000 };
	nanosleep(&pause, NULL);
}

// Starts the tool and waits for the address that it prints.
static Viewing startViewing(const char* what, const char* more) {
	remove("view.out");
	Viewing viewing = { .process = fork() };
	assert_true(viewing.process >= 0);
	if (viewing.process == 0) {
		redirect(STDOUT_FILENO, "view.out");
		redirect(STDERR_FILENO, "view.err");
		execl(getenv("KN_TOOL"), "knuckle", "view", what, "--no-browser", more, (char*)NULL);
		_exit(127);
	}
	for (int i = 0; i < 3000 && viewing.port == 0; ++i) {
		char* text = readWhole("view.out");
		if (text != NULL && strchr(text, '\n') != NULL) {
			assert_int_equal(sscanf(text, "http://127.0.0.1:%d/", &viewing.port), 1);
			sscanf(text, "%1023s", viewing.url);
		}
		free(text);
		nap();
	}
	assert_true(viewing.port > 0);
	return viewing;
}

// The server takes up to two seconds to end, so all of them end together (test_interrupt_ends_it).
static pid_t stopping[8];
static int stoppingCount;

static void stopViewing(Viewing viewing) {
	assert_int_equal(kill(viewing.process, SIGINT), 0);
	stopping[stoppingCount++] = viewing.process;
}

static void test_interrupt_ends_it(void** state) {
	(void)state;
	assert_true(stoppingCount > 0);
	for (int i = 0; i < stoppingCount; ++i) {
		int ended;
		assert_int_equal(waitpid(stopping[i], &ended, 0), stopping[i]);
		assert_true(WIFEXITED(ended));
		assert_int_equal(WEXITSTATUS(ended), 0);
	}
}

// The whole answer to a request; to be freed.
static char* ask(int port, const char* request, size_t* size) {
	int socketNumber = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in address = { .sin_family = AF_INET,
								   .sin_port = htons((uint16_t)port),
								   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	assert_int_equal(connect(socketNumber, (struct sockaddr*)&address, sizeof(address)), 0);
	assert_int_equal(send(socketNumber, request, strlen(request), 0), strlen(request));
	size_t capacity = 1 << 24;
	char* answer = malloc(capacity);
	assert_non_null(answer);
	*size = 0;
	for (ssize_t got = 1; got > 0 && *size<capacity - 1; *size += got> 0 ? (size_t)got : 0) {
		got = recv(socketNumber, answer + *size, capacity - 1 - *size, 0);
	}
	answer[*size] = '\0';
	close(socketNumber);
	return answer;
}

static void expect(int port, const char* line, const char* body, const char* status, const char* says) {
	char request[2048];
	size_t size;
	snprintf(request, sizeof(request),
			 "%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s", line,
			 port, strlen(body), body);
	char* answer = ask(port, request, &size);
	if (strncmp(answer + 9, status, 3) != 0 || strstr(answer, says) == NULL) {
		fail_msg("%s: %.300s (expected %s and '%s')", line, answer, status, says);
	}
	free(answer);
}

// A page in place of the viewer, which need not be built.
static void makeViewer(void) {
	mkdir("site", 0755);
	mkdir("site/pictures", 0755);
	writeText("site/index.html", "<canvas></canvas>");
	writeText("site/pictures/tower.jpg", "picture");
	writeText("secret.jpg", "secret");
	assert_true(symlink("../../secret.jpg", "site/pictures/link.jpg") == 0 || errno == EEXIST);
	setenv("KNUCKLE_VIEWER", "site", 1);
}

static void test_serves_only_what_it_names(void** state) {
	(void)state;
	makeViewer();
	Viewing viewing = startViewing("slope", NULL);
	assert_non_null(strstr(viewing.url, "#scene=slope&served=1"));
	expect(viewing.port, "GET /", "", "200", "<canvas>");
	expect(viewing.port, "GET /index.html", "", "200", "<canvas>");
	expect(viewing.port, "GET /pictures/tower.jpg", "", "200", "picture");
	static const char* const elsewhere[] = { "GET /secret.jpg",
											 "GET /pictures/../../secret.jpg",
											 "GET /pictures/..%2f..%2fsecret.jpg",
											 "GET /pictures/%2e%2e/%2e%2e/secret.jpg",
											 "GET /../secret.jpg",
											 "GET //etc/passwd",
											 "GET /etc/passwd",
											 "GET /view.out",
											 "GET /pictures/link.jpg",
											 "GET /pictures/" };
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); ++i) {
		expect(viewing.port, elsewhere[i], "", "404", "there is no");
	}
	expect(viewing.port, "PUT /index.html", "x", "405", "");
	expect(viewing.port, "POST /compile",
		   "bad.xml\n72\n<mujoco><worldbody><geom type='box' size='-1 1 1'/></worldbody></mujoco>", "422",
		   "bad.xml");
	size_t size;
	char* answer =
		ask(viewing.port, "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", &size);
	assert_non_null(strstr(answer, "403"));
	free(answer);
	char request[160];
	snprintf(request, sizeof(request),
			 "POST /compile HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://evil.example\r\nContent-Length: "
			 "0\r\nConnection: close\r\n\r\n",
			 viewing.port);
	answer = ask(viewing.port, request, &size);
	assert_non_null(strstr(answer, "403"));
	free(answer);
	stopViewing(viewing);
}

// Adds a file to what is dropped.
static void drop(char* body, size_t capacity, const char* name, const char* text) {
	size_t length = strlen(body);
	snprintf(body + length, capacity - length, "%s\n%zu\n%s", name, strlen(text), text);
}

// The number of bodies in the scene that is made of what was dropped.
static int countDropped(int port, const char* body) {
	char request[4096];
	size_t size;
	snprintf(request, sizeof(request),
			 "POST /compile HTTP/1.1\r\nHost: localhost:%d\r\nOrigin: http://localhost:%d\r\nContent-Length: "
			 "%zu\r\nConnection: close\r\n\r\n%s",
			 port, port, strlen(body), body);
	char* answer = ask(port, request, &size);
	assert_int_equal(strncmp(answer + 9, "200", 3), 0);
	char* bytes = strstr(answer, "\r\n\r\n") + 4;
	knError error = { 0 };
	knScene* scene = knScene_FromBytes(bytes, size - (size_t)(bytes - answer), NULL, &error);
	assert_non_null(scene);
	int count = knScene_BodySlots(scene);
	knScene_Destroy(scene);
	free(answer);
	return count;
}

// A model is dropped alone or with the files that it names; none of them may be written elsewhere.
static void test_dropped_models(void** state) {
	(void)state;
	static const char urdf[] =
		"<robot name='r'><link name='base'/><link name='arm'><inertial><mass value='1'/>"
		"<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
		"<joint name='j' type='continuous'><parent link='base'/><child link='arm'/></joint>"
		"</robot>";
	static const char obj[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
	static const char mjcf[] =
		"<mujoco><compiler meshdir='parts'/><asset><mesh name='m' file='sub/m.obj'/></asset>"
		"<worldbody><body><freejoint/><geom type='mesh' mesh='m'/></body></worldbody>"
		"<include file='more.xml'/></mujoco>";
	static const char more[] = "<mujoco><worldbody><body pos='5 0 0'><freejoint/><geom size='1'/></body>"
							   "</worldbody></mujoco>";
	makeViewer();
	Viewing viewing = startViewing("slope", NULL);
	char body[2048] = "";
	drop(body, sizeof(body), "robot.urdf", urdf);
	assert_true(countDropped(viewing.port, body) >= 1);
	body[0] = '\0';
	drop(body, sizeof(body), "model.xml", mjcf);
	drop(body, sizeof(body), "parts/sub/m.obj", obj);
	expect(viewing.port, "POST /compile", body, "422", "more.xml");
	drop(body, sizeof(body), "more.xml", more);
	assert_int_equal(countDropped(viewing.port, body), 2);
	static const char* const names[] = { "../evil.xml", "/tmp/evil.xml", "a/../../evil.xml",
										 "a//evil.xml", ".evil.xml",     "a\\..\\evil.xml" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
		body[0] = '\0';
		drop(body, sizeof(body), names[i], more);
		expect(viewing.port, "POST /compile", body, "422", "may not lead out");
	}
	expect(viewing.port, "POST /compile", "model.xml\n99999\n<mujoco/>", "422", "whole");
	expect(viewing.port, "POST /compile", "<mujoco/>", "422", "list of names");
	stopViewing(viewing);
}

// Only 127.0.0.1 listens: the system's own list of sockets says so.
static void test_listens_on_this_machine_alone(void** state) {
	(void)state;
	makeViewer();
	Viewing viewing = startViewing("slope", NULL);
	FILE* list = fopen("/proc/net/tcp", "r");
	char line[512];
	int found = 0;
	while (list != NULL && fgets(line, sizeof(line), list) != NULL) {
		unsigned address, port, status;
		if (sscanf(line, " %*d: %x:%x %*x:%*x %x", &address, &port, &status) == 3 &&
			port == (unsigned)viewing.port && status == 10) {
			assert_int_equal(address, htonl(INADDR_LOOPBACK));
			found += 1;
		}
	}
	if (list != NULL) {
		fclose(list);
		assert_int_equal(found, 1);
	}
	stopViewing(viewing);
}

// A model is compiled here; what the page fetches is the scene that the file describes.
static void test_model_and_recording(void** state) {
	(void)state;
	char path[512];
	makeViewer();
	snprintf(path, sizeof(path), "%s/models/pendulum.xml", getenv("KN_SOURCE_DIR"));
	Viewing viewing = startViewing(path, "--stepper=impulse");
	assert_non_null(strstr(viewing.url, "#file=scene&name=pendulum.xml&stepper=impulse&served=1"));
	char request[128];
	size_t size;
	snprintf(request, sizeof(request),
			 "GET /scene HTTP/1.1\r\nHost: localhost:%d\r\nConnection: close\r\n\r\n", viewing.port);
	char* answer = ask(viewing.port, request, &size);
	char* body = strstr(answer, "\r\n\r\n");
	assert_non_null(body);
	knError error = { 0 };
	knScene* scene = knScene_FromBytes(body + 4, size - (size_t)(body + 4 - answer), NULL, &error);
	assert_non_null(scene);
	knScene_Destroy(scene);
	free(answer);
	stopViewing(viewing);

	Ran ran = runTool("run pendulum --steps 20 --out run.knt");
	assert_int_equal(ran.status, 0);
	freeRan(&ran);
	viewing = startViewing("run.knt", NULL);
	expect(viewing.port, "GET /", "", "200", "KNUCKLE");
	expect(viewing.port, "POST /compile?name=a.xml", "<mujoco/>", "405", "");
	stopViewing(viewing);
}

static void test_refusals(void** state) {
	(void)state;
	static const struct {
		const char* line;
		int status;
		const char* says;
	} cases[] = {
		{ "view towr", 2, "did you mean 'tower'?" },
		{ "view slope --set angel=3", 2, "did you mean 'angle'?" },
		{ "view nothere.xml", 3, "nothere.xml" },
		{ "view nothere.knt", 3, "nothere.knt" },
	};
	makeViewer();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
		Ran ran = runTool(cases[i].line);
		assert_int_equal(ran.status, cases[i].status);
		assert_non_null(strstr(ran.err, cases[i].says));
		freeRan(&ran);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_serves_only_what_it_names),
		cmocka_unit_test(test_dropped_models),
		cmocka_unit_test(test_listens_on_this_machine_alone),
		cmocka_unit_test(test_model_and_recording),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_interrupt_ends_it),
	};
	if (!haveTool()) {
		return 0;
	}
	Ran ran = runTool("view");
	bool served = strstr(ran.err, "web server") == NULL;
	freeRan(&ran);
	Ran tried = runTool("view nothere.knt");
	served = served && strstr(tried.err, "web server") == NULL;
	freeRan(&tried);
	if (!served) {
		print_message("skipped: this build has no web server\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
