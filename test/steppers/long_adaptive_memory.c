// What a step touches does not grow with the body.
//
// Large blocks are mapped and locked. An access to a locked page of the state or the model faults: its cache line is
// noted, the page is opened for that one instruction (the processor's trap flag), and locked again. Of the step's arena,
// which is written before it is read, a page is filled with a pattern at its first touch; lines that lose it are counted.
#include "steppers/chain_scene.h"

#if defined(__x86_64__) && defined(__linux__)

#include "world/world_internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define TRAP_FLAG 0x100

enum { PAGE = 4096, LINE = 64, MOST_BLOCKS = 4096, PATTERN = 0xa5 };

typedef struct Block {
	char* at;
	size_t size;
	bool arena;
	uint8_t *lines, *pages; // [size / LINE] touched, [size / PAGE] opened
} Block;

static Block blocks[MOST_BLOCKS];
static int blockCount;
static char* opened[4]; // for the instruction under way
static int openedCount;

static void* mapPages(size_t size, void* context) {
	(void)context;
	if (size < PAGE) {
		return aligned_alloc(LINE, (size + LINE - 1) / LINE * LINE);
	}
	size_t whole = (size + PAGE - 1) / PAGE * PAGE;
	void* at = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *lines = calloc(whole / LINE, 1), *pages = calloc(whole / PAGE, 1);
	if (at == MAP_FAILED || blockCount == MOST_BLOCKS || lines == NULL || pages == NULL) {
		return NULL;
	}
	blocks[blockCount++] = (Block){ at, whole, false, lines, pages };
	return at;
}

static void unmapPages(void* memory, size_t size, void* context) {
	(void)context;
	for (int i = 0; i < blockCount; ++i) {
		if (blocks[i].at == memory) {
			munmap(memory, (size + PAGE - 1) / PAGE * PAGE);
			free(blocks[i].lines);
			free(blocks[i].pages);
			blocks[i] = blocks[--blockCount];
			return;
		}
	}
	free(memory);
}

static void setTrap(void* context, bool on) {
	greg_t* flags = &((ucontext_t*)context)->uc_mcontext.gregs[REG_EFL];
	*flags = on ? *flags | TRAP_FLAG : *flags & ~(greg_t)TRAP_FLAG;
}

static void onTouch(int signal, siginfo_t* info, void* context) {
	char* at = info->si_addr;
	for (int i = 0; i < blockCount; ++i) {
		if (at < blocks[i].at || at >= blocks[i].at + blocks[i].size) {
			continue;
		}
		size_t offset = (size_t)(at - blocks[i].at);
		char* page = blocks[i].at + offset / PAGE * PAGE;
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
		if (blocks[i].arena) {
			memset(page, PATTERN, PAGE);
			blocks[i].pages[offset / PAGE] = 1;
		} else {
			blocks[i].lines[offset / LINE] = 1;
			opened[openedCount++] = page;
			setTrap(context, true);
		}
		return;
	}
	(void)sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
}

static void onTrap(int signal, siginfo_t* info, void* context) {
	(void)signal;
	(void)info;
	while (openedCount > 0) {
		mprotect(opened[--openedCount], PAGE, PROT_NONE);
	}
	setTrap(context, false);
}

static void lockAll(const knWorld* world) {
	for (int i = 0; i < blockCount; ++i) {
		const char *at = blocks[i].at, *end = at + blocks[i].size, *arena = (const char*)world->arena.block;
		blocks[i].arena = arena >= at && arena < end;
		memset(blocks[i].pages, 0, blocks[i].size / PAGE);
		// the first page of the arena has its bookkeeping
		size_t kept = blocks[i].arena ? PAGE : 0;
		mprotect(blocks[i].at + kept, blocks[i].size - kept, PROT_NONE);
	}
}

static void noteLinesOfPage(Block* block, size_t page) {
	for (size_t line = page * PAGE / LINE; line < (page + 1) * PAGE / LINE; ++line) {
		const unsigned char* bytes = (const unsigned char*)block->at + line * LINE;
		for (int k = 0; k < LINE && block->lines[line] == 0; ++k) {
			block->lines[line] = bytes[k] != PATTERN;
		}
	}
}

static void unlockAll(void) {
	for (int i = 0; i < blockCount; ++i) {
		mprotect(blocks[i].at, blocks[i].size, PROT_READ | PROT_WRITE);
		for (size_t page = 0; page < blocks[i].size / PAGE; ++page) {
			if (blocks[i].pages[page] != 0) {
				noteLinesOfPage(&blocks[i], page);
			}
		}
	}
}

static int countLines(void) {
	int count = 0;
	for (int i = 0; i < blockCount; ++i) {
		for (size_t k = 0; k < blocks[i].size / LINE; ++k) {
			count += blocks[i].lines[k];
		}
	}
	return count;
}

// Cache lines that two steps touch in the middle of a swing, each with an update of the region.
static int linesOfSteps(int links) {
	knAllocator memory = { mapPages, unmapPages, NULL };
	knBodyId* bodies = malloc((size_t)links * sizeof(*bodies));
	ChainDef def = {
		.count = links, .gravity = earth, .held = true, .shapes = true, .damping = 0.05, .allocator = &memory
	};
	knSettings settings = knSettings_Default();
	knError error = { 0 };
	settings.adaptive.active = 50;
	settings.adaptive.update = 1;
	knScene* scene = newChain(&def, bodies);
	knModel* model = knModel_Create(scene, &error);
	assert_non_null(model);
	knScene_Destroy(scene);
	knWorldDef worldDef = { .stepper = "adaptive", .settings = &settings, .allocator = &memory };
	knWorld* world = knWorld_Create(model, &worldDef, &error);
	assert_non_null(world);
	run(world, 15, 0.001);
	for (int i = 0; i < 2; ++i) {
		lockAll(world);
		assert_ok(knWorld_Step(world, 0.001, &error));
		unlockAll();
	}
	int touched = countLines();
	assert_true(knWorld_Report(world)->active <= 50);
	knWorld_Destroy(world);
	knModel_Release(model);
	free(bodies);
	return touched;
}

static void test_touched_memory_does_not_grow(void** state) {
	(void)state;
	struct sigaction touch = { .sa_sigaction = onTouch, .sa_flags = SA_SIGINFO };
	struct sigaction trap = { .sa_sigaction = onTrap, .sa_flags = SA_SIGINFO }, old[2];
	assert_int_equal(sigaction(SIGSEGV, &touch, &old[0]), 0);
	assert_int_equal(sigaction(SIGTRAP, &trap, &old[1]), 0);
	int some = linesOfSteps(1000), many = linesOfSteps(100000);
	assert_int_equal(sigaction(SIGSEGV, &old[0], NULL), 0);
	assert_int_equal(sigaction(SIGTRAP, &old[1], NULL), 0);
	print_message("touched: %d lines of 1000 links, %d of 100000\n", some, many);
	assert_true(many < 1.1 * some); // places of links that are newly moved are found in log n steps
}

#else

static void test_touched_memory_does_not_grow(void** state) {
	(void)state;
	skip();
}

#endif

int main(void) {
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_touched_memory_does_not_grow) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
