# Tests. Each tests/unit/test_*.c is a cmocka program; each tests/cli/*.sh and tests/filters/*.py a
# script that runs the program; all end with a line that tests/run counts.
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))

$(B)/tests/unit/%: tests/unit/%.c $(wildcard tests/unit/*.h) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -I tests/unit -o $@ $< $(LIB) $(LDFLAGS) $(CUDA_LIBS) $(LIBS) -lcmocka

.PHONY: test unit
unit: $(UNIT)

test: all $(UNIT)
	tests/run $(B)
