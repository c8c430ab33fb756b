/* Transactions over one partition, action by action as model/specs/validated.go has
 * them, so that both must find the same states. R records, 1 to 8: spin -DR=5. What
 * goes wrong is bounded by CRASHES, MOVES, TIMEOUTS and LOST. Two members, each
 * transaction under an epoch of its own, no rejects, nothing arrives late.
 * A d_step is one step, and leads back to the head of the loop. What must hold when
 * all is quiet is left to the engine; what must always hold is asserted here. */
#ifndef R
#define R 4
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef MOVES
#define MOVES 1
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 1
#endif
#ifndef LOST
#define LOST 1
#endif

#define IDLE       0 /* phase */
#define ONGOING    1
#define COMMITTING 2
#define ABORTING   3

#define DOWN    0 /* stage */
#define READY   1
#define WORKING 2
#define OFFERED 3
#define ENDING  4
#define FAILED  5
#define ASKING  6

#define NONE    0 /* epoch */
#define CURRENT 1
#define STALE   2

#define NOBODY  0 /* waits */
#define ANSWER  1
#define IN_VAIN 2

byte output, group, owner;
byte phase[2], first[2], end[2], pending[2];
bit  output_in[2], group_in[2];
byte stage[2], epoch[2], from[2], sent[2], next[2], waits[2];
bit  has[2];
byte crashes = CRASHES, moves = MOVES, timeouts = TIMEOUTS, lost = LOST;

inline raise(m) {
	if
	:: epoch[m] == CURRENT -> epoch[m] = STALE
	:: else
	fi
}

inline position(m, p) {
	from[m] = p;
	sent[m] = p;
	next[m] = p
}

inline append(m) {
	if
	:: end[m] == 0 -> first[m] = from[m]
	:: else
	fi;
	phase[m] = ONGOING;
	end[m] = sent[m];
	output_in[m] = 1
}

inline pend(m, w) {
	stage[m] = OFFERED;
	waits[m] = w;
	phase[m] = ONGOING;
	pending[m] = next[m];
	group_in[m] = 1
}

/* decide: no input is committed twice, and none before one that comes earlier. */
inline decide(m) {
	phase[m] = COMMITTING;
	if
	:: end[m] > 0 ->
		assert(first[m] == output);
		output = end[m]
	:: else
	fi
}

inline complete(m) {
	if
	:: output_in[m] == 0 && group_in[m] == 0 -> phase[m] = IDLE
	:: else
	fi
}

inline settle(m) {
	position(m, 0);
	waits[m] = NOBODY;
	if
	:: has[m] -> stage[m] = ASKING
	:: else -> stage[m] = READY
	fi
}

inline gone(m) {
	stage[m] = DOWN;
	epoch[m] = NONE;
	position(m, 0);
	waits[m] = NOBODY;
	has[m] = 0;
	if
	:: owner == m + 1 -> owner = 0
	:: else
	fi
}

inline drop(m) {
	has[m] = 0;
	if
	:: epoch[m] == NONE -> stage[m] = DOWN; position(m, 0)
	:: epoch[m] != NONE && (stage[m] == READY || stage[m] == ASKING) ->
		stage[m] = READY; position(m, 0)
	:: else -> stage[m] = FAILED
	fi
}

#define MAY(m) (epoch[m] == CURRENT && phase[m] <= ONGOING)

#define POLL(m, e) \
	:: d_step { stage[m] == READY && has[m] && next[m] < e && e <= R -> \
		stage[m] = WORKING; next[m] = e }

#define PRODUCES(m, e) (stage[m] == WORKING && MAY(m) && waits[m] == NOBODY && \
	sent[m] < e && e <= next[m])

#define PRODUCE(m, e) \
	:: d_step { PRODUCES(m, e) -> sent[m] = e; waits[m] = ANSWER; append(m) } \
	:: d_step { PRODUCES(m, e) && lost > 0 -> \
		sent[m] = e; waits[m] = IN_VAIN; append(m); lost-- } \
	:: d_step { PRODUCES(m, e) && lost > 0 -> sent[m] = e; waits[m] = IN_VAIN; lost-- }

#define BEGINS(m) (epoch[m] == NONE && (stage[m] == DOWN || stage[m] == WORKING))
#define OFFERS(m) (stage[m] == WORKING && waits[m] == NOBODY && MAY(m) && \
	sent[m] == next[m])
#define AGAIN(m) (stage[m] == OFFERED && waits[m] == IN_VAIN && MAY(m))
#define COMMITS(m) (stage[m] == OFFERED && waits[m] == NOBODY && \
	epoch[m] == CURRENT && phase[m] == ONGOING)

#define MEMBER(m) \
	:: d_step { BEGINS(m) && phase[m] == ONGOING -> raise(m); phase[m] = ABORTING } \
	:: d_step { BEGINS(m) && phase[m] == IDLE -> epoch[m] = CURRENT; \
		if :: stage[m] == DOWN -> stage[m] = READY :: else fi } \
	:: d_step { stage[m] <= READY && !has[m] && owner == 0 -> \
		owner = m + 1; has[m] = 1; stage[m] = ASKING } \
	:: d_step { has[m] && waits[m] == NOBODY && stage[m] != ENDING && owner != m + 1 -> drop(m) } \
	:: d_step { stage[m] == ASKING && has[m] && owner == m + 1 && \
		pending[0] == 0 && pending[1] == 0 -> stage[m] = READY; position(m, group) } \
	:: d_step { stage[m] == WORKING && MAY(m) && waits[m] == IN_VAIN -> \
		waits[m] = ANSWER; append(m) } \
	:: d_step { (OFFERS(m) || AGAIN(m)) && owner != m + 1 -> \
		stage[m] = FAILED; waits[m] = NOBODY } \
	:: d_step { (OFFERS(m) || AGAIN(m)) && owner == m + 1 -> pend(m, ANSWER) } \
	:: d_step { OFFERS(m) && owner == m + 1 && lost > 0 -> pend(m, IN_VAIN); lost-- } \
	:: d_step { OFFERS(m) && owner == m + 1 && lost > 0 -> \
		stage[m] = OFFERED; waits[m] = IN_VAIN; lost-- } \
	:: d_step { COMMITS(m) -> decide(m); stage[m] = ENDING; waits[m] = ANSWER } \
	:: d_step { COMMITS(m) && lost > 0 -> \
		decide(m); stage[m] = ENDING; waits[m] = IN_VAIN; lost-- } \
	:: d_step { COMMITS(m) && lost > 0 -> stage[m] = ENDING; waits[m] = IN_VAIN; lost-- } \
	:: d_step { stage[m] == ENDING && waits[m] == IN_VAIN && epoch[m] == CURRENT -> \
		waits[m] = ANSWER; if :: phase[m] == ONGOING -> decide(m) :: else fi } \
	:: d_step { waits[m] == IN_VAIN -> stage[m] = FAILED; waits[m] = NOBODY } \
	:: d_step { waits[m] == ANSWER && stage[m] != ENDING -> waits[m] = NOBODY } \
	:: d_step { waits[m] == ANSWER && stage[m] == ENDING -> \
		stage[m] = READY; waits[m] = NOBODY; position(m, next[m]) } \
	:: d_step { epoch[m] == STALE && stage[m] >= WORKING && stage[m] <= FAILED && \
		waits[m] != ANSWER -> gone(m) } \
	:: d_step { stage[m] == FAILED && MAY(m) -> \
		if :: phase[m] == ONGOING -> phase[m] = ABORTING :: else fi; settle(m) } \
	:: d_step { stage[m] != DOWN && crashes > 0 -> gone(m); crashes-- } \
	:: d_step { stage[m] != DOWN && owner == m + 1 && moves > 0 -> owner = 0; moves-- } \
	:: d_step { phase[m] == ONGOING && (epoch[m] != CURRENT || timeouts > 0) -> \
		if :: epoch[m] == CURRENT -> timeouts-- :: else fi; \
		raise(m); phase[m] = ABORTING } \
	:: d_step { phase[m] > ONGOING && output_in[m] -> \
		first[m] = 0; end[m] = 0; output_in[m] = 0; complete(m) } \
	:: d_step { phase[m] > ONGOING && group_in[m] -> \
		if :: phase[m] == COMMITTING -> \
			assert(group <= pending[m] && pending[m] <= output); group = pending[m] \
		:: else fi; \
		pending[m] = 0; group_in[m] = 0; complete(m) } \
	POLL(m, 1) POLL(m, 2) POLL(m, 3) POLL(m, 4) POLL(m, 5) POLL(m, 6) POLL(m, 7) POLL(m, 8) \
	PRODUCE(m, 1) PRODUCE(m, 2) PRODUCE(m, 3) PRODUCE(m, 4) \
	PRODUCE(m, 5) PRODUCE(m, 6) PRODUCE(m, 7) PRODUCE(m, 8)

active proctype all() {
end_:	do
	MEMBER(0)
	MEMBER(1)
	od
}
