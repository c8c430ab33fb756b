package main

import (
	"fmt"
	"strconv"
	"strings"
)

// batchSize is how many schedules one worker process runs. It is part of what a
// seed means: another size draws other schedules.
const batchSize = 50

// batchSeed returns the seed of a batch of a campaign: the campaign's own for
// batch 0, and for batch k the k-th output of SplitMix64 started with it, so that
// the batches of neighbouring seeds have nothing in common.
func batchSeed(seed uint64, k int) uint64 {
	if k == 0 {
		return seed
	}
	z := seed + uint64(k)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// shard is the part of a campaign that one machine runs: part i of n, from 1.
type shard struct{ i, n int }

// maxShards bounds n; a campaign has no more batches worth having.
const maxShards = 100_000

var whole = shard{1, 1}

func (s shard) String() string { return fmt.Sprintf("%d/%d", s.i, s.n) }

// batch returns the number of the round-th batch of the shard.
func (s shard) batch(round int) int { return s.i - 1 + round*s.n }

func parseShard(text string) (shard, error) {
	if text == "" {
		return whole, nil
	}
	left, right, _ := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(left)
	n, err2 := strconv.Atoi(right)
	if err1 != nil || err2 != nil || n < 1 || n > maxShards || i < 1 || i > n {
		return shard{}, wrongUse("--shard %q: want i/n with i from 1 to n, as in 1/4", text)
	}
	return shard{i, n}, nil
}
