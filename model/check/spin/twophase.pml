/* Two-phase commit, action by action as model/specs/twophase.go has it, so that
 * both must find the same states. N resource managers, 1 to 10: spin -DN=7.
 * A d_step is one step, and leads back to the head of the loop. */
#ifndef N
#define N 7
#endif

#define WORKING   0
#define PREPARED  1
#define COMMITTED 2
#define ABORTED   3

byte manager[N];
byte decision;
bit  prepared[N]; /* this message was sent, */
bit  heard[N];    /* and has reached the transaction manager */
bit  commit, abort;
byte i;           /* zero between steps */

inline agree(other) {
	i = 0;
	do
	:: i < N -> assert(manager[i] != other); i++
	:: else -> break
	od;
	i = 0
}

#define MANAGER(m) \
	:: d_step { decision == WORKING && prepared[m] -> heard[m] = 1 } \
	:: d_step { manager[m] == WORKING -> manager[m] = PREPARED; prepared[m] = 1 } \
	:: d_step { manager[m] == WORKING -> manager[m] = ABORTED } \
	:: d_step { commit -> agree(ABORTED); manager[m] = COMMITTED } \
	:: d_step { abort -> agree(COMMITTED); manager[m] = ABORTED }

/* Every manager has been heard: the conjunction on one line, for a line's end
 * can end a statement. */
#if N == 1
#define ALL heard[0]
#elif N == 2
#define ALL heard[0] && heard[1]
#elif N == 3
#define ALL heard[0] && heard[1] && heard[2]
#elif N == 4
#define ALL heard[0] && heard[1] && heard[2] && heard[3]
#elif N == 5
#define ALL heard[0] && heard[1] && heard[2] && heard[3] && heard[4]
#elif N == 6
#define ALL heard[0] && heard[1] && heard[2] && heard[3] && heard[4] && \
	heard[5]
#elif N == 7
#define ALL heard[0] && heard[1] && heard[2] && heard[3] && heard[4] && \
	heard[5] && heard[6]
#elif N == 8
#define ALL heard[0] && heard[1] && heard[2] && heard[3] && heard[4] && \
	heard[5] && heard[6] && heard[7]
#elif N == 9
#define ALL heard[0] && heard[1] && heard[2] && heard[3] && heard[4] && \
	heard[5] && heard[6] && heard[7] && heard[8]
#elif N == 10
#define ALL heard[0] && heard[1] && heard[2] && heard[3] && heard[4] && \
	heard[5] && heard[6] && heard[7] && heard[8] && heard[9]
#endif

active proctype all() {
end:	do
	:: d_step { decision == WORKING && ALL -> decision = COMMITTED; commit = 1 }
	:: d_step { decision == WORKING -> decision = ABORTED; abort = 1 }
	MANAGER(0)
#if N > 1
	MANAGER(1)
#endif
#if N > 2
	MANAGER(2)
#endif
#if N > 3
	MANAGER(3)
#endif
#if N > 4
	MANAGER(4)
#endif
#if N > 5
	MANAGER(5)
#endif
#if N > 6
	MANAGER(6)
#endif
#if N > 7
	MANAGER(7)
#endif
#if N > 8
	MANAGER(8)
#endif
#if N > 9
	MANAGER(9)
#endif
	od
}
