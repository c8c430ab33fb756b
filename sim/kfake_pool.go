package sim

import (
	_ "unsafe" // for go:linkname

	// The package whose variable this is.
	_ "github.com/twmb/franz-go/pkg/kfake"
)

// kfakePoolAt is how far kfake has used its pool of random bytes. The pool is the
// whole process's, 4 KiB of crypto/rand at a time, so the ids of one run would depend
// on how many the runs before it drew. No call of kfake's says or changes it; a kfake
// without this variable does not link, which is how we would hear of it.
//
//go:linkname kfakePoolAt github.com/twmb/franz-go/pkg/kfake.randPoolAt
var kfakePoolAt int

// poolSize is the size of the pool, in bytes.
const poolSize = 4 << 10

// emptyPool makes kfake fill its pool anew, from crypto/rand as it then is, before
// it takes the next id.
func emptyPool() { kfakePoolAt = poolSize }
