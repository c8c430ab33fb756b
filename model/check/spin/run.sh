#!/usr/bin/env bash
# Searches a Promela model exhaustively with SPIN, for comparison with model/check:
#
#	run.sh MODEL.pml [-DNAME=VALUE]...
#
# and prints one line: states N transitions N errors N seconds S bytes N. The seconds
# are of the processor, for the search alone; the bytes are what SPIN says it used, of
# which 8 * 2^24 are its hash table. Needs Debian's packages spin and gcc.
# SPIN_HASH changes the 24.
set -euo pipefail
model=$(realpath "$1")
shift
into=$(mktemp -d)
trap 'rm -rf "$into"' EXIT
cd "$into"

# SAFETY: no search for cycles. NOREDUCE: every state is wanted, not one of each kind.
spin "$@" -a "$model" >&2
gcc -O2 -DSAFETY -DNOREDUCE -DMEMLIM=16384 -w -o pan pan.c

TIMEFORMAT='%U %S'
{ time ./pan -m100000 -w"${SPIN_HASH:-24}" -n >report 2>pan.err; } 2>seconds
cat pan.err >&2
if grep -qE 'max search depth too small|out of memory|not completed' report pan.err; then
	cat report >&2
	exit 1
fi
awk -v took="$(tail -n 1 seconds)" '
	/states, stored/       {states = $1}
	/transitions \(=/      {transitions = $1}
	/errors:/              {errors = $NF}
	/total actual memory/  {bytes = $1 * 1048576}
	END {
		split(took, t, " ")
		printf "states %d transitions %d errors %d seconds %.2f bytes %d\n",
			states, transitions, errors, t[1] + t[2], bytes
	}' report
